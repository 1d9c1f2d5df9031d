package model_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

// forms are the ways in which a reply asks for tools.
var forms = []struct {
	name   string
	pieces bool
	calls  func(s *service) []asked
}{
	{"single", false, func(s *service) []asked { return []asked{s.touch("denied-a")} }},
	{"parallel", false, func(s *service) []asked {
		return []asked{s.touch("allowed-a"), s.touch("denied-b"), s.touch("allowed-c")}
	}},
	{"in pieces", true, func(s *service) []asked {
		return []asked{s.touch("allowed-a"), s.touch("denied-b \"\\ü"), s.touch("allowed-c")}
	}},
	{"free text", true, func(s *service) []asked {
		if s.api != "responses" {
			return nil
		}
		return []asked{{tool: "apply_patch", free: true, text: "*** Begin Patch\n*** Add File: /etc/denied\n+x\n*** End Patch"}, {tool: "apply_patch", free: true, text: "*** Begin Patch\n*** Add File: allowed\n+x\n*** End Patch"}}
	}},
}

var deniedName = regexp.MustCompile(`clawai_denied_[0-9a-f]{12}`)

var codings = []string{"", "gzip", "deflate", "br", "zstd", "compress"}

// TestTable: each service, streamed or not, each form of calls, each encoding. With --judge off the
// client gets the service's bytes, and the calls are on record, or that they were not looked at.
// With it, no denied call reaches the client under a name that it knows, or no reply does.
func TestTable(t *testing.T) {
	var rows []string
	for i := range services {
		s := &services[i]
		for _, streamed := range []bool{true, false} {
			for _, form := range forms {
				calls := form.calls(s)
				if calls == nil || !streamed && form.pieces && form.name != "free text" {
					continue
				}
				text := s.whole(calls)
				if streamed {
					text = s.streamed(calls, form.pieces)
				}
				for _, coding := range codings {
					t.Run(fmt.Sprintf("%s/%s/%v/%s", s.api, form.name, streamed, coding), func(t *testing.T) {
						heard := hears(t, s, calls, text, coding, "gzip, deflate, br, zstd", streamed)
						judged := judges(t, s, calls, text, coding, "gzip, deflate, br, zstd", streamed)
						if h, j := hears(t, s, calls, text, coding, "", streamed), judges(t, s, calls, text, coding, "", streamed); h != heard || j != judged {
							t.Errorf("with no encoding asked for: %s, %s", h, j)
						}
						rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", s.api, map[bool]string{true: "streamed", false: "whole"}[streamed], form.name, map[string]string{"": "none"}[coding]+coding, heard, judged))
					})
				}
			}
		}
	}
	table := strings.Join(rows, "\n")
	t.Log("\n" + table)
	const file, head = "../../docs/llm-proxy.md", "| API | reply | encoding |"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(string(page), head)
	title, rest, _ := strings.Cut(after, "\n|---|---|---|---|---|\n")
	_, rest, _ = strings.Cut(rest, "\n\n")
	want := before + head + title + "\n|---|---|---|---|---|\n" + strings.Join(summarize(rows), "\n") + "\n\n" + rest
	switch {
	case want == string(page):
	case !*update:
		t.Errorf("docs/llm-proxy.md has another table than what was seen (-update writes it):\n%s", strings.Join(summarize(rows), "\n"))
	default:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var update = flag.Bool("update", false, "write the table of docs/llm-proxy.md anew")

// summarize joins the rows of all forms, encodings and services that have one result.
func summarize(rows []string) []string {
	type key struct{ kind, heard, judged, codings string }
	join := func(to *string, word string) {
		if !slices.Contains(strings.Split(*to, ", "), word) {
			*to = strings.TrimPrefix(*to+", "+word, ", ")
		}
	}
	type result struct{ api, kind, heard, judged string }
	codings, apis := map[result]*string{}, map[key]*string{}
	var results []result
	var all []string
	for _, row := range rows {
		c := strings.Split(strings.Trim(row, "| "), " | ")
		r := result{c[0], c[1], c[4], c[5]}
		if codings[r] == nil {
			codings[r] = new(string)
			results = append(results, r)
		}
		join(codings[r], c[3])
	}
	for _, r := range results {
		k := key{r.kind, r.heard, r.judged, *codings[r]}
		if apis[k] == nil {
			apis[k] = new(string)
		}
		join(apis[k], r.api)
	}
	for k, api := range apis {
		all = append(all, fmt.Sprintf("| %s | %s | %s | %s | %s |", *api, k.kind, k.codings, k.heard, k.judged))
	}
	slices.Sort(all)
	return all
}

func answerWith(t testing.TB, text, coding string, streamed bool) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream; charset=utf-8", false: "application/json"}[streamed])
		if coding != "" {
			w.Header().Set("Content-Encoding", coding)
		}
		_, _ = w.Write(encode(t, coding, []byte(text)))
	}
}

func hears(t *testing.T, s *service, calls []asked, text, coding, accept string, streamed bool) string {
	site := newSite(t, s.client, false, nil)
	site.reply = answerWith(t, text, coding, streamed)
	got := site.post(s.path, empty, "Accept-Encoding", accept)
	if got.err != nil || got.status != http.StatusOK || got.body != string(encode(t, coding, []byte(text))) || got.header.Get("Content-Encoding") != coding {
		t.Errorf("the client got %d %v %q", got.status, got.err, got.body)
	}
	if asked := site.heads[0].Get("Accept-Encoding"); asked != accept {
		t.Errorf("the service was asked for the encodings %q", asked)
	}
	n, unread := site.record.count(isDecision), site.record.count(isUnread)
	switch {
	case n == len(calls) && unread == 0:
		return "recorded"
	case n == 0 && unread == 1:
		return "not looked at"
	}
	t.Errorf("%d of %d calls on record, and %d not looked at", n, len(calls), unread)
	return ""
}

func judges(t *testing.T, s *service, calls []asked, text, coding, accept string, streamed bool) string {
	site := newSite(t, s.client, true, nil)
	site.reply = answerWith(t, text, coding, streamed)
	got := site.post(s.path, empty, "Accept-Encoding", accept)
	if asked := site.heads[0].Get("Accept-Encoding"); asked != "identity" {
		t.Errorf("the service was asked for the encodings %q", asked)
	}
	if got.err != nil {
		t.Error(got.err)
	}
	if got.status != http.StatusOK {
		if site.record.count(isUnread) != 1 || !strings.Contains(got.body, "clawai") {
			t.Errorf("the client got %d %q", got.status, got.body)
		}
		return "refused, not looked at"
	}
	before, after := s.read(t, text, streamed), s.read(t, got.body, streamed)
	if len(before) != len(after) || len(before) < len(calls) {
		t.Fatalf("the client reads %q, not %q", after, before)
	}
	for i := range before {
		name, args, _ := strings.Cut(after[i], " ")
		own, ownArgs, _ := strings.Cut(before[i], " ")
		denied := strings.Contains(before[i], "denied")
		if denied && !strings.HasPrefix(name, "clawai_denied_") && strings.Contains(args, "denied") || !denied && name != own && strings.Contains(ownArgs, "allowed") || args != ownArgs {
			t.Errorf("the client reads %q, and the service wrote %q", after[i], before[i])
		}
	}
	if d := site.record.count(func(ev *event.Event) bool { return isDecision(ev) && ev.Decision == "deny" }); d != strings.Count(strings.Join(before[:len(calls)], " "), "denied") && s.api != "responses" || d == 0 {
		t.Errorf("%d denials on record", d)
	}
	// But for the names, every byte is as the service wrote it.
	undone := deniedName.ReplaceAllString(got.body, calls[0].tool)
	if undone != text {
		t.Errorf("beside names the reply has changed:\n%s\nwas\n%s", undone, text)
	}
	return "judged"
}
