// Package modelcmd implements "clawai llm-proxy". The command starts an agent, and judges the
// messages between the agent and the service of the agent's model.
package modelcmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/clientfiles"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/proxycmd"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
	catalogue "github.com/clawai/clawai/wrap/client"
)

// judgeWords are the values of --judge. They choose the tool calls to judge: none, those that
// nothing else judges, or all.
var judgeWords = []string{"off", "uncovered", "all"}

// Command returns "clawai llm-proxy".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "llm-proxy",
		Usage:     "start an agent, and see what its model reads and what it asks for",
		UsageText: "clawai llm-proxy [options] -- CLIENT [ARGUMENTS...]\nclawai llm-proxy --wrapped [options]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "judge", Value: "off", Usage: "which tool calls wait for your policy: `off` (none: what passes is only seen), uncovered (those that no hook and no proxy of clawai judges), or all"},
			&cli.StringFlag{Name: "client", Usage: "the client, if its program has another name: `ID`, as clawai wrap --hooks names it"},
			&cli.BoolFlag{Name: "wrapped", Usage: "start no client, and serve those that clawai wrap --llm has led here"},
			&cli.StringFlag{Name: "upstream", Usage: "the service of the model (default: the one that the client uses): `URL`"},
		}, proxycmd.Flags("policy", "layer", "state", "ask", "ask-timeout", "redact", "sync")...),
		Action: runModel,
	}
}

// modelRun is one run of clawai llm-proxy.
type modelRun struct {
	spec    session.Spec
	command []string
	address *catalogue.ModelRow
	judge   string
	folder  string
	asked   atomic.Int64 // number of requests that the client has sent
}

func runModel(c *cli.Context) error {
	m := &modelRun{command: c.Args().Slice(), judge: c.String("judge")}
	if !slices.Contains(judgeWords, m.judge) {
		return cmdline.UnknownWord("--judge", "word", m.judge, judgeWords)
	}
	if c.Bool("wrapped") {
		return runWrapped(c)
	}
	if len(m.command) == 0 {
		return cmdline.Usagef("which client? write: clawai llm-proxy [options] -- claude")
	}
	if at := len(os.Args) - len(m.command) - 1; at < 0 || os.Args[at] != "--" {
		return cmdline.Usagef("-- is missing; write: clawai llm-proxy [options] -- %s", cmdline.Quote(m.command))
	}
	var err error
	if m.address, err = findAddress(c.String("client"), m.command[0]); err != nil {
		return cmdline.Usagef("%w", err)
	}
	if err := m.readOptions(c); err != nil {
		return err
	}
	m.spec.Peer = session.Peer{Name: m.address.Word, Is: "model channel of " + m.address.Word}
	one, err := session.Open(c.Context, m.spec)
	if err != nil {
		return exitError(err)
	}
	code, err := m.serveClient(one, c.String("upstream"), c.App.ErrWriter)
	one.End("client ended", code)
	if closing := one.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return exitError(err)
	}
	if code != 0 {
		return &cmdline.ExitError{Code: code}
	}
	return nil
}

func exitError(err error) error {
	if _, ok := errors.AsType[*session.OptionError](err); ok {
		return cmdline.Usagef("%w", err)
	}
	if _, ok := errors.AsType[*cmdline.ExitError](err); ok {
		return err
	}
	return &cmdline.ExitError{Code: proxycmd.ExitProxy, Err: err}
}

// readOptions reads the options that this command shares with clawai proxy.
func (m *modelRun) readOptions(c *cli.Context) (err error) {
	o := &m.spec
	if o.Redact, err = redact.ParseMode(c.String("redact")); err != nil {
		return cmdline.Usagef("--redact: %w", err)
	}
	if o.Sync, err = audit.ParseSync(c.String("sync")); err != nil {
		return cmdline.Usagef("--sync: %w", err)
	}
	m.folder, _ = os.Getwd() // after an error, the folder is "" and relative paths cannot be resolved
	o.Files = base.Files{Policy: c.String("policy"), State: c.String("state"), Layers: c.StringSlice("layer"), Project: m.folder, Disk: disk.SystemDisk()}
	if o.Folders, err = o.Files.FindFolders(); err != nil {
		return exitError(err)
	}
	given := c.LocalFlagNames()
	o.Ask = func(option string) (string, bool) { return c.String(option), slices.Contains(given, option) }
	o.Program, o.View, o.By = "clawai "+cmdline.Version, cmdline.ViewOptions(o.Folders), cmdline.AccountName()
	o.View.Project = m.folder
	o.Parent, o.ObserveOnly = true, m.judge == "off"
	return nil
}

// serveClient starts the client with our address instead of the service's address, and serves the
// client until it ends. It returns the client's exit code.
func (m *modelRun) serveClient(one *session.Session, upstream string, stderr io.Writer) (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	secret := rand.Text()
	ours := "http://" + listener.Addr().String() + "/" + secret
	words, env, to, err := leadClient(m.address, ours, upstream)
	if err != nil {
		_ = listener.Close()
		return 0, err
	}
	row := client.FindRow(m.address.Word)
	from := newPeers(listener.Addr().(*net.TCPAddr).AddrPort())
	o := m.options(one, row, to, secret, from)
	o.Covers = newCovers(row, m.folder, !changesHooks(m.address.Word, m.command, os.Environ()), from)
	o.Servers = func() (owners, others []string) { return clientfiles.ListServers(row, m.folder) }
	handler := model.NewServer(o)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			m.asked.Add(1)
			handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 30 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return one.All.Context() },
		ConnState:         from.forget,
	}
	serving, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan struct{})
	go func() {
		defer close(served)
		// After an error the client gets no answers, and the client itself reports this.
		_ = page.Serve(serving, server, listener)
	}()
	code, err := m.runClient(one, from, words, env)
	stop()
	<-served // waits until the last requests are in the record
	if err == nil && m.asked.Load() == 0 {
		fmt.Fprintf(cmdline.ProseWriter(stderr), "clawai: nothing of %s passed here: it did not speak to its model, or its own settings lead it elsewhere; look for an address in them\n", m.address.Word)
	}
	return code, err
}

// options returns the options of the handler for one agent's session. The path of each request
// begins with prefix; the rest is the path at the service.
func (m *modelRun) options(one *session.Session, row *client.Row, to *url.URL, prefix string, from *peers) model.Options {
	o := model.Options{
		Client: row, Cwd: m.folder, Upstream: to, Secret: prefix, Gate: one.Session, Judge: m.judge != "off", All: m.judge == "all",
		Transport: egress.Network{Folders: m.spec.Folders}.NewTransport(egress.Options{Tune: func(t *http.Transport) { t.DisableCompression = true }}),
		Denies:    one.Denies, Join: one.JoinAgent, JoinPeer: func(peer string) error {
			if pid := from.find(peer).pid; pid != 0 {
				return one.JoinProcess(pid)
			}
			return nil
		},
	}
	if labels := one.Labels(); labels != nil {
		o.Labels = labels
	}
	return o
}

// runClient starts the client, waits until it ends, and returns its exit code.
func (m *modelRun) runClient(one *session.Session, from *peers, words, env []string) (int, error) {
	args := append(slices.Clone(words), m.command[1:]...)
	cmd := exec.Command(m.command[0], args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return slices.ContainsFunc(env, func(own string) bool { name, _, _ := strings.Cut(own, "="); return strings.HasPrefix(v, name+"=") })
	}), env...)
	if err := from.start(words, func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	}); err != nil {
		return 0, fmt.Errorf("%s does not start: %w", m.command[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := one.JoinProcess(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		return 0, fmt.Errorf("what the session has seen cannot be kept: %w", err)
	}
	var err error
	select {
	case err = <-ended:
	case <-one.All.Context().Done(): // a signal has told clawai to stop
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case err = <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			err = <-ended
		}
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
