package view

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

func TestArgumentsStandAsOnTheWire(t *testing.T) {
	q, err := Of([]policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"edit_file"},
		Args: []byte(`{"z":"\ud83d\ude00\ud800\u0041","edits":[{"newText":"a\nb"},1.50,true,null,{},[]],"a.b":{"":""}}`)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"careful    holds text that hides or passes for other text (bytes that are no text)",
		`server     "files"`, "method     tools/call", `tool       "edit_file"`, "arguments  8",
		`  z = "\u{1f600}\x{ed}\x{a0}\x{80}A" ← bytes that are no text`, `  edits[0].newText = "a\u{a}b"`, "  edits[1] = 1.50", "  edits[2] = true",
		"  edits[3] = null", "  edits[4] = {}", "  edits[5] = []", `  "a.b"."" = ""`,
	}
	if got := strings.Join(q.Lines(0), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}
