package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/stdio"
)

// server is what a session runs against: a child process or a remote server.
type server struct {
	proxy.Upstream
	exitCode func() int  // of the child; 0 for a remote server
	forced   func() bool // the child had to be signalled
}

// start begins the server; the code is ours when that fails.
func (p *proxyRun) start(guard *gate.Session) (s *server, code int, err error) {
	if p.remote != nil {
		up, err := p.dial(guard)
		if err != nil {
			return nil, exitProxy, err
		}
		return &server{up, func() int { return exitOK }, func() bool { return false }}, 0, nil
	}
	stderr := os.Stderr
	if p.aside != nil {
		stderr = p.aside.Stderr()
	}
	child, err := stdio.Start(stdio.Options{Args: p.command, Stderr: stderr})
	p.aside.Started()
	if err != nil {
		code := exitProxy
		if failed, ok := errors.AsType[*stdio.StartError](err); ok {
			code = failed.Code
		}
		if strings.Contains(p.command[0], "://") {
			err = fmt.Errorf("%w; of addresses, http:// and https:// are understood", err)
		}
		return nil, code, err
	}
	return &server{child, child.ExitCode, child.Forced}, 0, nil
}
