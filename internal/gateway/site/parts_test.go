package site

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

// While as many large parts are read as may be, another one waits, a small one does not, and each is taken.
func TestLargePartsWaitForEachOther(t *testing.T) {
	slow.Test(t)
	w := newWorld(t)
	var calls []event.Event
	for range 60 { // few and long, because the store takes one part after the other
		calls = append(calls, recordedCall("allow", "read", `{"path":"/srv/`+strings.Repeat("x", 3000)+`"}`))
	}
	var name string
	var text []byte
	for name, text = range recordSegments(t, audit.Options{}, calls...) {
	}
	if len(text) <= largePart {
		t.Fatalf("the segment has %d bytes", len(text))
	}
	var sending sync.WaitGroup
	bodies := make([]*io.PipeWriter, mostLarge+1)
	answers := make(chan int, len(bodies))
	for i := range bodies {
		token := w.enrolAt(fmt.Sprint("laptop", i), fmt.Sprint("192.0.2.", i)).Token
		var body *io.PipeReader
		body, bodies[i] = io.Pipe()
		r, err := http.NewRequestWithContext(t.Context(), "PUT", w.site.Address()+recordsPathOf(name)+"?at=0&complete=1", body)
		w.must(err)
		r.ContentLength = int64(len(text))
		r.Header.Set("Authorization", "Bearer "+token)
		sending.Go(func() {
			status, _, _ := w.do(w.laptop, r)
			answers <- status
		})
	}
	for len(w.site.large) < mostLarge {
		time.Sleep(time.Millisecond)
	}
	small := w.enrolAt("small", "198.51.100.1").Token
	first := bytes.IndexByte(text, '\n') + 1
	if status, held := w.ship(small, name, 0, text[:first], false); status != 200 || held.Size != int64(first) {
		t.Errorf("a small part: %d, %+v", status, held)
	}
	if len(answers) > 0 || len(w.site.large) != mostLarge {
		t.Errorf("%d answers, %d large parts", len(answers), len(w.site.large))
	}
	for _, body := range bodies {
		sending.Go(func() {
			_, _ = body.Write(text)
			_ = body.Close()
		})
	}
	sending.Wait()
	for range bodies {
		if status := <-answers; status != 200 {
			t.Errorf("a large part: %d", status)
		}
	}
	if len(w.site.large) > 0 {
		t.Errorf("%d places are not given back", len(w.site.large))
	}
}
