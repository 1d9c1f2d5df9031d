package approvecmd

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
)

// recentCalls is how many recorded calls the screen begins with.
const recentCalls = 200

// followCalls returns the calls of the record in a folder, for the screen of a person with this
// home folder.
func followCalls(dir, home string) console.FollowCalls {
	return func(ctx context.Context, send func(console.Call)) error {
		// There may not be a first session yet.
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		calls := record.Calls{Show: func(r *record.Row) { send(screenCall(*r, home)) }}
		f := audit.Filter{Kinds: []event.Kind{event.Decision}, Replies: true, Last: recentCalls}
		_, err := record.ShowEach(audit.Follow(ctx, dir, f), calls.Add, io.Discard) // log verify reports damage
		return errors.Join(err, ctx.Err())
	}
}

// screenCall returns a row of the record as the screen shows it. It keeps its own copy of the row.
func screenCall(r record.Row, home string) console.Call {
	line, word := record.ScreenLine(&r, wideLine, home)
	return console.Call{
		ID: r.Entry.Record, Word: word, Look: callLook(&r.Entry), Search: strings.ToLower(line),
		Line:  func(width int) string { line, _ := record.ScreenLine(&r, width, home); return line },
		Facts: func(width int) []string { return record.Facts(&r, width, home) },
	}
}

// wideLine is the width of the line in which the filter searches.
const wideLine = 1000

func callLook(e *event.Entry) console.Look {
	switch {
	case record.IsObserved(e) || record.WasAsked(e):
		return console.Asked
	case e.Decision == "allow":
		return console.Allowed
	}
	return console.Refused
}
