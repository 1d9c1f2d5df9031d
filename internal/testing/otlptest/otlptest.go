// Package otlptest is a receiver of OpenTelemetry for tests. It receives OTLP over HTTP and stores the data.
package otlptest

import (
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Receiver stores log records, spans and counters. Several goroutines may use it at the same time.
type Receiver struct {
	URL string

	server   *httptest.Server
	mu       sync.Mutex
	logs     []*logs.LogRecord
	spans    []*trace.Span
	services map[string]bool
	sums     map[string]int64
	headers  []http.Header
	answer   func(http.ResponseWriter, *http.Request) bool
}

// Start starts a receiver. It ends with the test.
func Start(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{services: map[string]bool{}, sums: map[string]int64{}}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.take(t, w, q) }))
	r.URL = r.server.URL
	t.Cleanup(func() {
		r.server.CloseClientConnections()
		r.server.Close()
	})
	return r
}

// Answer sets a function that is called for each request. If it returns false, the receiver does not
// answer or store the request, so the function must write the answer. If it returns true, it must write
// nothing. With nil, the receiver answers and stores all requests.
func (r *Receiver) Answer(answer func(http.ResponseWriter, *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *Receiver) take(t testing.TB, w http.ResponseWriter, q *http.Request) {
	var from io.Reader = q.Body
	if q.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(q.Body)
		if err != nil {
			t.Error(err)
			return
		}
		from = unpacked
	}
	body, err := io.ReadAll(from)
	if err != nil {
		return // the sender has stopped before the end of the request
	}
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	if answer != nil && !answer(w, q) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = append(r.headers, q.Header)
	if err := r.keep(q.URL.Path, body); err != nil {
		t.Errorf("%s: %v", q.URL.Path, err)
	}
}

// keep stores the data of a request. The form of the request is defined by OpenTelemetry.
func (r *Receiver) keep(path string, body []byte) error {
	switch path {
	case "/v1/logs":
		var m collectorlogs.ExportLogsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, of := range m.ResourceLogs {
			r.services[Attributes(of.Resource.Attributes)["service.name"]] = true
			for _, scope := range of.ScopeLogs {
				r.logs = append(r.logs, scope.LogRecords...)
			}
		}
	case "/v1/traces":
		var m collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, of := range m.ResourceSpans {
			r.services[Attributes(of.Resource.Attributes)["service.name"]] = true
			for _, scope := range of.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
	case "/v1/metrics":
		var m collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, of := range m.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				r.keepSums(scope.Metrics)
			}
		}
	}
	return nil
}

func (r *Receiver) keepSums(all []*metrics.Metric) {
	for _, m := range all {
		for _, p := range m.GetSum().GetDataPoints() {
			name := m.Name
			of := Attributes(p.Attributes)
			for _, key := range slices.Sorted(maps.Keys(of)) {
				name += " " + of[key]
			}
			r.sums[name] = p.GetAsInt()
		}
	}
}

// Sum returns the newest value of a counter. name is the name of the counter, followed by the values of
// its attributes in the order of the attributes' names, with spaces between them.
func (r *Receiver) Sum(name string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sums[name]
}

// Logs returns the log records that were received.
func (r *Receiver) Logs() []*logs.LogRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*logs.LogRecord(nil), r.logs...)
}

// Spans returns the spans that were received.
func (r *Receiver) Spans() []*trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*trace.Span(nil), r.spans...)
}

// Services returns the services that have sent logs or spans.
func (r *Receiver) Services() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.services {
		names = append(names, name)
	}
	return names
}

// Headers returns the headers of all stored requests.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]http.Header(nil), r.headers...)
}

// Await waits until at least this many log records and spans were received.
func (r *Receiver) Await(t testing.TB, logs, spans int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(r.Logs()) < logs || len(r.Spans()) < spans; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d log records of %d and %d spans of %d came", len(r.Logs()), logs, len(r.Spans()), spans)
		}
	}
}

// Attributes returns the texts of attributes, by the attributes' names.
func Attributes(all []*common.KeyValue) map[string]string {
	found := map[string]string{}
	for _, a := range all {
		found[a.Key] = a.Value.GetStringValue()
	}
	return found
}
