package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/otlptest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// recordAnswered records calls with their outcomes as a session does and returns the segment.
func recordAnswered(t *testing.T, calls int) (name string, text []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		call := &event.Event{
			Kind: event.Decision, Time: time.Now(), Server: "files", Direction: "client", Method: "tools/call", ID: fmt.Append(nil, i), Subject: "tool", Names: []string{"read_file"},
			Args: []byte(`{"path":"/srv/secret"}`), Policy: "allow", Decision: "allow", Stage: "policy", Code: "rule",
		}
		if err := log.Record(call); err != nil {
			t.Fatal(err)
		}
		if err := log.Record(&event.Event{Kind: event.Outcome, Time: time.Now(), Server: "files", Direction: "server", Method: "tools/call", ID: call.ID, Ref: call.Record}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*-*.ndjson"))
	if len(paths) != 1 {
		t.Fatalf("%d segments", len(paths))
	}
	if text, err = os.ReadFile(paths[0]); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(paths[0]), text
}

// newFolder returns the folder of a centre with an enrolled laptop, whose gateway.toml ends with a text.
func newFolder(t *testing.T, end string) (dir string, grant enrolment.Grant) {
	t.Helper()
	_, public, err := bundle.NewKey("team.example")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, centre.SettingsFile), fmt.Appendf(nil, "bundle_keys = [%q]\n%s", public, end), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, enrolDirectly(t, dir)
}

// shipText ships bytes of a segment from an offset on, and returns what is held then.
func shipText(t *testing.T, address, token, name string, at int, text []byte) enrolment.Held {
	t.Helper()
	session, _ := audit.SplitSegmentName(name)
	r, err := http.NewRequestWithContext(t.Context(), "PUT", fmt.Sprintf("%s%s%s/%s?at=%d", address, enrolment.RecordsPath, session, name, at), bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var held enrolment.Held
	if err := json.NewDecoder(resp.Body).Decode(&held); err != nil || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusConflict {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return held
}

// checkCalls checks that each call of a session came as two log records and a span, once.
func checkCalls(t *testing.T, to *otlptest.Receiver, calls int) {
	t.Helper()
	records, spans, traces := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, l := range to.Logs() {
		records[otlptest.Attributes(l.Attributes)["clawai.record"]]++
		traces[hex.EncodeToString(l.TraceId)] = true
	}
	for _, s := range to.Spans() {
		spans[otlptest.Attributes(s.Attributes)["clawai.record"]]++
		traces[hex.EncodeToString(s.TraceId)] = true
		if s.Name != "tools/call read_file" || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%v", s)
		}
	}
	if len(to.Logs()) != 2*calls || len(records) != 2*calls || len(to.Spans()) != calls || len(spans) != calls || len(traces) != 1 {
		t.Errorf("%d log records of %d, %d spans of %d, of %d calls in %d traces", len(to.Logs()), len(records), len(to.Spans()), len(spans), calls, len(traces))
	}
}

// What a laptop ships comes to the receiver that the environment names, once, also what was shipped just before
// the centre ended, and what was shipped twice; the call is found if a restart came between it and its outcome.
func TestWhatLaptopsShipIsSent(t *testing.T) {
	to := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	dir, grant := newFolder(t, "")
	const calls = 50
	name, text := recordAnswered(t, calls)
	lines := bytes.SplitAfter(text, []byte("\n"))
	half := len(bytes.Join(lines[:calls], nil)) // the line that begins the segment, and then an odd number: the last one is of a decision
	s := serve(t, dir)
	shipText(t, s.address, grant.Token, name, 0, text[:half])
	shipText(t, s.address, grant.Token, name, 0, text[:half])
	if said := s.end(syscall.SIGTERM); strings.Contains(said, "telemetry") {
		t.Error(said)
	}
	s = serve(t, dir)
	defer s.end(os.Kill)
	shipText(t, s.address, grant.Token, name, half, text[half:])
	to.Await(t, 2*calls, calls)
	checkCalls(t, to, calls)
	for _, l := range to.Logs() {
		a := otlptest.Attributes(l.Attributes)
		if a["clawai.laptop"] != grant.Laptop || a["clawai.laptop_name"] != "laptop" || strings.Contains(l.String(), "secret") {
			t.Fatalf("%v", l)
		}
	}
	if names := to.Services(); len(names) != 1 || names[0] != "clawai-gateway" {
		t.Errorf("%q", names)
	}
}

// With telemetry.payload, what may hold arguments is sent.
func TestPayloadIsSent(t *testing.T) {
	to := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", to.URL+"/v1/logs")
	dir, grant := newFolder(t, "[telemetry]\npayload = true\n")
	name, text := recordAnswered(t, 1)
	s := serve(t, dir)
	shipText(t, s.address, grant.Token, name, 0, text)
	s.end(syscall.SIGTERM)
	if all := to.Logs(); len(all) != 2 || len(to.Spans()) != 0 || otlptest.Attributes(all[0].Attributes)["gen_ai.tool.call.arguments"] != `{"path":"/srv/secret"}` {
		t.Errorf("%v", all)
	}
}

// A receiver that hangs, or is not there, delays no laptop and ends no centre; what it does not take is counted,
// and nobody is told its address.
func TestReceiverDoesNotAnswer(t *testing.T) {
	hanging, figures := otlptest.Start(t), otlptest.Start(t)
	hanging.Answer(func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return false
	})
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", figures.URL)
	for what, address := range map[string]string{"hangs": hanging.URL, "is not there": "http://127.0.0.1:1"} {
		t.Run(what, func(t *testing.T) {
			for _, signal := range []string{"LOGS", "TRACES"} {
				t.Setenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT", address+"/pass-word")
			}
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=pass-word")
			dir, grant := newFolder(t, "")
			const calls = 200
			name, text := recordAnswered(t, calls)
			s := serve(t, dir)
			for at := 0; at < len(text); { // each part is acknowledged at once, or the client waits for ever
				end := min(at+5000, len(text))
				if held := shipText(t, s.address, grant.Token, name, at, text[at:end]); held.Size != int64(end) {
					t.Fatal(held)
				}
				at = end
			}
			said := s.end(syscall.SIGTERM)
			if strings.Contains(said, "pass-word") || !strings.Contains(said, "telemetry: ") {
				t.Error(said)
			}
			logs, spans := figures.Sum("clawai.centre.telemetry dropped logs"), figures.Sum("clawai.centre.telemetry dropped spans")
			if logs != 2*calls || spans != calls {
				t.Errorf("%d log records and %d spans are counted as dropped\n%s", logs, spans, said)
			}
		})
	}
}

// An environment that cannot be used ends the start, without its values.
func TestEnvironmentThatCannotBeUsed(t *testing.T) {
	dir, _ := newFolder(t, "")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:pass-word@127.0.0.1:4318")
	if code, said := runServeOnce(t, dir); code != 2 || strings.Contains(said, "pass-word") || !strings.Contains(said, "OTEL_EXPORTER_OTLP_HEADERS") {
		t.Errorf("%d: %s", code, said)
	}
}

// Two centres on one database: each record is sent once, by the one that took it, and a call whose outcome came
// to the other one has its whole span.
func TestReplicasSendOnce(t *testing.T) {
	slow.Test(t)
	to := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	w := newTeam(t, 2, "")
	grant := w.enrol()
	const calls = 40
	name, text := recordAnswered(t, calls)
	session, _ := audit.SplitSegmentName(name)
	path := enrolment.RecordsPath + session + "/" + name
	at, turn := 0, 0
	for line := range bytes.Lines(text) {
		for _, r := range []*replica{w.replicas[turn%2], w.replicas[(turn+1)%2]} { // the answer to the first one was lost
			if status, answer := w.send(r, "PUT", fmt.Sprintf("%s?at=%d", path, at), grant.Token, nil, line); status != http.StatusOK && status != http.StatusConflict {
				t.Fatal(status, string(answer))
			}
		}
		at += len(line)
		turn++
	}
	to.Await(t, 2*calls, calls)
	checkCalls(t, to, calls)
}
