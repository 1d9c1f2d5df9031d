package centre

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/telemetry"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/cputime"
)

// callsOfPart is the number of calls, each with its outcome, in a part of the benchmark.
const callsOfPart = 250

// recordPart records calls with their outcomes and returns the segment.
func recordPart(b *testing.B, n int) Part {
	b.Helper()
	dir := filepath.Join(b.TempDir(), fmt.Sprint("audit", n))
	log, err := audit.Open(dir, audit.Options{})
	must(b, err)
	for i := range callsOfPart {
		call := &event.Event{
			Kind: event.Decision, Time: time.Now(), Server: "files", Direction: "client", Method: "tools/call", ID: fmt.Append(nil, i), Subject: "tool", Names: []string{"read_file"},
			Args: fmt.Appendf(nil, `{"path":"/srv/project/src/file%d.go"}`, i), Policy: "allow", Decision: "allow", Stage: "policy", Code: "rule", RuleFile: "policy.toml", RuleLine: 7,
		}
		must(b, log.Record(call))
		must(b, log.Record(&event.Event{Kind: event.Outcome, Time: time.Now(), Server: "files", Direction: "server", Method: "tools/call", ID: call.ID, Ref: call.Record}))
	}
	must(b, log.Close())
	paths, _ := filepath.Glob(filepath.Join(dir, "*-*.ndjson"))
	text, err := os.ReadFile(paths[0])
	must(b, err)
	session, _ := audit.SplitSegmentName(filepath.Base(paths[0]))
	return Part{Laptop: "laptop1", Session: session, Segment: filepath.Base(paths[0]), Text: text, Complete: true}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkTakePart takes parts of 250 calls with their outcomes, with and without a receiver of OpenTelemetry.
// It reports what whoever ships waits for each record, and the processor time of the whole, until the
// receiver has all.
func BenchmarkTakePart(b *testing.B) {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer receiver.Close()
	for _, c := range []struct {
		name    string
		logs    bool
		payload bool
	}{{"without", false, false}, {"with", true, false}, {"withPayload", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			is, err := Open(b.Context(), b.TempDir())
			must(b, err)
			defer is.Close()
			must(b, is.Store.AddEnrolment(b.Context(), store.Enrolment{DeviceHash: "d", UserHash: "u", Created: time.Now(), Expires: time.Now().Add(time.Hour)}, 10))
			must(b, is.Store.DecideEnrolment(b.Context(), "u", store.Allowed, principal.Principal{Issuer: principal.Local, Subject: "ana"}))
			_, err = is.Store.AddLaptop(b.Context(), "d", store.Laptop{ID: "laptop1", Enrolled: time.Now()}, "h")
			must(b, err)
			l, _, err := is.Store.FindLaptop(b.Context(), "laptop1")
			must(b, err)
			if c.logs {
				b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
			}
			is.Telemetry, err = telemetry.New(b.Context(), telemetry.Options{
				Payload: c.payload, Find: is.FindEntry, Getenv: os.Getenv, Count: func(signal, outcome string, n int) {
					if outcome != telemetry.Sent {
						b.Errorf("%d %s %s", n, signal, outcome)
					}
				}, Report: func(err error) { b.Error(err) },
			})
			must(b, err)
			parts := make([]Part, b.N)
			for i := range parts {
				parts[i] = recordPart(b, i)
			}
			b.ResetTimer()
			used := cputime.Of(b, func() {
				for _, p := range parts {
					_, err := is.TakePart(b.Context(), l, p)
					must(b, err)
				}
				b.StopTimer()
				must(b, is.Telemetry.Close(context.Background()))
			})
			records := float64(b.N * 2 * callsOfPart)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/records, "ns/record")
			b.ReportMetric(float64(used.Nanoseconds())/records, "cpu-ns/record")
			b.ReportMetric(0, "ns/op")
		})
	}
}
