package approvecmd

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// TestAnotherLaptopsCall: what another laptop asks is shown by its own home, and never by files and folders of the
// machine on which it is answered: a file there says nothing about the one that would be written.
func TestAnotherLaptopsCall(t *testing.T) {
	t.Parallel()
	here := view.Options{Home: "/home/bob", Own: []string{"/home/ann/notes"}, ReadFile: func(path string) ([]byte, error) {
		t.Errorf("%s was read", path)
		return []byte("same"), nil
	}}
	for path, care := range map[string]bool{"/home/ann/.bashrc": true, "/home/ann/p/notes/a": false} {
		args, err := json.Marshal(map[string]string{"path": path, "content": "same"})
		if err != nil {
			t.Fatal(err)
		}
		r := requestOfCentre(enrolment.Asked{
			AskedState: enrolment.AskedState{QuestionState: enrolment.QuestionState{State: enrolment.QuestionPending}},
			AskQuestion: enrolment.AskQuestion{
				Server: "files", Home: "/home/ann", Project: "/home/ann/p",
				Calls: []enrolment.ShownCall{{Subject: "tool", Server: "files", Method: "tools/call", Names: []string{"write_file"}, Args: args}},
			},
		}, time.Now())
		f := console.FactsOf(&r, here)
		if want := "files wants to write ~" + strings.TrimPrefix(path, "/home/ann"); f.Headline(0) != want || f.NeedsCare() != care {
			t.Errorf("%q, %q; want %q", f.Headline(0), f.Dangers, want)
		}
		if rows := console.FactLines(&r, here); !slices.Contains(rows, `folder     "~/p"`) {
			t.Errorf("%q", rows)
		}
	}
}
