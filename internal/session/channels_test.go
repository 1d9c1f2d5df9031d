package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
)

// drum is a way to ask a person that only this test has.
type drum struct{}

func (drum) Name() string                                   { return "drum" }
func (drum) Available(context.Context, gate.Question) error { return nil }

func (drum) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	return gate.Answer{Digest: q.Digest, Reply: gate.AllowOnce, Channel: "drum", By: "a drummer"}, nil
}

// A way to ask that only this test has is a word of the settings, is tried where the command
// runs, answers a question, and stands in the record.
func TestAChannelIsARow(t *testing.T) {
	before, silent := channels, errors.New("no drum is here")
	defer func() { channels = before }()
	channels = append(slices.Clone(channels), channelRow{
		name: "drum", make: func(*asking) ask.Channel { return drum{} }, try: func(context.Context, config.Folders) error { return silent },
	})
	t.Setenv("CLAWAI_ASK", "drum")
	f := house(t, askRead)
	if why, known := TryChannel(t.Context(), f, "drum"); !errors.Is(why, silent) || !known {
		t.Errorf("%v, %v", why, known)
	}
	if settings, err := LoadAsk(f); err != nil || strings.Join(settings.Order.Is, " ") != "drum" {
		t.Errorf("%v, %v", settings.Order, err)
	}
	one, err := Open(t.Context(), Spec{Program: "clawai 1.2", Peer: Peer{Name: "files"}, Folders: f, Ask: noOption})
	if err != nil {
		t.Fatal(err)
	}
	if got := call(one, "read"); got != "forward" {
		t.Errorf("the call became %q", got)
	}
	one.End("", 0)
	closed(t, one)
	n := 0
	for e, err := range audit.Read(base.RecordDir(f.State), audit.Filter{Kinds: []event.Kind{event.Answered}}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; e.Channel != "drum" || e.By != "a drummer" {
			t.Errorf("recorded: %s", e.Raw)
		}
	}
	if n != 1 {
		t.Errorf("%d answers are recorded", n)
	}
}

// Only a session can tell whether the client has a form, and each other way is tried.
func TestTryChannel(t *testing.T) {
	f := house(t, askRead)
	for _, name := range ChannelNames() {
		why, known := TryChannel(t.Context(), f, name)
		if known != (name != "elicitation") || why == nil && name != "terminal" {
			t.Errorf("%s: %v, %v", name, why, known)
		}
	}
}
