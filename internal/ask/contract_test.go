//go:build linux || darwin

package ask

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// channel asks in another process on a pty of its own, and is the person there.
type channel struct {
	t      testing.TB
	order  order
	asking chan *session
}

var (
	_ gate.Approver   = (*channel)(nil)
	_ gatetest.Reader = (*channel)(nil)
)

func (d *channel) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	o := d.order
	q.Revision = "" // the suite's is of no file
	o.Question = q
	s := start(d.t, o, 40, 80)
	d.asking <- s
	defer func() { // nobody spoke
		select {
		case <-d.asking:
		default:
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = s.order.Close() })
	defer stop()
	all := s.outcomes()
	if len(all) != 1 {
		return gate.Answer{}, errors.New("no outcome")
	}
	var err error
	if all[0].Err != "" {
		err = errors.New(all[0].Err)
	}
	return gate.Answer{Reply: all[0].Reply, Digest: all[0].Digest, Channel: all[0].Channel, Note: all[0].Note}, err
}

func (d *channel) Say(r gate.Reply) {
	s := <-d.asking
	switch r {
	case gate.DenyOnce:
		s.answer(enter)
	case gate.AllowOnce:
		s.answer(down + enter)
	case gate.AllowSession:
		s.answer(down + down + enter)
		s.see("until the session ends?", "> Deny")
		s.answer(down + enter)
	case gate.AllowAlways:
		s.walkToAlways()
		s.see("> Deny, write nothing")
		s.answer(down + enter)
	}
}

// Hurry and Read leave the session to whoever comes next.
func (d *channel) Hurry() {
	s := <-d.asking
	s.answer(down + enter)
	s.see("── read on first: lines", "> Allow once")
	s.answer(up)
	s.see("> Deny")
	d.asking <- s
}

func (d *channel) Read() {
	s := <-d.asking
	s.answer("\x1b[F")
	s.see("show the rest")
	d.asking <- s
}

func (d *channel) Leave() {
	s := <-d.asking
	s.see("clawai asks: let it through?")
	s.hangUp()
}

const contractPolicy = `

[[rule]]
action = "prompt"
tool = "write_*"
description = "writes need a look"
`

func TestTerminalKeepsTheContract(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	gatetest.Run(t, gatetest.Approver{
		New: func(t testing.TB) (gate.Approver, gatetest.Person) {
			path := filepath.Join(t.TempDir(), "policy.toml")
			if err := os.WriteFile(path, []byte(contractPolicy), 0o600); err != nil {
				t.Fatal(err)
			}
			d := &channel{t: t, asking: make(chan *session, 1), order: order{
				Options: sent{Grace: testGrace, View: view.Options{Project: "/tmp"}, Lock: filepath.Join(t.TempDir(), "terminal.lock")},
				Policy:  path,
			}}
			return d, d
		},
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways},
	})
}

func TestNeverKeepsTheContract(t *testing.T) {
	t.Parallel()
	gatetest.Run(t, gatetest.Approver{
		New: func(testing.TB) (gate.Approver, gatetest.Person) { return Never{}, nobody{} },
	})
}

type nobody struct{}

func (nobody) Say(gate.Reply) {}
func (nobody) Leave()         {}
