package model_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// decoys put the data of an event into its other lines, too.
var decoys = []struct {
	name  string
	event func(data string) string
}{
	{"a comment before", func(d string) string { return ": " + d + "\ndata: " + d }},
	{"a comment without a blank", func(d string) string { return ":" + d + "\ndata: " + d }},
	{"a comment of a data line", func(d string) string { return ":data: " + d + "\ndata: " + d }},
	{"two comments", func(d string) string { return ": " + d + "\n: " + d + "\ndata: " + d }},
	{"a comment behind", func(d string) string { return "data: " + d + "\n: " + d }},
	{"an id", func(d string) string { return "id: " + d + "\ndata: " + d }},
	{"an id without a blank", func(d string) string { return "id:" + d + "\ndata:" + d }},
	{"an id behind", func(d string) string { return "data:" + d + "\nid: " + d }},
	{"a time to try again", func(d string) string { return "retry: " + d + "\ndata: " + d }},
	{"more blanks", func(d string) string { return ":  " + d + "\ndata:  " + d }},
}

// The name of a refused call is replaced in the data of its event, whatever the other lines hold.
func TestDeniedBesideDecoys(t *testing.T) {
	for i := range services {
		s := &services[i]
		for _, decoy := range decoys {
			for _, end := range []string{"\n", "\r\n"} {
				t.Run(fmt.Sprintf("%s %s %q", s.api, decoy.name, end), func(t *testing.T) {
					site := newSite(t, s.client, true, nil)
					var out strings.Builder
					for line := range strings.Lines(s.streamed([]asked{s.touch("denied"), s.touch("a")}, true)) {
						if data, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); is && data != "[DONE]" {
							line = decoy.event(data) + "\n"
						}
						out.WriteString(strings.ReplaceAll(line, "\n", end))
					}
					body := out.String()
					site.reply = func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", "text/event-stream")
						_, _ = io.WriteString(w, body)
					}
					got := site.post(s.path, empty)
					name := deniedName.FindString(got.body)
					var plain strings.Builder // the fields that clients read
					for line := range strings.Lines(got.body) {
						if data, is := strings.CutPrefix(line, "data:"); is {
							line = "data: " + strings.TrimLeft(data, " ")
						}
						plain.WriteString(line)
					}
					calls := s.read(t, plain.String(), true)
					refused := 0
					for _, call := range calls {
						if is := strings.HasPrefix(call, name+" "); is {
							refused++
						} else if !strings.HasPrefix(call, s.shell+" ") || strings.Contains(call, "denied") {
							t.Errorf("%q is called", call)
						}
					}
					if name == "" || refused*2 != len(calls) {
						t.Errorf("%q are called", calls)
					}
					if back := strings.ReplaceAll(got.body, `"`+name+`"`, `"`+s.shell+`"`); back != body {
						t.Errorf("other bytes have changed:\n%s\nand should be\n%s", back, body)
					}
				})
			}
		}
	}
}

// A stream of another form on a path that is not known could hold calls.
func TestOtherStreams(t *testing.T) {
	for kind, status := range map[string]int{
		"text/event-stream": 502, "application/x-ndjson": 502, "application/vnd.amazon.eventstream": 502, "application/jsonl; charset=utf-8": 502, "application/json": 200,
	} {
		site := newSite(t, "claude-code", true, nil)
		site.reply = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, `{"message":{"tool_calls":[]}}`+"\n")
		}
		if got := site.post("/api/chat", empty); got.status != status {
			t.Errorf("%s: %d %s", kind, got.status, got.body)
		}
	}
}
