package proxycmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/stdio"
)

// server is the upstream of a session: a child process or a remote server.
type server struct {
	proxy.Upstream
	exitCode func() int  // exit code of the child; 0 for a remote server
	forced   func() bool // whether a signal was necessary to end the child
	told     func()      // waits until all stderr of the child is passed on
}

// startServer starts the server, or connects to it. After an error, code is our exit code.
func (p *proxyRun) startServer(one *session.Session) (s *server, code int, err error) {
	if p.remote != nil {
		up, err := p.dialServer(one.Session)
		if err != nil {
			return nil, ExitProxy, err
		}
		return &server{up, func() int { return cmdline.ExitOK }, func() bool { return false }, func() {}}, 0, nil
	}
	stderr, started, told, err := p.secrets.screenStderr(one.All)
	if err != nil {
		return nil, ExitProxy, err
	}
	start, err := p.planStart(one.All, policyfile.CagedServer{Name: p.spec.Peer.Name, Command: p.command, Client: p.clientSandbox})
	if err != nil {
		started()
		return nil, ExitProxy, err
	}
	child, err := stdio.Start(stdio.Options{Args: start.Command, Env: p.secrets.env, Stderr: stderr, Cage: start.Cage, Watchdog: p.watchdog, Refused: noteRefusals(one.Session, p.spec.Peer.Name)})
	started()
	if err == nil {
		err = noteStart(one.Session, p.spec.Peer.Name, start, child)
	}
	if err != nil {
		code := ExitProxy
		if failed, ok := errors.AsType[*stdio.StartError](err); ok {
			code = failed.Code
		}
		if strings.Contains(p.command[0], "://") {
			err = fmt.Errorf("%w; of addresses, http:// and https:// are understood", err)
		}
		return nil, code, err
	}
	return &server{child, child.ExitCode, child.WasForced, told}, 0, nil
}
