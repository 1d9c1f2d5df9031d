//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const askAboutNotes = `
[[rule]]
action = "prompt"
tool = "*note"
description = "notes need a look"
[[rule]]
action = "allow"
elicitation = "**"
`

// told is what elicit.mjs saw.
type told struct {
	form, result string
	forms        int
	results      []string
	back         bool
}

// elicit runs the client against the server behind the proxy, and returns what
// it saw and what the server has done.
func elicit(t *testing.T, era, how, tool string) (saw told, done string, s site) {
	t.Helper()
	s = newSite(t, askAboutNotes)
	s.write(".config/clawai/config.toml", "[ask]\norder = [\"elicitation\"]\nnobody = \"deny\"\n")
	notes := filepath.Join(s.home, "notes.txt")
	timeout := "2m"
	if how == "slow" || how == "dropped" {
		timeout = "3s"
	}
	server := []string{clawai, "proxy", "--server", "notes", "--ask-timeout", timeout, "--", "node", "note-server.mjs", notes}
	out, err := s.run(append([]string{"node", "elicit.mjs", era, how, tool, "--"}, server...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		var entry []json.RawMessage
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		switch string(entry[0]) {
		case `"form"`:
			saw.form = string(entry[1])
			saw.forms++
		case `"taken back"`:
			saw.back = true
		case `"result"`, `"error"`:
			saw.result = string(entry[1])
			saw.results = append(saw.results, saw.result)
		}
	}
	raw, err := os.ReadFile(notes)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	s.must(clawai, "log", "verify")
	return saw, string(raw), s
}

// TestElicitation puts the question into the form of a client of the official
// SDK, in both eras, and gives every kind of answer.
func TestElicitation(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		for how, want := range map[string]struct {
			forms int
			done  string
			says  string
		}{
			"once":    {1, "first\n", "noted first"},
			"session": {1, "first\nfirst\n", "noted first"},
			"deny":    {1, "", "denied_by_person"},
			"decline": {1, "", "denied_by_person"},
			"cancel":  {1, "", "nobody_to_ask"},
			"fast":    {1, "", "nobody_to_ask"}, // and not asked for the second call
			"off":     {0, "", "nobody_to_ask"},
			"slow":    {1, "", ""},
			"dropped": {1, "", ""},
		} {
			t.Run(era+"/"+how, func(t *testing.T) {
				t.Parallel()
				saw, done, s := elicit(t, era, how, "note")
				for how == "fast" && s.waitedForAPerson() {
					saw, done, s = elicit(t, era, how, "note")
				}
				if saw.forms != want.forms || done != want.done || !strings.Contains(saw.result, want.says) {
					t.Errorf("%d forms, done %q, result %s", saw.forms, done, saw.result)
				}
				if want.forms > 0 && !strings.Contains(saw.form, `tool       \"note\"`) && !strings.Contains(saw.form, `words = \"first\"`) {
					t.Errorf("asked %s", saw.form)
				}
				if how == "slow" || how == "dropped" {
					late(t, era, saw)
				}
				if out := s.must(clawai, "log", "--kind", "asked", "--json"); (out != "") != (want.forms > 0) {
					t.Errorf("recorded %s", out)
				}
			})
		}
	}
}

// waitedForAPerson says that an answer counts which came as late as a person gives one: a busy machine delays also one
// that was given at once, and only the record knows it.
func (s site) waitedForAPerson() bool {
	s.t.Helper()
	for _, waited := range regexp.MustCompile(`"waited_ms":(\d+)`).FindAllStringSubmatch(s.must(clawai, "log", "--kind", "answered", "--json"), -1) {
		if ms, err := strconv.Atoi(waited[1]); err != nil || ms >= 400 {
			return true
		}
	}
	return false
}

// late holds what a client sees whose answer came too late, or never.
func late(t *testing.T, era string, saw told) {
	t.Helper()
	switch {
	case era == "legacy" && (!strings.Contains(saw.result, "not_answered") || !saw.back):
		t.Errorf("not told, or the form was not taken back: %+v", saw)
	case era == "modern" && strings.Contains(saw.result, "noted"):
		t.Errorf("done too late: %+v", saw)
	}
}

// TestElicitationAroundTheServersOwn holds that a server that asks its user
// something itself still can.
func TestElicitationAroundTheServersOwn(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			saw, done, _ := elicit(t, era, "once", "signed_note")
			if done != "first, Ada\n" || !strings.Contains(saw.result, "noted first, Ada") {
				t.Errorf("done %q, result %s", done, saw.result)
			}
		})
	}
}
