package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// archive is a whole record: a search sends what the test lets it find. Its channels belong to the
// bubble of the screen.
type archive struct {
	found  chan Row
	read   chan int64
	mu     sync.Mutex // one search may still end while the next begins
	texts  []string
	active int
}

func (a *archive) search(ctx context.Context, text string, send func(Row), progress func(read, all int64)) error {
	found, read := make(chan Row), make(chan int64)
	a.mu.Lock()
	a.texts = append(a.texts, text)
	a.active++
	a.found, a.read = found, read
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.active--
		a.mu.Unlock()
	}()
	for {
		select {
		case c, open := <-found:
			if !open {
				return nil
			}
			send(c)
		case n, open := <-read:
			if !open {
				return errors.New("the disk is gone")
			}
			progress(n, 1000)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// The filter of the calls searches the whole record while the screen goes on: it says how far it is,
// what it finds is behind the latest calls, and a call is there once.
func TestTheFilterSearchesTheWholeRecord(t *testing.T) {
	var w writing
	var a archive
	sit(t, 100, 24, Options{Calls: w.follow, Search: a.search, CallsPage: callsPage}, func(d *desk) {
		d.see("[1 Waiting (0)]")
		d.press("4")
		d.see("No call is in the record yet.")
		w.calls <- recorded(900, "allow", "read_file")
		w.calls <- recorded(901, "deny", "delete_file")
		d.see("12:00:01  deny      delete_file")
		d.press("/", "D", "e", "l", enter)
		d.see("1 hold", "reading the record")
		a.read <- 250
		d.see("searching the record: 25 %")
		a.found <- recorded(7, "deny", "delete_all")
		d.see("2 hold", "delete_all", "> 12:00:01  deny      delete_file")
		w.calls <- recorded(902, "deny", "delete_more") // the screen is alive
		d.see("3 hold", "delete_more")
		a.found <- recorded(901, "deny", "delete_file") // the search comes to what is here
		a.read <- 999
		d.see("searching the record: 99 %", "3 hold")
		a.found <- recorded(902, "deny", "delete_more")
		close(a.found)
		d.see("the whole record was searched", "3 hold")
		d.press(esc)
		d.see("read_file")
		d.never("delete_all")
		d.press("/", "x", "y", enter)
		d.see("Nothing matches the filter; Esc takes it back. Reading the record.")
		d.press("/", "z", enter) // another filter ends the search for the first
		d.see("hold")
		close(a.read)
		d.see("the record cannot be searched: the disk is gone")
		if got := strings.Join(a.texts, " "); got != "del xy xyz" {
			t.Errorf("searched %q", got)
		}
	})
	if a.active != 0 {
		t.Errorf("%d searches go on", a.active)
	}
}

// Of what a search finds, the latest are kept, and what leaves the latest calls is not lost.
func TestASearchKeepsTheLatest(t *testing.T) {
	l := rowList{filter: "delete"}
	for n := range 3 * MaxCalls {
		r := recorded(n, "deny", "delete_file")
		l.addFound(&r)
	}
	if len(l.found) != MaxCalls || !l.more || l.found[0].ID != fmt.Sprintf("r-%d", 3*MaxCalls-1) {
		t.Errorf("%d found, more %v, first %s", len(l.found), l.more, l.found[0].ID)
	}
	l = rowList{filter: "delete"}
	for n := range 2 * MaxCalls {
		tool := "read"
		if n == 3 {
			tool = "delete"
		}
		l.addCalls([]Row{recorded(n, "deny", tool)})
	}
	if rows := l.matchingRows(); len(rows) != 1 || rows[0].ID != "r-3" {
		t.Errorf("%d rows", len(rows))
	}
}
