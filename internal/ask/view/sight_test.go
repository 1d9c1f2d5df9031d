package view

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

func TestSightNeedsTheEnd(t *testing.T) {
	var s Sight
	if s.SawEnd() {
		t.Error("nothing counts as the end")
	}
	if s.NoteVisible(9, 10); s.SawEnd() {
		t.Error("all but the last row counts as the end")
	}
	if s.NoteVisible(10, 10); !s.SawEnd() {
		t.Error("the last row does not count")
	}
	if s.NoteVisible(1, 10); !s.SawEnd() {
		t.Error("who scrolls back has seen nothing")
	}
}

// Of a routine call the folded values need not be in sight in full; of one that
// needs care they must.
func TestWhatMustBeInSight(t *testing.T) {
	args := []byte(`{"command":"` + strings.Repeat("all work and no play ", 100) + `"}`)
	for tool, wholly := range map[string]bool{"annotate": false, "run_command": true} {
		q, err := NewQuestion([]policy.Call{{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: args}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{0, 40, 80} {
			rows, need := q.Rows(width)
			if lines := len(q.Lines(width)); len(rows) <= lines || wholly && need != len(rows) || !wholly && need != lines {
				t.Errorf("%s at %d: %d of %d rows must be in sight", tool, width, need, len(rows))
			}
		}
	}
}
