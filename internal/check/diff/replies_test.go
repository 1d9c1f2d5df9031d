package diff_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/policy"
)

const (
	keys     = "[[rule]]\naction = \"redact\"\non = \"reply\"\ntool = \"**\"\nfind = [\"secret\", \"card\"]\n"
	fewer    = "[[rule]]\naction = \"redact\"\non = \"reply\"\ntool = \"*\"\nfind = [\"secret\"]\n"
	drops    = "[[rule]]\naction = \"deny\"\non = \"list\"\ntool = \"drop_**\"\n"
	shielded = "[[rule]]\naction = \"allow\"\non = \"reply\"\ntool = \"read\"\nargs.path = \"/srv/**\"\nfind = [\"secret\"]\n"
)

func replyText(t *testing.T, r *diff.Report) string {
	t.Helper()
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// What becomes of answers and entries is compared, and what is said to be proved is.
func TestReplies(t *testing.T) {
	for _, c := range []struct {
		old, now string
		changed  bool
		proved   bool
		want     []string
	}{
		{keys, "# the same\n" + keys, false, true, []string{"the rules about replies are the same"}},
		{keys, strings.Replace(keys, `"secret", "card"`, `"card", "secret"`, 1), false, true, []string{"have the same effect"}},
		{keys + drops, fewer, true, true, []string{
			"for example answer to tools/call x, found card\n    was redact card, old.toml:1\n    is  allow, no rule",
			"for example answer to tools/call /, found secret\n    was redact secret, old.toml:1\n    is  allow, no rule",
			"for example in a list, what is called by tools/call drop_\n    was deny, old.toml:6\n    is  allow, no rule",
			"answer to a call that is not known, found card",
			"kinds of answers or entries become something else",
		}},
		{keys, shielded + keys, true, false, []string{
			`answer to tools/call read {"path":"/srv/x"}, found secret`, "was redact secret", "these are the examples that were found"}},
		{shielded + keys, strings.Replace(shielded, `"/srv/**"`, `["/srv/**", "/other"]`, 1) + keys, true, false, []string{"no example was found that is answered differently; this is not a proof"}},
	} {
		r := compare(t, c.old, c.now)
		if r.HasChanges() != c.changed || r.Replies.Whole != c.proved {
			t.Errorf("changed %v, proved %v of\n%s\n%s", r.HasChanges(), r.Replies.Whole, c.old, c.now)
		}
		text := replyText(t, r)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		for i := range r.Replies.Changes {
			fx, err := check.ParseFixture(r.Replies.Changes[i].Fixture)
			if r.Replies.Changes[i].Call.Subject == policy.NoSubject {
				continue // no request is read as one that is not known
			}
			if err != nil || check.JudgeFixture(judge(t, "new.toml", c.now).Policy(), fx, "").IsMismatch() {
				t.Errorf("%s: %v", r.Replies.Changes[i].Fixture, err)
			}
		}
		doc, err := json.Marshal(r.Document())
		if err != nil || !strings.Contains(string(doc), `"replies":{"same":`) {
			t.Errorf("%s, %v", doc, err)
		}
		var comment strings.Builder
		if err := r.WriteMarkdown(&comment); err != nil || strings.Contains(comment.String(), "| what comes back |") != (len(r.Replies.Changes) > 0) {
			t.Errorf("%v\n%s", err, comment.String())
		}
	}
	if compare(t, before, after).Replies != nil {
		t.Error("policies without such rules are said to have some")
	}
}
