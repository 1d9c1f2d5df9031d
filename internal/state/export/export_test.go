package export_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/export"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

var update = flag.Bool("update", false, "write the golden files")

var source = export.Source{Host: "laptop", Version: "1.2.3"}

// evil is what a server may call its tools.
const evil = "x\n<1>1 - - - - - [a b=\"c\"] act=allow|y cs3=evil\r\nCEF:0|a\x1b[2J\x00\u2028\u202e\"]} \\"

// entry returns a record as the log reads it, with a line that ends as lines do.
func entry(seq uint64, e event.Event) *event.Entry {
	e.Record, e.Time = fmt.Sprintf("k3f9x2m7qa-%d", seq), time.Date(2026, 12, 1, 10, 2, 3, 123456789, time.UTC)
	hash := strings.Repeat(fmt.Sprintf("%02x", seq), 32)
	return &event.Entry{Event: e, Seq: seq, Session: "k3f9x2m7qa", Digest: "hmac:0123", Raw: []byte(`{"seq":1,"prev":"","hash":"` + hash + `"}`)}
}

// examples are records of every kind that is exported by default, and a hostile one.
func examples() []*event.Entry {
	call := event.Event{
		Kind: event.Decision, Server: "files", Direction: "client", Method: "tools/call", ID: []byte("7"), Subject: "tool", Names: []string{"write_file"},
		Args: []byte(`{"path":"/p/\u043f.txt","token":"[redacted:member:9]"}`), Policy: "allow", Decision: "allow", Stage: "policy", Code: "allowed_by_rule",
		RuleFile: "/p/policy.toml", RuleLine: 7, RuleText: "Only projects", Facts: policy.Facts{},
	}
	denied := call
	denied.Policy, denied.Decision, denied.Stage, denied.Code, denied.Reason = "prompt", "deny", "ask", "not_answered", "nobody answered in time"
	denied.Labels = policy.Untrusted | policy.PrivateData
	observed := call
	observed.Policy, observed.Stage, observed.Code = "deny", "observe", "observed"
	hostile := denied
	hostile.Server, hostile.Names, hostile.Reason, hostile.Method = evil, []string{evil}, evil, evil
	return []*event.Entry{
		entry(2, call),
		entry(3, event.Event{Kind: event.Answered, Server: "files", Ref: "k3f9x2m7qa-2", Answer: "once", Channel: "terminal", By: "anna", Waited: 2100 * time.Millisecond}),
		entry(4, event.Event{Kind: event.Outcome, Server: "files", Method: "tools/call", ID: []byte("7"), Ref: "k3f9x2m7qa-2", Subject: "tool", Names: []string{"write_file"}, IsError: true}),
		entry(5, denied), entry(6, observed),
		entry(7, event.Event{Kind: event.Decision, ServerGuess: "docs", Method: "resources/read", ID: []byte(`"a"`), Subject: "resource", Names: []string{"file:///a"}, Policy: "allow", Decision: "allow"}),
		entry(8, hostile),
	}
}

// The golden files are what receivers were set up for: a change here breaks somebody's queries.
func TestForms(t *testing.T) {
	for _, form := range export.Forms {
		var got []byte
		for _, e := range examples() {
			got = append(form.Append(got, e, source), '\n')
		}
		file := filepath.Join("testdata", form.Name+".golden")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n%s", file, err, got)
		}
	}
}

// A receiver reads back what was written, whatever it was, and nothing else.
func FuzzForms(f *testing.F) {
	f.Add("write_file", "files", "no rule", `{"a":1}`, "tools/call", uint8(0))
	f.Add(evil, evil, evil, evil, evil, uint8(1))
	f.Add(strings.Repeat("\x1b=|]", 2000), "\\", "\\n", strings.Repeat("=", 9000), "a=b c=d", uint8(2))
	f.Add("\xff\xfe", "]", "\"", "}", "\\", uint8(3))
	f.Add("", "", "", "", "", uint8(4))
	f.Add("p", "^", "\nϤ", "a", "b\x1e", uint8('T'))
	f.Fuzz(func(t *testing.T, tool, server, reason, argument, method string, pick uint8) {
		valid := func(s string) string { return strings.ToValidUTF8(s, "?") } // the record has no other texts
		tool, server, reason, argument, method = valid(tool), valid(server), valid(reason), valid(argument), valid(method)
		args, _ := json.Marshal(map[string]string{"a": argument})
		kinds := []event.Kind{event.Decision, event.Outcome, event.Answered, event.Dropped, event.Kind(reason)}
		e := entry(9, event.Event{
			Kind: kinds[int(pick)%len(kinds)], Server: server, Method: method, Subject: "tool", Names: []string{tool}, Args: args, Reason: reason,
			Decision: []string{"", "allow", "deny", tool}[int(pick/8)%4], Policy: server, RuleFile: reason, RuleLine: 3, RuleText: tool, By: tool, Answer: server,
		})
		e.Session = method
		checkFitted(t, e)
		for _, form := range export.Forms {
			line := form.Append(nil, e, source)
			if strings.ContainsFunc(string(line), func(r rune) bool {
				return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\u202e'
			}) {
				t.Fatalf("%s: not one harmless line: %q", form.Name, line)
			}
			switch form.Name {
			case "cef":
				checkPlain(t, form.Name, line, readCEF(t, line), map[string]string{"cs1": tool, "cs3": server, "reason": reason, "cs4": string(args), "requestMethod": method, "externalId": e.Record, "suser": tool})
			case "syslog":
				checkPlain(t, form.Name, line, readSyslog(t, line), map[string]string{"tool": tool, "server": server, "reason": reason, "arguments": string(args), "method": method, "record": e.Record, "by": tool})
			case "otlp":
				checkExact(t, readOTLP(t, line), map[string]string{"gen_ai.tool.name": tool, "clawai.server": server, "clawai.reason": reason, "gen_ai.tool.call.arguments": string(args), "mcp.method.name": method, "clawai.record": e.Record})
			case "ocsf":
				checkExact(t, readOCSF(t, line), map[string]string{"tool": tool, "server": server, "reason": reason, "argument": argument, "record": e.Record})
			case "in-toto":
				checkExact(t, readStatement(t, line), map[string]string{"tool": tool, "server": server, "argument": argument, "record": e.Record})
			}
		}
	})
}

var (
	cutMark = regexp.MustCompile(`\[cut:\d+\]$`)
	escape  = regexp.MustCompile(`\\(?:[nrt]|[ux]\{[0-9a-f]+\})`)
)

// checkFitted checks that log records and spans have short and harmless texts alone, under names of the table.
func checkFitted(t *testing.T, e *event.Entry) {
	t.Helper()
	l, call, answered := export.NewLog(e).Fit(), export.NewSpan(e, nil), export.NewSpan(e, e)
	texts := []export.Attribute{{Name: "body", Text: l.Body}, {Name: "name", Text: l.Name}, {Name: "name", Text: call.Name}, {Name: "name", Text: answered.Name}}
	for _, a := range slices.Concat(texts, l.Attributes, call.Attributes, answered.Attributes) {
		most := 1024
		if strings.HasSuffix(a.Name, "arguments") {
			most = 4096
		}
		cut := cutMark.ReplaceAllString(a.Text, "")
		shown := escape.ReplaceAllString(a.Text, "-") // the letter of an escape makes no mixed word of the letters behind it
		if len(cut) > most || !utf8.ValidString(a.Text) || shown != term.VisibleText(shown) && cut == a.Text {
			t.Fatalf("%s: %d bytes, %.200q", a.Name, len(a.Text), a.Text)
		}
	}
}

func checkExact(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Fatalf("%s is %q, not %q", name, got[name], value)
		}
	}
}

// checkPlain checks a line of CEF or syslog: values are those that clawai shows, or their beginning.
func checkPlain(t *testing.T, form string, line []byte, got, want map[string]string) {
	t.Helper()
	if len(line) > 7680 {
		t.Fatalf("%s: %d bytes", form, len(line))
	}
	for name, value := range want {
		shown := term.VisibleText(value)
		cut := regexp.MustCompile(`\[cut:(\d+)\]$`).FindStringSubmatch(got[name])
		switch {
		case got[name] == shown:
		case cut != nil && cut[1] == strconv.Itoa(len(shown)) && strings.HasPrefix(shown, strings.TrimSuffix(got[name], cut[0])):
		default:
			t.Fatalf("%s: %s is %q, not %q", form, name, got[name], shown)
		}
	}
	delete(got, "")
	for name := range got {
		if !regexp.MustCompile(`^[A-Za-z0-9_]+$`).MatchString(name) {
			t.Fatalf("%s: a field %q", form, name)
		}
	}
}

// readCEF reads a line as receivers of CEF do: a key is what stands between a blank and an equals sign
// without a backslash. A key that comes twice is a forged one.
func readCEF(t *testing.T, line []byte) map[string]string {
	t.Helper()
	parts := splitUnescaped(string(line), '|', 8)
	if len(parts) != 8 || parts[0] != "CEF:0" || parts[1] != "clawai" || parts[3] != "1.2.3" || strings.Trim(parts[6], "357") != "" {
		t.Fatalf("the header of %q", line)
	}
	fields := map[string]string{}
	rest := parts[7]
	for rest != "" {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || strings.HasSuffix(key, `\`) {
			t.Fatalf("no key at %q", rest)
		}
		value := splitUnescaped(after, '=', 2)[0]
		rest = ""
		if len(value) < len(after) { // the next key is the last word of the value
			space := strings.LastIndexByte(value, ' ')
			rest, value = after[space+1:], after[:space]
		}
		if _, twice := fields[key]; twice {
			t.Fatalf("%s twice in %q", key, line)
		}
		fields[key] = strings.NewReplacer(`\\`, `\`, `\=`, `=`, `\n`, "\n", `\r`, "\r").Replace(value)
	}
	return fields
}

// splitUnescaped splits a text at a byte that has no backslash before it, which itself has none.
func splitUnescaped(s string, at byte, most int) (parts []string) {
	start := 0
	for i := 0; i < len(s) && len(parts) < most-1; i++ {
		switch s[i] {
		case '\\':
			i++
		case at:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// readSyslog reads a message of RFC 5424 with one element of structured data.
func readSyslog(t *testing.T, line []byte) map[string]string {
	t.Helper()
	header := regexp.MustCompile(`^<1(0[4-9]|1[01])>1 2026-12-01T10:02:03\.123456Z laptop clawai [!-~]{1,128} [a-z:]{1,32} \[clawai@32473`).Find(line)
	if header == nil {
		t.Fatalf("the header of %q", line)
	}
	fields := map[string]string{}
	rest := string(line[len(header):])
	for strings.HasPrefix(rest, " ") {
		name, after, ok := strings.Cut(rest[1:], `="`)
		if !ok {
			t.Fatalf("no parameter at %q", rest)
		}
		parts := splitUnescaped(after, '"', 2)
		if len(parts) != 2 || strings.ContainsRune(strings.NewReplacer(`\\`, "", `\]`, "").Replace(parts[0]), ']') {
			t.Fatalf("no end of the value at %q", after)
		}
		if _, twice := fields[name]; twice {
			t.Fatalf("%s twice in %q", name, line)
		}
		fields[name], rest = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\]`, `]`).Replace(parts[0]), parts[1]
	}
	if !strings.HasPrefix(rest, "] ") {
		t.Fatalf("the structured data does not end at %q", rest)
	}
	return fields
}

func readOTLP(t *testing.T, line []byte) map[string]string {
	t.Helper()
	var doc struct {
		ResourceLogs []struct {
			ScopeLogs []struct {
				LogRecords []struct {
					Attributes []struct {
						Key   string
						Value struct{ StringValue string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(line, &doc); err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{}
	for _, a := range doc.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Attributes {
		if _, twice := fields[a.Key]; twice {
			t.Fatalf("%s twice in %q", a.Key, line)
		}
		fields[a.Key] = a.Value.StringValue
	}
	return fields
}

func readOCSF(t *testing.T, line []byte) map[string]string {
	t.Helper()
	var doc struct {
		ClassUID     int    `json:"class_uid"`
		TypeUID      int    `json:"type_uid"`
		StatusDetail string `json:"status_detail"`
		Metadata     struct{ Version, UID string }
		API          struct {
			Service struct{ Name string }
			Request struct{ Data struct{ A string } }
		}
		Resources []struct{ Type, Name string }
	}
	if err := json.Unmarshal(line, &doc); err != nil || doc.ClassUID != 6003 || doc.TypeUID != 600399 || doc.Metadata.Version != "1.9.0" {
		t.Fatal(err, doc)
	}
	return map[string]string{"tool": doc.Resources[0].Name, "server": doc.API.Service.Name, "reason": doc.StatusDetail, "argument": doc.API.Request.Data.A, "record": doc.Metadata.UID}
}

func readStatement(t *testing.T, line []byte) map[string]string {
	t.Helper()
	var doc struct {
		Type    string `json:"_type"`
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
		Predicate struct {
			Draft     bool
			Action    map[string]string
			Arguments struct{ A string }
		}
	}
	if err := json.Unmarshal(line, &doc); err != nil || doc.Type != "https://in-toto.io/Statement/v1" || len(doc.Subject[0].Digest.SHA256) != 64 || !doc.Predicate.Draft {
		t.Fatal(err, doc)
	}
	return map[string]string{"tool": doc.Predicate.Action["tool"], "server": doc.Predicate.Action["server"], "argument": doc.Predicate.Arguments.A, "record": doc.Subject[0].Name}
}

// CEF within syslog begins behind a header that names no structured data.
func TestCEFInSyslog(t *testing.T) {
	for _, e := range examples() {
		line := string(export.AppendCEFInSyslog(nil, e, source))
		header, text, ok := strings.Cut(line, " - ")
		if !ok || !strings.HasPrefix(header, "<1") || len(strings.Fields(header)) != 6 || !strings.HasPrefix(text, "CEF:0|clawai|clawai|") {
			t.Error(line)
		}
		if text != string(export.AppendCEF(nil, e, source)) {
			t.Error(text)
		}
	}
}
