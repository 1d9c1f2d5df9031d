package telemetry_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/telemetry"
	"github.com/clawai/clawai/internal/testing/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a Sender and what it says.
type world struct {
	t      *testing.T
	sender *telemetry.Sender
	stored map[uint64]*event.Entry // what Find finds
	mu     sync.Mutex
	counts map[string]int
	told   []string
}

func (w *world) options(getenv func(string) string) telemetry.Options {
	return telemetry.Options{
		Version: "1.2.3", Getenv: getenv,
		Find: func(_ context.Context, _, _ string, seq uint64) (*event.Entry, bool, error) {
			e := w.stored[seq]
			return e, e != nil, nil
		},
		Count: func(signal, outcome string, n int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.counts[signal+" "+outcome] += n
		},
		Report: func(err error) { w.mu.Lock(); defer w.mu.Unlock(); w.told = append(w.told, err.Error()) },
	}
}

// newWorld starts a Sender to a receiver, whose environment ends with pairs.
func newWorld(t *testing.T, to *otlptest.Receiver, payload bool, pairs ...string) *world {
	t.Helper()
	w := &world{t: t, stored: map[uint64]*event.Entry{}, counts: map[string]int{}}
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": to.URL}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	for name, value := range env {
		t.Setenv(name, value) // the exporters read the environment themselves
	}
	o := w.options(func(name string) string { return env[name] })
	o.Payload = payload
	var err error
	if w.sender, err = telemetry.New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) close(d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return w.sender.Close(ctx)
}

func (w *world) count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[name]
}

func (w *world) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.told, "\n")
}

var began = time.Date(2026, 12, 1, 10, 2, 3, 123456789, time.UTC)

// entry returns record seq of a session.
func entry(seq uint64, e event.Event) *event.Entry {
	e.Record, e.Time = fmt.Sprintf("k3f9x2m7qa-%d", seq), began.Add(time.Duration(seq)*time.Second)
	return &event.Entry{Event: e, Seq: seq, Session: "k3f9x2m7qa", Digest: "hmac:0123", Raw: []byte(`{"seq":1,"prev":"","hash":"` + strings.Repeat("0a", 32) + `"}`)}
}

func call(decision string) event.Event {
	return event.Event{
		Kind: event.Decision, Server: "files", Direction: "client", Method: "tools/call", ID: []byte("7"), Subject: "tool", Names: []string{"write_file"}, Args: []byte(`{"path":"/secret"}`),
		Policy: decision, Decision: decision, Stage: "policy", Code: "rule", Reason: "because of /secret", RuleFile: "policy.toml", RuleLine: 7, RuleText: "only /secret", Finds: []string{"secret 1 /secret"}, Detail: "with /secret",
	}
}

func outcome(ref int, isError bool) event.Event {
	return event.Event{Kind: event.Outcome, Server: "files", Direction: "server", Method: "tools/call", ID: []byte("7"), Ref: fmt.Sprintf("k3f9x2m7qa-%d", ref), IsError: isError}
}

func part(records ...*event.Entry) telemetry.Part {
	return telemetry.Part{Laptop: "laptop1", Name: "ana's", Records: records}
}

// A call is a span from its decision to its outcome, however the two come; one that was denied, one without
// an id and one of a hook end where they were decided. Decisions, outcomes and answers are log records with the
// ids of their span.
func TestCallsAreSpans(t *testing.T) {
	to := otlptest.Start(t)
	w := newWorld(t, to, false, "OTEL_EXPORTER_OTLP_HEADERS", "X-Team=a", "OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	told, hooked := call("allow"), call("allow")
	told.ID, told.Method, told.Subject, told.Names = nil, "notifications/cancelled", "method", nil
	hooked.Detail = "hook claude-code PreToolUse"
	w.stored[3] = entry(3, call("allow")) // came to another centre
	w.sender.Add(part(entry(1, event.Event{Kind: event.Start}), entry(2, call("allow"))))
	w.sender.Add(part(entry(4, event.Event{Kind: event.Answered, Ref: "k3f9x2m7qa-2", Answer: "once", By: "anna"}), entry(5, outcome(2, false)), entry(6, outcome(3, true)), entry(7, call("deny")), entry(8, told), entry(9, hooked)))
	w.sender.Add(part(entry(10, outcome(2, false)), entry(11, outcome(99, false)), entry(12, event.Event{Kind: event.Passed, Method: "tools/list", ID: []byte("8")}), entry(13, event.Event{Kind: event.Listed, Method: "tools/list", Ref: "k3f9x2m7qa-12"})))
	long := entry(14, call("allow"))
	long.Raw = append(bytes.Repeat([]byte(" "), 5000), long.Raw...)
	w.stored[14] = long
	w.sender.Add(part(long, entry(15, outcome(14, false))))
	if err := w.close(time.Minute); err != nil {
		t.Fatal(err)
	}
	spans := map[string]*tracev1.Span{}
	for _, s := range to.Spans() {
		a := otlptest.Attributes(s.Attributes)
		if spans[a["clawai.record"]] != nil {
			t.Errorf("%s twice", a["clawai.record"])
		}
		spans[a["clawai.record"]] = s
	}
	for _, c := range []struct {
		record     int
		name       string
		seconds    int
		failure    string
		kind       tracev1.Span_SpanKind
		attributes string // NAME=VALUE, separated by blanks
	}{
		{2, "tools/call write_file", 3, "", tracev1.Span_SPAN_KIND_CLIENT, "mcp.method.name=tools/call gen_ai.operation.name=execute_tool gen_ai.tool.name=write_file jsonrpc.request.id=7 clawai.decision=allow clawai.outcome=success clawai.rule=policy.toml:7 clawai.server=files clawai.laptop=laptop1 clawai.session=k3f9x2m7qa"},
		{3, "tools/call write_file", 3, "tool_error", tracev1.Span_SPAN_KIND_CLIENT, "clawai.outcome=failure clawai.decision=allow"},
		{7, "tools/call write_file", 0, "denied", tracev1.Span_SPAN_KIND_INTERNAL, "clawai.decision=deny clawai.code=rule clawai.outcome=failure"},
		{8, "notifications/cancelled", 0, "", tracev1.Span_SPAN_KIND_CLIENT, "clawai.decision=allow"},
		{9, "tools/call write_file", 0, "", tracev1.Span_SPAN_KIND_CLIENT, "clawai.decision=allow"},
		{14, "tools/call write_file", 1, "", tracev1.Span_SPAN_KIND_CLIENT, "clawai.outcome=success"},
		{12, "tools/list", 1, "", tracev1.Span_SPAN_KIND_CLIENT, "clawai.outcome=success"},
	} {
		s := spans[fmt.Sprintf("k3f9x2m7qa-%d", c.record)]
		if s == nil {
			t.Errorf("no span of record %d", c.record)
			continue
		}
		a := otlptest.Attributes(s.Attributes)
		start := uint64(began.Add(time.Duration(c.record) * time.Second).UnixNano())
		if s.Name != c.name || s.StartTimeUnixNano != start || s.EndTimeUnixNano != start+uint64(c.seconds)*1e9 || a["error.type"] != c.failure || (s.Status.GetCode() == tracev1.Status_STATUS_CODE_ERROR) != (c.failure != "") || s.Kind != c.kind || len(s.ParentSpanId) > 0 {
			t.Errorf("record %d: %v", c.record, s)
		}
		for pair := range strings.SplitSeq(c.attributes, " ") {
			if name, value, _ := strings.Cut(pair, "="); a[name] != value {
				t.Errorf("record %d: %s is %q", c.record, name, a[name])
			}
		}
		if hex.EncodeToString(s.TraceId) != hex.EncodeToString(spans["k3f9x2m7qa-2"].TraceId) {
			t.Errorf("record %d has a trace of its own", c.record)
		}
	}
	// The outcome 10 is of a call that w.stored does not have, because it had its span; 11 of one that is nowhere.
	if len(spans) != 7 || w.count("spans sent") != 7 || w.count("logs sent") != 11 {
		t.Errorf("%d spans, counted %v, %s", len(spans), w.counts, w.said())
	}
	for _, l := range to.Logs() {
		a := otlptest.Attributes(l.Attributes)
		of := a["clawai.record"]
		if a["clawai.ref"] != "" {
			of = a["clawai.ref"]
		}
		if s := spans[of]; s != nil && hex.EncodeToString(s.SpanId) != hex.EncodeToString(l.SpanId) {
			t.Errorf("%v has not the ids of its span", l)
		}
		if l.EventName == "clawai.answered" && (a["clawai.answered_by"] != "anna" || l.SeverityText != "INFO") || a["clawai.hash"] == "" || l.Body.GetStringValue() == "" {
			t.Errorf("%v", l)
		}
	}
	for _, h := range to.Headers() {
		if h.Get("X-Team") != "a" || h.Get("Content-Encoding") != "gzip" {
			t.Errorf("%v", h)
		}
	}
}

// What may hold arguments is sent only if the owner wants that; what strangers wrote is harmless and short.
// A call that came with a trace context is a span in that trace, below the client's span; its log records are in that
// trace, too. A client that does not record its trace has no span, unless the sampler wants all.
func TestCallsAreInTheTraceOfTheirClient(t *testing.T) {
	const traceID, parentID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	traced := func(decision, flags string) event.Event {
		is := call(decision)
		is.Traceparent = "00-" + traceID + "-" + parentID + "-" + flags
		return is
	}
	for sampler, wanted := range map[string]string{"": "2 3 7", "always_on": "2 3 5 7"} {
		to := otlptest.Start(t)
		w := newWorld(t, to, false, "OTEL_TRACES_SAMPLER", sampler)
		w.stored[3] = entry(3, traced("allow", "01"))
		w.sender.Add(part(entry(2, traced("allow", "01"))))
		w.sender.Add(part(entry(4, outcome(2, false)), entry(5, traced("deny", "00")), entry(6, outcome(3, false)), entry(7, traced("deny", "01")), entry(8, call("deny"))))
		if err := w.close(time.Minute); err != nil {
			t.Fatal(err)
		}
		var found []string
		ids := map[string]string{}
		for _, s := range to.Spans() {
			record, _ := strings.CutPrefix(otlptest.Attributes(s.Attributes)["clawai.record"], "k3f9x2m7qa-")
			ids[record] = hex.EncodeToString(s.SpanId)
			if isBelow := hex.EncodeToString(s.TraceId) == traceID && hex.EncodeToString(s.ParentSpanId) == parentID; isBelow == (record == "8") {
				t.Errorf("record %s: trace %x, parent %x", record, s.TraceId, s.ParentSpanId)
			}
			if record != "8" {
				found = append(found, record)
			}
		}
		slices.Sort(found)
		if got := strings.Join(found, " "); got != wanted || ids["8"] == "" || ids["2"] == parentID || ids["2"] == ids["3"] {
			t.Errorf("sampler %q: spans of %s, want %s; ids %v", sampler, got, wanted, ids)
		}
		for _, l := range to.Logs() {
			a := otlptest.Attributes(l.Attributes)
			record, _ := strings.CutPrefix(cmp.Or(a["clawai.ref"], a["clawai.record"]), "k3f9x2m7qa-")
			isKnown := record != "8" && record != "3" // the call 3 came to another centre
			if (hex.EncodeToString(l.TraceId) == traceID) != isKnown || ids[record] != "" && ids[record] != hex.EncodeToString(l.SpanId) {
				t.Errorf("log of record %s: trace %x, span %x", record, l.TraceId, l.SpanId)
			}
		}
	}
}

func TestPayload(t *testing.T) {
	evil := "/secret\x1b[2J\u202e\x00\n" + strings.Repeat("x", 1<<20)
	hostile := call("deny")
	hostile.Names, hostile.Method, hostile.ID, hostile.Server, hostile.Args = []string{evil}, evil, []byte(`"`+strings.Repeat("/secret", 1000)+`"`), "a\x1b[2J"+strings.Repeat("y", 1<<20), []byte(`"`+evil+`"`)
	resource := call("allow")
	resource.Subject, resource.Method, resource.Names, resource.ID = "resource", "resources/read", []string{"file:///secret"}, nil
	invalid := call("deny")
	invalid.Server, invalid.Names = "\xff\xfe", []string{"\xff"}
	for _, payload := range []bool{false, true} {
		t.Run(fmt.Sprint(payload), func(t *testing.T) {
			to := otlptest.Start(t)
			w := newWorld(t, to, payload)
			guessable := entry(5, call("deny"))
			guessable.Digest = "sha256:0123"
			w.sender.Add(part(entry(1, hostile), entry(2, resource), entry(3, invalid), entry(4, call("deny")), guessable))
			if err := w.close(time.Minute); err != nil {
				t.Fatal(err)
			}
			if len(to.Logs()) != 5 || len(to.Spans()) != 5 {
				t.Fatalf("%d, %d, %s", len(to.Logs()), len(to.Spans()), w.said())
			}
			var texts []string
			for _, l := range to.Logs() {
				texts = append(texts, l.Body.GetStringValue())
				a := otlptest.Attributes(l.Attributes)
				for name, value := range a {
					texts = append(texts, name+"="+value)
				}
				if isGuessable := a["clawai.record"] == "k3f9x2m7qa-5"; (a["clawai.digest"] == "" && a["clawai.hash"] == "") != (isGuessable && !payload) {
					t.Errorf("%v", a)
				}
			}
			for _, s := range to.Spans() {
				texts = append(texts, s.Name)
				for name, value := range otlptest.Attributes(s.Attributes) {
					texts = append(texts, name+"="+value)
				}
			}
			holds := false
			for _, text := range texts {
				holds = holds || strings.Contains(text, "/secret")
				if len(text) > 4200 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' }) {
					t.Errorf("%d bytes: %.200q", len(text), text)
				}
				if !payload && strings.Contains(text, "/secret") {
					t.Errorf("%.200q", text)
				}
			}
			if holds != payload {
				t.Errorf("arguments are there: %t", holds)
			}
		})
	}
}

// A receiver that is away gets what waits when it is back; one that refuses is not asked again; nothing that is
// told has its address.
func TestReceiverThatFails(t *testing.T) {
	to := otlptest.Start(t)
	var mu sync.Mutex
	asked := map[string]int{}
	to.Answer(func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		switch {
		case strings.HasSuffix(r.URL.Path, "/v1/traces"):
			http.Error(w, "no such team\x1b[2J", http.StatusForbidden)
			return false
		case asked[r.URL.Path] < 3: // the connection breaks
			panic(http.ErrAbortHandler)
		}
		return true
	})
	w := newWorld(t, to, false, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", to.URL+"/token-of-the-path/v1/traces")
	w.sender.Add(part(entry(1, call("deny"))))
	to.Await(t, 1, 0)
	if err := w.close(time.Minute); err != nil {
		t.Error(err)
	}
	if w.count("logs sent") != 1 || w.count("spans refused") != 1 || asked["/v1/logs"] != 3 || asked["/token-of-the-path/v1/traces"] != 1 {
		t.Errorf("%v, asked %v", w.counts, asked)
	}
	if said := w.said(); !strings.Contains(said, "telemetry: spans: ") || !strings.Contains(said, "403") || strings.Contains(said, "token") || strings.Contains(said, to.URL) || strings.Contains(said, "\x1b") {
		t.Errorf("%q", said)
	}
}

// A receiver that hangs costs whoever brings records nothing: what does not fit is counted, and the end waits
// no longer than it is told.
func TestReceiverThatHangs(t *testing.T) {
	to := otlptest.Start(t)
	free := make(chan struct{})
	to.Answer(func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-free:
		case <-r.Context().Done():
		}
		return false
	})
	defer close(free)
	w := newWorld(t, to, false)
	long := entry(1, call("deny"))
	long.Raw = make([]byte, 1<<20)
	const parts = 40
	for range parts {
		w.sender.Add(part(long))
	}
	if err := w.close(100 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not take the last logs in time") {
		t.Error(err)
	}
	w.sender.Add(part(long)) // after the end
	if w.count("logs dropped") != parts+1 || w.count("spans dropped") != parts+1 || w.count("logs sent") > 0 {
		t.Errorf("%v", w.counts)
	}
	if !strings.Contains(w.said(), "what comes now is not sent") {
		t.Errorf("%q", w.said())
	}
}

// What a receiver does not take of a request is counted.
func TestReceiverThatTakesAPart(t *testing.T) {
	to := otlptest.Start(t)
	to.Answer(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write([]byte{0x0a, 7, 0x08, 1, 0x12, 3, 'b', 'a', 'd'}) // partial_success: 1 rejected, "bad"
		return false
	})
	w := newWorld(t, to, false)
	w.sender.Add(part(entry(1, call("deny")), entry(2, call("deny")), entry(3, call("deny"))))
	if err := w.close(time.Minute); err != nil {
		t.Error(err)
	}
	for _, signal := range []string{"logs", "spans"} {
		if w.count(signal+" sent") != 2 || w.count(signal+" refused") != 1 {
			t.Errorf("%v", w.counts)
		}
	}
	if !strings.Contains(w.said(), "bad (1 ") {
		t.Errorf("%q", w.said())
	}
}

// A web page with the code 200, such as the sign-in of a proxy, has taken nothing.
func TestPageInPlaceOfReceiver(t *testing.T) {
	to := otlptest.Start(t)
	to.Answer(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "Text/HTML; charset=utf-8")
		_, _ = w.Write([]byte("<h1>Sign in</h1>"))
		return false
	})
	w := newWorld(t, to, false)
	w.sender.Add(part(entry(1, call("deny"))))
	if err := w.close(time.Minute); err != nil {
		t.Error(err)
	}
	if w.count("logs sent")+w.count("spans sent") > 0 || w.count("logs refused") != 1 || w.count("spans refused") != 1 || !strings.Contains(w.said(), "a web page answers") {
		t.Errorf("%v %q", w.counts, w.said())
	}
}

// Nothing is sent that the environment does not want, and no value of the environment is told.
func TestEnvironment(t *testing.T) {
	const at = "http://127.0.0.1:9"
	for _, c := range []struct {
		env         string // NAME=VALUE, separated by blanks
		logs, spans bool
		wrong       string
	}{
		{"", false, false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at, true, true, ""},
		{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=" + at, true, false, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + at, false, true, ""},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=" + at, false, false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_SDK_DISABLED=TRUE", false, false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_LOGS_EXPORTER=none", false, true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_TRACES_EXPORTER=console", true, false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_TRACES_EXPORTER=console,OTLP", true, true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=://pass-word", false, false, "OTEL_EXPORTER_OTLP_ENDPOINT: it is an address"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4318", false, false, "OTEL_EXPORTER_OTLP_ENDPOINT: it is an address"},
		{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=https://me:pass-word@127.0.0.1", false, false, "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: OpenTelemetry's exporter does not send"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + "?key=pass-word", false, false, "does not send"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_TRACES_SAMPLER=pass-word", false, false, "OTEL_TRACES_SAMPLER: it is one of always_on"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=pass-word", false, false, "OTEL_TRACES_SAMPLER_ARG: it is a number"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_TRACES_SAMPLER=parentbased_always_on OTEL_RESOURCE_ATTRIBUTES=team=a%20b", true, true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_RESOURCE_ATTRIBUTES=a=%zzpass-word", false, false, "OTEL_RESOURCE_ATTRIBUTES: it has the form"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_SERVICE_NAME=\xff", false, false, "OTEL_SERVICE_NAME: it has bytes"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_RESOURCE_ATTRIBUTES=a=%ff", false, false, "OTEL_RESOURCE_ATTRIBUTES or OTEL_SERVICE_NAME: it has bytes"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:99999/pass-word", false, false, "OTEL_EXPORTER_OTLP_ENDPOINT: it is an address"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:9 OTEL_EXPORTER_OTLP_INSECURE=true", false, false, "OTEL_EXPORTER_OTLP_INSECURE: http:// or https://"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_TRACES_INSECURE=pass-word", false, false, "OTEL_EXPORTER_OTLP_TRACES_INSECURE: http:// or https://"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_INSECURE=true OTEL_EXPORTER_OTLP_TIMEOUT=500 OTEL_EXPORTER_OTLP_COMPRESSION=none", true, true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_HEADERS=pass-word", false, false, "OTEL_EXPORTER_OTLP_HEADERS: it has the form"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_HEADERS=a=%zzpass-word", false, false, "OTEL_EXPORTER_OTLP_HEADERS: it has the form"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_HEADERS=a=pass-word%0d%0ab:c", false, false, "OTEL_EXPORTER_OTLP_HEADERS: it has the form"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=pass-word", false, false, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: it is a number"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_TIMEOUT=0", false, false, "OTEL_EXPORTER_OTLP_TIMEOUT: it is a number"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_COMPRESSION=pass-word", false, false, "OTEL_EXPORTER_OTLP_COMPRESSION: it is gzip or none"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:9 OTEL_EXPORTER_OTLP_CERTIFICATE=/no/such/file", false, false, "OTEL_EXPORTER_OTLP_CERTIFICATE: open /no/such/file"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:9 OTEL_EXPORTER_OTLP_CERTIFICATE=telemetry_test.go", false, false, "has no certificate"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:9 OTEL_EXPORTER_OTLP_CLIENT_KEY=/no/such/file", false, false, "set both, or none"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_CERTIFICATE=telemetry_test.go", false, false, "uses no certificates"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false, false, "OTEL_EXPORTER_OTLP_PROTOCOL: the centre sends http/protobuf alone"},
	} {
		t.Run(c.env, func(t *testing.T) {
			env := map[string]string{}
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				env[name] = value
				t.Setenv(name, value)
			}
			w := &world{t: t, counts: map[string]int{}}
			s, err := telemetry.New(t.Context(), w.options(func(name string) string { return env[name] }))
			w.sender = s
			if (err != nil) != (c.wrong != "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "pass-word")) {
				t.Fatal(err)
			}
			s.Add(part(entry(1, call("deny")))) // nobody listens at that address
			_ = w.close(time.Millisecond)
			if logs, spans := w.count("logs dropped") == 1, w.count("spans dropped") == 1; logs != c.logs || spans != c.spans {
				t.Errorf("%v", w.counts)
			}
		})
	}
}

// A receiver that is busy, for however long it wants, gets the same request again; one that redirects gets nothing
// there, because the headers are for the host that the owner named.
func TestReceiverThatIsBusyOrRedirects(t *testing.T) {
	to, other := otlptest.Start(t), otlptest.Start(t)
	var asked atomic.Int32
	to.Answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v1/traces" {
			http.Redirect(w, r, other.URL+r.URL.Path, []int{http.StatusFound, http.StatusTemporaryRedirect}[asked.Load()%2])
			return false
		}
		if n := asked.Add(1); n < 3 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[n-1])
			return false
		}
		return true
	})
	w := newWorld(t, to, false, "OTEL_EXPORTER_OTLP_HEADERS", "X-Api-Key=pass-word")
	w.sender.Add(part(entry(1, call("deny"))))
	to.Await(t, 1, 0)
	if err := w.close(time.Minute); err != nil {
		t.Error(err)
	}
	if w.count("logs sent") != 1 || w.count("logs refused") != 0 || w.count("spans refused") != 1 || w.count("spans sent") != 0 || len(other.Headers()) > 0 {
		t.Errorf("%v, %v", w.counts, other.Headers())
	}
	if said := w.said(); !strings.Contains(said, "429 Too Many Requests") || !strings.Contains(said, "redirects") {
		t.Errorf("%q", said)
	}
}

// A receiver that wants more time than the centre has left does not delay its end.
func TestEndWhileAReceiverIsBusy(t *testing.T) {
	to := otlptest.Start(t)
	busy := make(chan struct{}, 10)
	to.Answer(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusServiceUnavailable)
		busy <- struct{}{}
		return false
	})
	w := newWorld(t, to, false, "OTEL_TRACES_EXPORTER", "none")
	w.sender.Add(part(entry(1, call("deny"))))
	<-busy
	to.Answer(nil) // it can again: the last request comes there
	if err := w.close(time.Minute); err != nil || w.count("logs sent") != 1 || len(to.Logs()) != 1 {
		t.Error(err, w.counts, len(to.Logs()))
	}
}

// A receiver that repeats headers and the path of its address in its answer shows them to nobody.
func TestHeadersAreNotTold(t *testing.T) {
	to := otlptest.Start(t)
	to.Answer(func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, fmt.Sprintf("no such key %q, %q, %s", r.Header.Get("X-Api-Key"), r.Header.Get("Authorization"), r.URL.Path), http.StatusUnauthorized)
		return false
	})
	w := newWorld(t, to, false, "OTEL_EXPORTER_OTLP_ENDPOINT", to.URL+"/pass-path/", "OTEL_EXPORTER_OTLP_HEADERS", "X-Api-Key=pass-key,Authorization=Bearer%20pass-word")
	w.sender.Add(part(entry(1, call("deny"))))
	if err := w.close(time.Minute); err != nil {
		t.Error(err)
	}
	if said := w.said(); !strings.Contains(said, "401") || !strings.Contains(said, "no such key") || strings.Contains(said, "pass-") {
		t.Errorf("%q", said)
	}
}
