package site

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
)

// The first page counts the calls that labels of a session led to a question or a refusal, and leads to them.
func TestLabelsThatLedToQuestions(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	w.signIn()
	if _, body := w.visit("/"); !strings.Contains(body, "No call was asked about or refused for what its session had seen.") {
		t.Error("nothing says that there is none")
	}
	labelled := func(decision, tool string, labels policy.Seen) event.Event {
		call := recordedCall("allow", tool, `{"to":"eve"}`)
		call.Decision, call.Stage, call.Reason, call.Labels = decision, "ask", "", labels
		return call
	}
	old := labelled("deny", "yesterday", policy.PrivateData|policy.Secret)
	old.Time = time.Now().Add(-48 * time.Hour)
	for name, text := range recordSegments(t, audit.Options{}, recordedCall("allow", "plain", "{}"), old,
		labelled("allow", "send_one", policy.Untrusted|policy.PrivateData), labelled("allow", "send_two", policy.Untrusted), labelled("deny", "send_three", policy.Untrusted)) {
		w.ship(grant.Token, name, 0, text, true)
	}
	// A laptop may write what it likes into its record.
	for name, text := range recordSegments(t, audit.Options{}, labelled("deny", "hostile", policy.Untrusted|policy.PrivateData)) {
		w.ship(grant.Token, name, 0, chainAgain(text, `["untrusted","private"]`, `["<b>","private","`+strings.Repeat("x", 4000)+`","allowed"]`), true)
	}
	_, body := w.visit("/")
	_, card, _ := strings.Cut(body, "Labels that led to questions")
	card, _, _ = strings.Cut(card, "</section>")
	var rows []string
	for _, row := range strings.Split(card, "<li>")[1:] {
		row = regexp.MustCompile(`<svg.*</svg>|<[^>]*>`).ReplaceAllString(row, "")
		rows = append(rows, strings.Join(strings.Fields(row), " "))
	}
	want := "untrusted what anybody may have written 3 calls ? 2 asked ✕ 1 refused; private what is not for everybody 2 calls ? 1 asked ✕ 1 refused"
	if got := strings.Join(rows, "; "); got != want {
		t.Errorf("the card says\n%s\nwant\n%s", got, want)
	}
	checkHarmless(t, "/", body)
	for query, want := range map[string]string{
		"?label=untrusted": "send_three send_two send_one", "?label=private": "hostile send_one yesterday", "?label=secret": "yesterday", "?label=untrusted&decision=refused": "send_three",
		"?label=untrusted&tool=send_two": "send_two", "?label=private&since=1h&laptop=" + grant.Laptop: "hostile send_one", "?label=secret&since=1h": "",
	} {
		status, body := w.visit(recordsPage + query)
		var tools []string
		for _, m := range regexp.MustCompile(`<span class="tool"><strong>(\w+)</strong>`).FindAllStringSubmatch(body, -1) {
			tools = append(tools, m[1])
		}
		if got := strings.Join(tools, " "); status != 200 || got != want {
			t.Errorf("%s: %d, %q, want %q", query, status, got, want)
		}
		checkHarmless(t, query, body)
	}
	for _, link := range []string{`href="/records?label=untrusted"`, `href="/records?label=private"`} {
		if !strings.Contains(card, link) {
			t.Errorf("the card has no %s", link)
		}
	}
	_, body = w.visit(recordsPage + "?label=secret")
	id := recordLink.FindStringSubmatch(body)
	if _, body := w.visit(recordsPage + "/" + id[1]); !strings.Contains(body, "<dt>labels</dt><dd>private, secret: ") {
		t.Errorf("the record says nothing of its labels:\n%s", body)
	}
}
