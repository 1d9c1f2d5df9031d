package audit

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
)

// While long arguments are redacted and digested, other records are written; what is
// written of the long ones is what it would be otherwise.
func TestNobodyWaitsForLongArguments(t *testing.T) {
	l := openLog(t, t.TempDir(), Options{Redact: redact.Full})
	args := []byte(`{"path":"a","text":"` + strings.Repeat("long ", 100_000) + `"}`)
	l.long.Lock() // somebody is at it
	release := sync.OnceFunc(l.long.Unlock)
	defer release()
	done := make(chan error, 1)
	go func() {
		done <- l.Record(&event.Event{Kind: event.Decision, Args: args}, &event.Event{Kind: event.Decision, Args: []byte(`{"short":1}`)})
	}()
	if err := l.Record(&event.Event{Kind: event.Passed}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
		t.Fatal("long arguments were written under the lock of all")
	case <-time.After(50 * time.Millisecond):
	}
	release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(recorded(t, l.seg.path), []byte("\n"))
	want := (&encoder{Redactor: redact.New(redact.Full, nil)}).appendArgs(nil, args)
	if !bytes.Contains(lines[1], []byte(event.Passed)) || !bytes.Contains(lines[2], want) || !bytes.Contains(lines[3], []byte(`"args":{"short":1}`)) {
		t.Errorf("recorded\n%.300s\n%.300s\n%.300s\nwant %.300s", lines[1], lines[2], lines[3], want)
	}
}
