package wrapcmd

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/text/term"
)

// shownSessions is the maximum number of sessions on the screen. Sessions without labels are not
// shown.
const shownSessions = 5

// printSessions prints the labels of the latest sessions of agents.
func printSessions(w io.Writer, sessions iter.Seq2[flow.Shown, error]) error {
	left := shownSessions
	for s, err := range sessions {
		if err != nil {
			return err
		}
		if len(s.Seen) == 0 {
			continue
		}
		if left == 0 {
			_, err := fmt.Fprintln(w, "\nMore sessions: clawai status --json")
			return err
		}
		if left == shownSessions {
			fmt.Fprintln(w, "\nWhat sessions have seen (docs/flow.md):")
		}
		left--
		fmt.Fprintf(w, "  %s, %s\n", term.VisibleLine(s.Key), s.Used.Local().Format(time.DateTime))
		for _, seen := range s.Seen {
			if _, err := fmt.Fprintf(w, "    %-9s  %s  %s\n", seen.Kind, term.VisibleLine(seen.Source), seen.At.Local().Format("15:04")); err != nil {
				return err
			}
		}
	}
	return nil
}
