package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorded is a call of the record for the screen.
func recorded(n int, word, tool string) Call {
	line := fmt.Sprintf("12:00:%02d  %-8s  %s", n%60, word, tool)
	return Call{
		ID: fmt.Sprintf("r-%d", n), Word: word, Look: Refused, Search: strings.ToLower(line),
		Line:  func(int) string { return line },
		Facts: func(int) []string { return []string{word + "  " + tool, "record     " + fmt.Sprintf("r-%d", n)} },
	}
}

// writing is a record that the test writes. Its channel belongs to the bubble of the screen.
type writing struct{ calls chan Call }

func (w *writing) follow(ctx context.Context, send func(Call)) error {
	w.calls = make(chan Call)
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

// The newest call is first and under the cursor until the person moves it; then the cursor stays on
// its call.
func TestCalls(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) { // without a record there is no such tab
		d.see("3 Session answers")
		d.press("4")
		d.never("4 Calls")
	})
	var w writing
	sit(t, 80, 24, Options{Calls: w.follow}, func(d *desk) {
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
		d.see("1 of 4 hol", "> 12:00:02")
		d.never("12:00:04")
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
		for n := range 2 * maxCalls {
			w.calls <- recorded(10+n, "allow", "read_file")
		}
		d.see(fmt.Sprintf("record     r-%d", 9+2*maxCalls))
		d.press("\t")
		d.see("[1 Waiting (1)]")
		d.press("4")
		close(w.calls)
		d.see("the record cannot be followed: the disk is gone")
	})
}

// Who opens the screen without a question sees the calls, else the question.
func TestCallsFirst(t *testing.T) {
	sit(t, 80, 24, Options{Calls: new(writing).follow, CallsFirst: true}, func(d *desk) { d.see("[4 Calls]") })
	sit(t, 80, 24, Options{Calls: new(writing).follow, CallsFirst: true}, func(d *desk) {
		d.q.put(request(1, "files", "write_file", `{"path":"/p/a"}`))
		d.see("[1 Waiting (1)]")
		d.never("[4 Calls]")
	})
}

// A record that cannot be read is said, and the questions stay.
func TestCallsWithoutRecord(t *testing.T) {
	sit(t, 80, 24, Options{Calls: func(context.Context, func(Call)) error { return errors.New("permission denied") }}, func(d *desk) {
		d.see("[1 Waiting (0)]", "the record cannot be followed: permission denied")
		d.press("4")
		d.see("The record cannot be read: permission denied")
	})
}
