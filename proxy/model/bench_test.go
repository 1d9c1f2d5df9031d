package model_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// textEvent is an event of text as Messages has it.
const textEvent = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a few words more\"}}\n\n"

// conversation is a request of the size that agents send.
var conversation = `{"model":"m","messages":[{"role":"user","content":"go on"},{"role":"assistant","content":"` + strings.Repeat("words ", 10000) + `"}]}`

// firstToken returns the time from a request to the first event of its reply.
func firstToken(t testing.TB, url string) time.Duration {
	begun := time.Now()
	resp, err := http.Post(url, "application/json", strings.NewReader(conversation))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	_, _ = io.Copy(io.Discard, lines)
	return took
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// TestFirstToken prints how much later the first event comes than through the standard library's
// reverse proxy, in one run, by turns. A goal is held only where it is asked for: it needs a quiet
// machine.
func TestFirstToken(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	for _, judge := range []bool{false, true} {
		s := newSite(t, "claude-code", judge, nil)
		s.reply = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 20 {
				_, _ = io.WriteString(w, textEvent)
				w.(http.Flusher).Flush()
			}
		}
		to, err := url.Parse(s.far.URL)
		if err != nil {
			t.Fatal(err)
		}
		reverse := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }, Transport: &http.Transport{DisableCompression: true}})
		t.Cleanup(reverse.Close)
		var ours, theirs, direct []time.Duration
		for i := range 420 {
			a, b, c := firstToken(t, s.url+"/v1/messages"), firstToken(t, reverse.URL+"/v1/messages"), firstToken(t, s.far.URL+"/v1/messages")
			if i >= 20 { // connections are open
				ours, theirs, direct = append(ours, a), append(theirs, b), append(direct, c)
			}
		}
		ratio := float64(median(ours)) / float64(median(theirs))
		t.Logf("judge %v: first event after %v, through net/http/httputil.ReverseProxy %v, direct %v: ratio %.3f", judge, median(ours), median(theirs), median(direct), ratio)
		if os.Getenv("CLAWAI_BUDGET") != "" && ratio > 1.05 {
			t.Errorf("judge %v: the ratio is %.3f", judge, ratio)
		}
	}
}

// BenchmarkTextEvent is what one event of text costs in a stream that is held for its calls, or
// heard.
func BenchmarkTextEvent(b *testing.B) {
	for _, judge := range []bool{false, true} {
		b.Run(fmt.Sprintf("judge=%v", judge), func(b *testing.B) {
			s := newSite(b, "claude-code", judge, nil)
			s.reply = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for range b.N {
					_, _ = io.WriteString(w, textEvent)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			resp, err := http.Post(s.url+"/v1/messages", "application/json", strings.NewReader(empty))
			if err != nil {
				b.Fatal(err)
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(b.N*len(textEvent)) {
				b.Fatalf("%d bytes, %v", n, err)
			}
		})
	}
}

// BenchmarkHeldCall is a whole reply with one call, beside which nothing is done but to hold it.
func BenchmarkHeldCall(b *testing.B) {
	for _, judge := range []bool{false, true} {
		b.Run(fmt.Sprintf("judge=%v", judge), func(b *testing.B) {
			s := newSite(b, "claude-code", judge, nil)
			text := services[0].streamed([]asked{services[0].touch("allowed")}, false)
			s.reply = answerWith(b, text, "", true)
			for b.Loop() {
				resp, err := http.Post(s.url+"/v1/messages", "application/json", strings.NewReader(empty))
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
}
