package console

import (
	"context"
	"errors"
	"fmt"
	"github.com/clawai/clawai/internal/ask/view"
	"strings"
	"testing"
)

// The call under the cursor stays when it is no longer among the latest: the cursor never jumps to
// another call.
func TestTheCursorKeepsItsCall(t *testing.T) {
	var l rowList
	for n := range 10 {
		l.addCalls([]Row{recorded(n, "allow", "read")})
	}
	l.moveCursor(4)
	at := l.cursorRow().ID
	for n := 10; n < 3*MaxCalls; n += 7 {
		var batch []Row
		for i := range 7 {
			batch = append(batch, recorded(n+i, "allow", "read"))
		}
		l.addCalls(batch)
		if got := l.cursorRow().ID; got != at || len(l.all) > MaxCalls {
			t.Fatalf("after call %d the cursor is at %s of %d, not at %s", n, got, len(l.all), at)
		}
	}
	l.moveCursor(-1)
	if got := l.cursorRow().ID; got == at || l.all[0].ID == got {
		t.Errorf("the cursor went to %s", got)
	}
}

// recorded is a call of the record for the screen.
func recorded(n int, word, tool string) Row {
	line := fmt.Sprintf("12:00:%02d  %-8s  %s", n%60, word, tool)
	return Row{
		ID: fmt.Sprintf("r-%d", n), Word: word, Look: view.Refused, Search: strings.ToLower(line),
		Line:  func(int) string { return line },
		Facts: func(int) []string { return []string{word + "  " + tool, "record     " + fmt.Sprintf("r-%d", n)} },
	}
}

// writing is a record that the test writes. Its channel belongs to the bubble of the screen.
type writing struct{ calls chan Row }

func (w *writing) follow(ctx context.Context, send func(Row), notice func(string)) error {
	w.calls = make(chan Row)
	for {
		select {
		case c, open := <-w.calls:
			if !open {
				return errors.New("the disk is gone")
			}
			send(c)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var callsPage = Page{Name: "Calls", Decision: "The latest calls.", Empty: "No call is in the record yet."}

// The newest call is first and under the cursor until the person moves it; then the cursor stays on
// its call.
func TestCalls(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) { // without a record there is no such tab
		d.see("3 Answers")
		d.press("4")
		d.never("4 Calls")
	})
	var w writing
	sit(t, 80, 24, Options{Calls: w.follow, CallsPage: callsPage}, func(d *desk) {
		d.see("[1 Waiting (0)]", "4 Calls")
		d.press("4")
		d.see("[4 Calls]", "No call is in the record yet.")
		w.calls <- recorded(1, "allow", "read_file")
		d.see("> 12:00:01  allow     read_file", "record     r-1")
		w.calls <- recorded(2, "deny", "delete_file")
		d.see("> 12:00:02  deny      delete_file", "record     r-2")
		d.press(down)
		d.see("> 12:00:01", "record     r-1")
		w.calls <- recorded(3, "allow", "list_directory")
		d.see("  12:00:03", "> 12:00:01", "record     r-1")
		changed := recorded(1, "allow", "read_file withheld")
		w.calls <- changed
		d.see("> 12:00:01  allow     read_file withheld")
		d.press(up, up)
		d.see("> 12:00:03")
		w.calls <- recorded(4, "deny", "run")
		d.see("> 12:00:04")
		d.press("/", "d", "e", "l", enter)
		d.see("1 of 4 hold", "> 12:00:02")
		d.never("> 12:00:04")
		d.press("/", "x", enter)
		d.see("Nothing matches the filter")
		d.press(esc)
		d.see("> 12:00:04")
		d.answer("a", "d", "s", "r", "A")
		if d.q.decides > 0 || len(d.q.revoked) > 0 {
			t.Error("a key answered something in the list of calls")
		}
		d.q.put(request(1, "files", "write_file", `{"path":"/p/a"}`))
		d.see("1 Waiting (1)", "new: ")
		for n := range 2 * MaxCalls {
			w.calls <- recorded(10+n, "allow", "read_file")
		}
		d.see(fmt.Sprintf("record     r-%d", 9+2*MaxCalls))
		d.press("\t")
		d.see("[1 Waiting (1)]")
		d.press("4")
		close(w.calls)
		d.see("the record cannot be followed: the disk is gone")
	})
}

// Who opens the screen without a question sees the calls, else the question.
func TestCallsFirst(t *testing.T) {
	sit(t, 80, 24, Options{Calls: new(writing).follow, CallsPage: callsPage, CallsFirst: true}, func(d *desk) { d.see("[4 Calls]") })
	sit(t, 80, 24, Options{Calls: new(writing).follow, CallsPage: callsPage, CallsFirst: true}, func(d *desk) {
		d.q.put(request(1, "files", "write_file", `{"path":"/p/a"}`))
		d.see("[1 Waiting (1)]")
		d.never("[4 Calls]")
	})
}

// A long error is shown to its end, because it says there what to do.
// A low window has no room for that.
func TestALongErrorIsShownWhole(t *testing.T) {
	why := errors.New(strings.Repeat("/some/where/far/down", 4) + " is not as it was written (undo)")
	for _, size := range [][2]int{{80, 24}, {100, 20}, {200, 60}} {
		sit(t, size[0], size[1], Options{Calls: func(context.Context, func(Row), func(string)) error { return why }}, func(d *desk) {
			d.see("cannot be followed", "(undo)")
			d.q.put(request(1, "files", "write_file", `{"path":"/p/a"}`))
			d.see("(undo)", "let it through?", "a allow once")
			d.resize(80, 14)
			d.see("let it through?", "a allow once")
			d.never("(undo)")
		})
	}
}

// A record that cannot be read is said, and the questions stay.
func TestCallsWithoutRecord(t *testing.T) {
	sit(t, 80, 24, Options{CallsPage: callsPage, Calls: func(context.Context, func(Row), func(string)) error { return errors.New("permission denied") }}, func(d *desk) {
		d.see("[1 Waiting (0)]", "the record cannot be followed: permission denied")
		d.press("4")
		d.see("The record cannot be read: permission denied")
	})
}
