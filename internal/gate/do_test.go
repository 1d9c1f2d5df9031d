package gate

import (
	"context"
	"slices"
	"testing"

	"github.com/clawai/clawai/policy"
)

func session(t *testing.T, j *journal, p Policy) *Session {
	t.Helper()
	s, err := New(Options{Policy: p, Recorder: j, Approver: j, Server: "srv"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// byMark decides by the first byte of the arguments: the frames of a test say
// what shall become of them.
func byMark(cs []policy.Call) policy.Decision {
	switch string(cs[0].Args) {
	case "allow":
		return policy.Decision{Action: policy.Allow, Rule: allowRule}
	case "prompt":
		return policy.Decision{Action: policy.Prompt, Rule: promptRule}
	case "deny":
		return policy.Decision{Rule: denyRule}
	}
	return policy.Decision{}
}

func TestOneRecordBeforeTheFirstForwardInOrder(t *testing.T) {
	j := newJournal()
	s := session(t, j, &rules{of: byMark})
	a, d, m, n := j.call("1"), j.call("2"), j.message("3"), j.call("4")
	a.Calls[0].Args, d.Calls[0].Args, n.Calls[0].Args = []byte("allow"), []byte("deny"), []byte("?")
	s.Do(context.Background(), a, d, m, n)
	want := []string{"record 4", "forward 1", "refuse 2", "forward 3", "refuse 4"}
	if !slices.Equal(j.lines, want) {
		t.Errorf("got %q\nwant %q", j.lines, want)
	}
}
