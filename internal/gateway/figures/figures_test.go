package figures_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/clawai/clawai/internal/gateway/figures"
)

func open(t *testing.T, read func(context.Context) (figures.Snapshot, error), report func(error)) *figures.Figures {
	t.Helper()
	f, err := figures.New(t.Context(), figures.Options{Version: "1", Read: read, Report: report, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A receiver of OTLP gets every figure, by the names of the table, when the centre ends at the latest.
func TestFiguresAreSent(t *testing.T) {
	var mu sync.Mutex
	found := map[string]bool{}
	var paths []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportMetricsServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path+" "+r.Header.Get("X-Team"))
		for _, of := range request.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, m := range scope.Metrics {
					found[m.Name+" "+m.Unit] = true
				}
			}
		}
	}))
	defer receiver.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Team=a")
	f := open(t, func(context.Context) (figures.Snapshot, error) {
		return figures.Snapshot{Waiting: 1, Laptops: map[string]int{"silent": 1}, Bundles: map[string]int{"newest": 2}}, nil
	}, func(err error) { t.Error(err) })
	f.CountPart(10, map[string]int{"allowed": 1})
	f.CountQuestion(figures.Late)
	f.CountAnswer("approved", time.Second)
	f.CountPoll(figures.Sent)
	f.CountSignIn(false)
	f.CountTelemetry("logs", "dropped", 1)
	f.TimeStore("read", time.Millisecond)
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(paths, "/v1/metrics a") {
		t.Errorf("asked: %q", paths)
	}
	for _, want := range []string{
		"clawai.centre.records {record}", "clawai.centre.record.size By", "clawai.centre.questions {question}", "clawai.centre.questions.waiting {question}", "clawai.centre.answer.duration s",
		"clawai.centre.bundle.polls {poll}", "clawai.centre.laptops {laptop}", "clawai.centre.laptop.bundles {laptop}", "clawai.centre.sign_ins {attempt}", "clawai.centre.store.duration s",
		"clawai.centre.telemetry {item}",
	} {
		if !found[want] {
			t.Errorf("%s did not come; these did: %v", want, found)
		}
	}
}

// Without the variable nothing is sent, and a database that does not answer leaves the other figures.
func TestFiguresAreThereWithoutADatabase(t *testing.T) {
	var told []error
	f := open(t, func(context.Context) (figures.Snapshot, error) { return figures.Snapshot{}, errors.New("no database") }, func(err error) { told = append(told, err) })
	f.CountSignIn(false)
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(w.Body.String(), `clawai_centre_sign_ins_total{clawai_outcome="refused"} 1`) {
		t.Errorf("%d\n%s", w.Code, w.Body.String())
	}
	if len(told) == 0 || !strings.Contains(told[0].Error(), "no database") {
		t.Errorf("%v", told)
	}
	if err := f.Close(t.Context()); err != nil {
		t.Error(err)
	}
	var none *figures.Figures
	none.CountPart(1, nil)
	none.CountAnswer("denied", 0)
	none.TimeStore("read", 0)
}
