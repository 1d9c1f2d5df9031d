package gate

import (
	"testing"

	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
)

var (
	_ Policy   = (*policy.Policy)(nil)
	_ Recorder = (*audit.Log)(nil)
)

// The ports are held by what is really put into them.
func TestARealPolicyAndARealRecord(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"read\"\ndescription = \"reading\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(t.TempDir(), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	j := newJournal()
	s, err := New(alone(Options{Policy: p, Recorder: log, Approver: j}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	yes, no := j.call("read"), j.call("write")
	s.Do(t.Context(), yes, no)
	j.expect(t, yes, "forward")
	j.expect(t, no, CodeNoRule)
	if ev := yes.Event; ev.Record == "" || ev.RuleLine != 1 || ev.RuleText != "reading" || ev.Record == no.Event.Record {
		t.Errorf("recorded %+v", ev)
	}
	if err := log.Close(); err != nil { // a closed log records nothing
		t.Fatal(err)
	}
	late := j.call("read")
	s.Do(t.Context(), late)
	j.expect(t, late, CodeRecordFailed)
}
