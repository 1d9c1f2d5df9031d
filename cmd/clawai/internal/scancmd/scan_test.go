package scancmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

const key = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

// scan runs the command on a text.
func scan(tb testing.TB, text string, options ...string) (out string, err error) {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "text")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	app := &cli.App{Name: "clawai", Writer: &b, ErrWriter: &b, Commands: []*cli.Command{Command()}, ExitErrHandler: func(*cli.Context, error) {}}
	err = app.Run(append(append([]string{"clawai", "scan"}, options...), file))
	return b.String(), err
}

// found are the places that --json tells, held to the text.
func found(tb testing.TB, text string) []place {
	tb.Helper()
	out, err := scan(tb, text, "--json")
	var all struct{ Found []place }
	if json.Unmarshal([]byte(out), &all) != nil {
		tb.Fatalf("%q: %v: %s", text, err, out)
	}
	if failed, ok := errors.AsType[*cmdline.ExitError](err); ok != (len(all.Found) > 0) || ok && failed.Code != cmdline.ExitFailed || !ok && err != nil {
		tb.Fatalf("%q: %v beside %d findings", text, err, len(all.Found))
	}
	last := 0
	for _, p := range all.Found {
		if p.Start < last || p.End < p.Start || p.End > len(text) {
			tb.Fatalf("%q: %+v behind %d", text, p, last)
		}
		last = p.Start
		begins := strings.LastIndexByte(text[:p.Start], '\n') + 1
		if line, column := strings.Count(text[:p.Start], "\n")+1, utf8.RuneCountInString(text[begins:p.Start])+1; p.Line != line || p.Column != column {
			tb.Fatalf("%q: %+v stands on line %d, column %d", text, p, line, column)
		}
		if strings.HasPrefix(string(p.Kind), "secret") && p.Shows != "" {
			tb.Fatalf("%q: a secret is shown: %+v", text, p)
		}
	}
	return all.Found
}

// Many findings of one kind end no run, wherever the others stand.
func TestManyFindings(t *testing.T) {
	many := strings.Repeat(key+" ", 257)
	for _, text := range []string{many + "a\u202eb", "a\u202eb " + many, strings.Repeat("a\u202eb ", 300) + key, many + strings.Repeat("\u200b", 300) + strings.Repeat("[INST]", 300), strings.Repeat("<|im_start|>", 5000) + "\n" + many} {
		kinds := map[string]bool{}
		for _, p := range found(t, text) {
			kinds[string(p.Kind)] = true
		}
		if !kinds["unscreened"] || !kinds["secret"] || len(kinds) < 3 {
			t.Errorf("%.40q…: %v", text, kinds)
		}
	}
	if out, err := scan(t, many+"a\u202eb"); err == nil || !strings.Contains(out, "unscreened") || strings.Contains(out, key) {
		t.Errorf("%v: %s", err, out)
	}
}

// Escapes hide nothing in what is JSON to one who reads it by lines, one value behind another,
// or without its mark of byte order.
func TestEscapesAreReadInEveryFormOfJSON(t *testing.T) {
	const one = `{"a":"\u0067hp_16C7e42F292c6912E7710c838347Ae178B4a"}`
	for name, text := range map[string]string{
		"a document": one, "a mark": "\ufeff" + one, "lines": one + "\n" + `{"b":1}` + "\n", "the second line": `{"b":1}` + "\r\n" + one, "a mark and lines": "\ufeff" + one + "\n{}",
		"one behind another": `{} ` + one, "over lines": "{\n\"b\": [1]\n}\n{\n\"a\":\n" + `"\u0067hp_16C7e42F292c6912E7710c838347Ae178B4a"` + "\n}\n", "behind what is cut": `{"b":"c` + "\n" + one, "behind words": "this is not JSON\n" + one,
		"behind one that is not closed": `{"b":` + "\n" + one, "before words": one + "\nwords",
	} {
		all := found(t, text)
		if len(all) != 1 || all[0].Kind != "secret" || !strings.HasPrefix(text[all[0].Start:], `"\u0067hp_`) {
			t.Errorf("%s: %v", name, all)
		}
	}
	for name, text := range map[string]string{"source": "[\"\\x1b[0m\"]\nvar a = \"\\u001b[0m\"", "a list of a source": "words = [\n\"\\u001b[0m\",\n]"} {
		if all := found(t, text); len(all) > 0 {
			t.Errorf("%s: %v", name, all)
		}
	}
	// Values that are not closed are read once.
	for _, text := range []string{strings.Repeat("[\n", 300_000) + `\`, strings.Repeat("{\"a\":\n", 300_000) + `\`, strings.Repeat("[\"\\", 300_000), strings.Repeat("[\"\n", 300_000) + `\`} {
		began := time.Now()
		if found(t, text); time.Since(began) > 20*time.Second {
			t.Errorf("%.9q… takes %v", text, time.Since(began))
		}
	}
}

// Whatever a file holds, the command tells places that are in it, as people count them.
func FuzzScan(f *testing.F) {
	for _, text := range []string{"", "plain", key, "a\u202eb\n" + key, "{\"a\":\"\\u202e\"}", "\xff\xfe", strings.Repeat("a\u200b\n", 300), "\x1b]8;;", "<!--", "password=" + key, "data:\n  a: b\nkind: Secret"} {
		f.Add(text, 1)
	}
	f.Add(key+" ", 300)
	f.Add("[INST]\u200b", 300)
	f.Fuzz(func(t *testing.T, text string, times int) {
		if times < 1 || times > 600 || len(text) > 400 {
			return
		}
		found(t, strings.Repeat(text, times))
		if _, err := scan(t, text+strings.Repeat(key+" ", times%600)+text); err == nil && times%600 > 0 && text == "" {
			t.Fatal("a key is not found")
		}
	})
}

// No secret is printed, nor a part of it, whatever else is found around it.
func TestNoSecretIsPrinted(t *testing.T) {
	tags := func(s string) (text string) {
		for _, r := range s {
			text += string(0xe0000 + r)
		}
		return text
	}
	selectors := func(s string) (text string) {
		for _, r := range s {
			text += string(0xe0100 + r - 16)
		}
		return text
	}
	const password, basic = "hunter2zz9", "YW5hOmh1bnRlcjJ6ejk0NDQ="
	printed := []string{key[:12], key[8:20], key[28:], "unter2zz", basic[:8]}
	for _, text := range []string{
		"<!-- deploy with the key " + key + " please, before noon -->", "<!-- curl -u ana:" + password + " https://h.test/x and more words here -->",
		"<!-- postgres://ana:" + password + "@db.test/x is where the data lies now -->", "<!-- the login of the test box is password: " + password + " and that is all -->",
		"<!-- Authorization: Basic " + basic + " was what the old client sent -->", "<!-- --password " + password + " was what the old client sent to all of them -->",
		"password='<!-- a note of forty characters and more: " + password + " -->'", "\x1b]0;" + key + "\x07", "\x1b]8;;http://ana:" + password + "@h.test\x07", "token=\x1b[31m\x1b]0;" + password + "zzz\x07",
		"x" + tags("key "+key), "x" + tags(key), "x" + tags("password: "+password), "x" + selectors(key), "x" + tags("\nghp_") + tags(key[4:]), "<!-- " + tags(key) + " please do it now before noon today -->",
		"![a](http://x.y/z?token=" + password + ")", "![a](http://ana:" + password + "@x.y/z?a=b)", `<p style="display:none" data-x="` + key + `">x</p>`,
		"<!-- key ghp_16C7e42F292c\u200b6912E7710c838347Ae178B4a before noon today please -->", "<!-- the key &#103;hp_16C7e42F292c6912E7710c838347Ae178B4a before noon -->",
		`{"a":"<!-- the key \u0067hp_16C7e42F292c6912E7710c838347Ae178B4a before noon -->"}`, `{"a":"\u001b]0;\u0067hp_16C7e42F292c6912E7710c838347Ae178B4a\u0007"}`,
		"<!-- kind: Secret\ndata:\n  a: " + basic + "\n  and what goes on behind it -->",
		"x" + tags("password: ") + " and " + tags(password) + " end", "x" + tags("password: ") + strings.Repeat("many words stand between them\n", 60) + tags(password),
		"x" + tags("password: ") + "\x1b[0m" + tags(password) + " end", "x" + tags("note") + " " + tags(key[:16]) + " and " + tags(key[16:]), "x" + tags("password: ") + "y" + selectors(password),
		"x" + tags("send") + " a " + tags("the password: ") + " b " + tags("hun") + " c " + tags("ter2zz9"), "x" + tags(key[:16]) + " and " + tags(key[16:]), "the password: " + tags("hunter2z") + "z9 ", "password: " + tags("hunter2z") + "a" + tags("hunter2zz9"),
		"x" + tags(key[:20]) + key[20:] + " y", "\x1b]0;password:\x07 a \x1b]0;" + password + "\x07", "x" + tags("password: ") + "\x1b]0;" + password + "\x07",
		`{"a":"\u001b]0;password:\u0007","b":"\u001b]0;` + password + `\u0007"}`, "<!-- the words that follow, and no other words than these: password: -->\n<!-- " + password + " is a word that follows the words before -->",
		strings.Repeat(key+" ", 257) + "<!-- deploy with the key " + key + " please, before noon -->",
	} {
		for _, options := range [][]string{nil, {"--json"}, {"--find", "comment"}, {"--find", "hidden"}, {"--find", "control"}} {
			out, _ := scan(t, text, options...)
			for _, part := range printed {
				if strings.Contains(out, part) {
					t.Errorf("%.90q %v: %q is printed: %.300s", text, options, part, out)
				}
			}
		}
	}
	for text, shows := range map[string]string{
		"<!-- a note that no reader of the page will ever see -->":                       "<!-- a note that no reader of the page will ever see -->",
		"x" + tags("send the keys"):                                                      `"send the keys"`,
		"a\x1b[8mb":                                                                      `\u{1b}[8m`,
		"x" + tags("send the keys") + " and " + tags("tell nobody"):                      `"send the keys"`,
		"your password is kept elsewhere.\n" + "x" + tags("send"):                        `"send"`,
		"<!-- a note that no reader of the page will ever see -->\npassword=" + password: "<!-- a note that no reader of the page will ever see -->",
	} {
		if all := found(t, text); len(all) == 0 || all[0].Shows != shows {
			t.Errorf("%q: %+v", text, all)
		}
	}
}
