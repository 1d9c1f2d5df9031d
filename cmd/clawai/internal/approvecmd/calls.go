package approvecmd

import (
	"context"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/logcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
)

// callsPage describes the page of calls.
var callsPage = console.Page{
	Name: "Calls", Decision: "The latest calls of your agents, the newest first; it goes on by itself.", Empty: "No call is in the record yet.",
}

// followCalls returns a function that sends the recorded calls to the screen, and later also each
// new call.
func followCalls(o *overview.Overview) console.FollowCalls {
	return func(ctx context.Context, send func(console.Row), notice func(string)) error {
		return o.FollowCalls(ctx, console.MaxCalls, func(r *record.Row) { send(callRow(o, *r)) }, notice, nil)
	}
}

// searchCalls returns a function that searches the whole record. The filter of the screen uses it.
func searchCalls(o *overview.Overview) console.SearchCalls {
	return func(ctx context.Context, text string, send func(console.Row), progress func(read, all int64)) error {
		return o.ReadCalls(ctx, func(r *record.Row) {
			if line, _ := record.ScreenLine(r, wideLine, o.Home); strings.Contains(strings.ToLower(line), text) {
				send(callRow(o, *r))
			}
		}, progress)
	}
}

// callRow returns a row of the record in the form of the screen. r is a copy, so the caller may
// change its own row.
func callRow(o *overview.Overview, r record.Row) console.Row {
	e := &r.Entry
	line, word := record.ScreenLine(&r, wideLine, o.Home)
	row := console.Row{
		ID: e.Record, Word: word, Look: view.LookOf(e), Search: strings.ToLower(line), Session: e.Session,
		Line:  func(width int) string { line, _ := record.ScreenLine(&r, width, o.Home); return line },
		Facts: func(width int) []string { return record.Facts(&r, width, o.Home) },
	}
	if record.CanExplain(e) {
		row.Explain = func(context.Context) (why, rules []string, err error) {
			why, rules, err = logcmd.ExplainDecision(o.Dir, e)
			return shorten(o.Home, why), shorten(o.Home, rules), err
		}
	}
	if record.CanOpen(e) {
		row.Open = func(ctx context.Context) (*console.Opening, error) { return openCall(ctx, o.Home, e) }
	}
	return row
}

// openCall prepares the rules that would allow a recorded call, like clawai policy allow --from.
func openCall(ctx context.Context, home string, e *event.Entry) (*console.Opening, error) {
	rule, err := policycmd.OpenRecord(e)
	if err != nil {
		return nil, err
	}
	return &console.Opening{
		About: shorten(home, append([]string{rule.Then}, rule.Unkept...)), Dangers: rule.Dangers, Offers: rule.Offers,
		Preview: func(at int) ([]string, error) {
			lines, err := rule.Preview(ctx, at)
			return shorten(home, lines), err
		},
		Write: func(ctx context.Context, at int) (string, error) {
			return "written; clawai policy undo takes it back", rule.Write(ctx, at)
		},
	}, nil
}

// shorten replaces the home folder by ~ in lines.
func shorten(home string, lines []string) []string {
	for i := range lines {
		lines[i] = cmdline.ShortenHome(lines[i], home)
	}
	return lines
}

// wideLine is the width of the text in which the filter searches, in columns.
const wideLine = 1000
