package main

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/approve"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// notes keeps what a gate records of itself.
type notes struct{ events []event.Event }

func (n *notes) Record(events ...*event.Event) error {
	for _, ev := range events {
		n.events = append(n.events, *ev)
	}
	return nil
}

// A gate that was being made while the policy changed is under the new one.
func TestAGateMissesNoPolicy(t *testing.T) {
	load := func(src string) *config.Loaded {
		p, err := policy.Parse("policy.toml", []byte(src), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return &config.Loaded{Policy: p}
	}
	before := load("[[rule]]\naction = \"allow\"\ntool = \"*\"\n")
	after := load("[[rule]]\naction = \"deny\"\ntool = \"*\"\n")
	l := &listening{run: &proxyRun{policy: before}, gates: map[*gate.Session]struct{}{}}
	record := &notes{}
	guard, err := gate.New(gate.Options{Policy: before.Policy, Recorder: record, Approver: approve.Never{}})
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()

	l.reload(after, nil)
	l.join(guard, before)
	if n := len(record.events); n != 1 || !strings.HasSuffix(record.events[0].Detail, after.Policy.Revision()) {
		t.Errorf("it does not know of the new one: %+v", record.events)
	}
	l.join(guard, after)
	if len(record.events) != 1 {
		t.Errorf("told twice: %+v", record.events)
	}
}
