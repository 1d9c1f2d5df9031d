//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// overHTTP measures small calls over HTTP, one at a time, with JSON answers and with events. The
// bare way is the server itself. The byte relay is the standard library's reverse proxy. There is
// no line relay. The server, the relay and the client are in a separate program (bench/overhttp),
// because net/http would double the size of the driver, and the driver also runs the other relays.
func (t *trial) overHTTP(ctx context.Context) (err error) {
	program := t.bed.path("overhttp")
	if _, err := command(ctx, "", "go", "build", "-o", program, "github.com/clawai/clawai/bench/overhttp"); err != nil {
		return err
	}
	server, err := listen(ctx, program, "serve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.end()) }()
	all := make([]*listener, len(t.bed.ways))
	for i, w := range t.bed.ways {
		way := []string{program, "relay", server.url}
		switch {
		case w.name == bare:
			all[i] = server
			continue
		case w.name == lineRelay:
			continue
		case w.name != byteRelay:
			way = append(slices.Clone(w.prefix[:len(w.prefix)-serverArguments]), "--listen", "127.0.0.1:0", "--upstream", "filesystem="+server.url)
		}
		if all[i], err = listen(ctx, way...); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, all[i].end()) }()
	}
	for _, kind := range []struct {
		*figure
		accept string
	}{{httpJSON, "application/json"}, {httpEvents, "text/event-stream"}} {
		if err := t.eachRound(ctx, func(i int) error {
			if all[i] == nil {
				return nil
			}
			took, err := command(ctx, "", program, "call", all[i].url, kind.accept, strconv.Itoa(t.of(500)))
			if err != nil {
				return fmt.Errorf("%s: %w", t.bed.ways[i].name, err)
			}
			p50, err := strconv.ParseFloat(took, 64)
			if err != nil {
				return err
			}
			t.report.add(kind.figure, t.bed.ways[i], p50)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// listener is a running program that serves HTTP on the address that it has printed.
type listener struct {
	cmd *exec.Cmd
	url string
}

// listen starts a program that prints its address.
func listen(ctx context.Context, command ...string) (*listener, error) {
	l := &listener{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	l.cmd.Stderr = os.Stderr
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		if at := strings.Index(in.Text(), "http://127.0.0.1:"); at >= 0 {
			l.url, _, _ = strings.Cut(in.Text()[at:], " ")
			return l, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s does not say where it listens", command[0]), l.end())
}

func (l *listener) end() error {
	_ = l.cmd.Process.Signal(syscall.SIGTERM)
	err := l.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGTERM {
		return nil
	}
	return err
}
