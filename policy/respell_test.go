package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/policy/glob"
)

// A client that writes "_" for "." and cuts long names hides no tool from a rule by its name.
func TestRespelledNames(t *testing.T) {
	const rules = `
[[rule]]
action = "deny"
server = "git*"
tool = ["repo.delete", "*.purge", "a?b.c", "**.x.*.z"]

[[rule]]
action = "deny"
tool = "a_very_long_name_of_a_tool_that_a_client_cuts"

[[rule]]
action = "prompt"
tool = "a_very_long_name_*_everything"

[[rule]]
action = "allow"
server = "github"
tool = "repo*"
not.tool = "repo.secret"

[[rule]]
action = "allow"
server = "notes"
tool = ["notes.list", "notes_get", "repo_delete"]
`
	for _, c := range []struct {
		server, name string
		spelling     Spelling
		want         Action
	}{
		{"github", "repo_delete", AsWritten, Allow},
		{"github", "repo_delete", Dotless, Deny},
		{"github", "repo.delete", Dotless, Deny},
		{"github", "all_purge", Dotless, Deny},
		{"github", "repo_list", Dotless, Allow},
		{"github", "repo_secret", AsWritten, Allow},
		{"github", "repo_secret", Dotless, Deny},
		{"github", "aéb_c", Dotless, Deny},
		{"github", "repo_x_y_z", AsWritten, Allow},
		{"github", "repo_x_y_z", Dotless, Deny},
		{"github", "REPO.Delete", AsWritten, Deny}, // no rule allows it
		{"github", "REPO.Delete", Folded, Deny},
		{"github", "ALL.Purge", Folded, Deny},
		{"github", "Repo.List", Folded, Allow},
		{"github", "repo_delete", Folded, Allow}, // a "_" is no "."
		{"github", "REPO.SECRET", Folded, Deny},
		{"notes", "NOTES_GET", Folded, Allow},
		{"notes", "NOTES_PUT", Folded, Deny},
		{"notes", "repo_delete", Dotless, Allow}, // the rule is about another server
		{"notes", "notes_list", AsWritten, Deny},
		{"notes", "notes_list", Dotless, Allow}, // rules know it by the other name
		{"notes", "notes_get", Dotless, Allow},
		{"notes", "notes_put", Dotless, Deny},
		{"github", "repo_del", Dotless, Allow},
		{"github", "repo_del", Cut, Deny},
		{"other", "a_very_long_name_of_a_tool_th", AsWritten, Deny},
		{"other", "a_very_long_name_of_a_tool_th", Cut, Deny},
		{"other", "a_very_long_name_for", Cut, Prompt},
		{"other", "a_very_lo", Cut, Deny}, // the strictest of all it may be
	} {
		call := toolCall(c.name, "{}")
		call.Server, call.Spelling = c.server, c.spelling
		for _, calls := range [][]Call{nil, {*call}} {
			if got := load(t, rules, Options{Calls: calls}).Decide(call); got.Action != c.want {
				t.Errorf("%s %s as %d: %v by %+v, not %v", c.server, c.name, c.spelling, got.Action, got.Rule, c.want)
			}
		}
	}
}

// A glob of many stars takes no longer than its length times the name's.
func TestRespellingTakesNoLong(t *testing.T) {
	if other, found := respellName(strings.Repeat("**a", 30)+"b", strings.Repeat("a", 63)+"_", Dotless); found {
		t.Error(other)
	}
}

// Whatever name a glob matches is found under what the client writes for it.
func TestLawRespelledNamesAreFound(t *testing.T) {
	text := func(letters string) *rapid.Generator[string] {
		return rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 1, 8, -1)
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern, name := text("ab._*?/").Draw(t, "glob"), text("ab._/é").Draw(t, "name")
		g, err := glob.Compile(pattern)
		if err != nil {
			return
		}
		written := strings.ReplaceAll(name, ".", "_")
		cut := written[:rapid.IntRange(0, len(written)).Draw(t, "cut")]
		if _, found := respellName(pattern, written, Dotless); g.Match(name) && !g.Match(written) && !found {
			t.Fatalf("%q matches %q, which is written %q", pattern, name, written)
		}
		other, found := respellName(pattern, cut, Cut)
		switch again := strings.ReplaceAll(other, ".", "_"); {
		case g.Match(name) && !g.Match(cut) && !found:
			t.Fatalf("%q matches %q, which is cut to %q", pattern, name, cut)
		case found && strings.ToValidUTF8(cut, "") == cut && (!g.Match(other) || !strings.HasPrefix(again, strings.ReplaceAll(cut, ".", "_"))):
			t.Fatalf("%q of %q: %q", pattern, cut, other)
		}
	})
}
