package reverse_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// answerText is an answer with a text of n bytes.
func answerText(n int) string {
	return `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("0123456789", n/10) + `"}]}}`
}

// way is one way to the same server.
type way struct {
	name string
	url  string
	http *http.Client
	took []time.Duration
}

func (w *way) call(b *testing.B) {
	r, err := http.NewRequest(http.MethodPost, w.url, strings.NewReader(call(1, "ok")))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := w.http.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !strings.Contains(string(body), `"id":1,"result"`) {
		b.Fatalf("%s: %d %s, %v", w.name, resp.StatusCode, body, err)
	}
}

// ways are the server itself, the library's reverse proxy in front of it, and
// this one, with two rules and the record on disk.
func ways(b *testing.B, events bool, size int) []*way {
	answer := answerText(size)
	back := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if events {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+answer+"\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = io.WriteString(w, answer)
	})
	log, err := audit.Open(b.TempDir(), audit.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := policy.Parse("bench.toml", []byte("[[rule]]\naction = \"deny\"\ntool = \"no\"\n\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), policy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	w := newHarness(b, back, func(o *reverse.Options) {
		up := o.Upstreams["s"]
		up.Transport = nil // the one that a release has
		o.Upstreams["s"] = up
		o.Gate = func(server string) (reverse.Gate, error) {
			g, err := gate.New(gate.Options{
				Policy: p, Recorder: log, Approver: &person{},
				Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
			})
			return reverse.Gate{Session: g, End: g.Close}, err
		}
	})
	b.Cleanup(func() { _ = log.Close() })
	to, err := url.Parse(w.back.URL)
	if err != nil {
		b.Fatal(err)
	}
	plain := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}, FlushInterval: -1,
	})
	b.Cleanup(plain.Close)
	var all []*way
	for name, at := range map[string]string{"direct": w.back.URL + "/mcp", "library": plain.URL + "/mcp", "clawai": w.url} {
		carry := &http.Transport{MaxIdleConnsPerHost: 64}
		b.Cleanup(carry.CloseIdleConnections)
		all = append(all, &way{name: name, url: at, http: &http.Client{Transport: carry}})
	}
	return all
}

// BenchmarkRelay makes one call after the other, by each way in turn.
func BenchmarkRelay(b *testing.B) { relay(b, 40, 200) }

// BenchmarkRelayLarge is BenchmarkRelay with results of 1 MiB, beside the server itself:
// the library's proxy loses connections then.
func BenchmarkRelayLarge(b *testing.B) { relay(b, 1<<20, 5) }

func relay(b *testing.B, size, warm int) {
	for name, events := range map[string]bool{"JSON": false, "events": true} {
		b.Run(name, func(b *testing.B) {
			all, floor := ways(b, events, size), "library"
			if size > 64<<10 {
				all = slices.DeleteFunc(all, func(w *way) bool { return w.name == floor })
				floor = "direct"
			}
			for range warm {
				for _, w := range all {
					w.call(b)
				}
			}
			for b.Loop() {
				for _, w := range all {
					began := time.Now()
					w.call(b)
					w.took = append(w.took, time.Since(began))
				}
			}
			p := map[string][2]float64{}
			for _, w := range all {
				slices.Sort(w.took)
				p[w.name] = [2]float64{float64(w.took[len(w.took)/2]), float64(w.took[len(w.took)*99/100])}
				b.ReportMetric(p[w.name][0]/1e3, w.name+"-p50-µs")
			}
			b.ReportMetric(p["clawai"][0]/p[floor][0], "p50/"+floor)
			b.ReportMetric(p["clawai"][1]/p[floor][1], "p99/"+floor)
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkRelay16 has 16 clients, by each way in turn, a block at a time.
func BenchmarkRelay16(b *testing.B) {
	all := ways(b, false, 40)
	const block, clients = 800, 16
	took := map[string]time.Duration{}
	for b.Loop() {
		for _, w := range all {
			began := time.Now()
			var left atomic.Int64
			left.Store(block)
			var group sync.WaitGroup
			for range clients {
				group.Go(func() {
					for left.Add(-1) >= 0 {
						w.call(b)
					}
				})
			}
			group.Wait()
			took[w.name] += time.Since(began)
		}
	}
	for name, d := range took {
		b.ReportMetric(float64(b.N*block)/d.Seconds(), name+"-calls/s")
	}
	b.ReportMetric(float64(took["library"])/float64(took["clawai"]), "calls/library")
	b.ReportMetric(0, "ns/op")
}
