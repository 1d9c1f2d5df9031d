package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	genName   = rapid.SampledFrom([]string{"read", "write_file", "a/b", "Read", "x?", "re*"})
	genServer = rapid.SampledFrom([]string{"", "fs", "git"})
	genValue  = rapid.SampledFrom([]string{`"/p/a"`, `"/p/a b"`, `"/p/../q"`, `"~/x"`, `"/home/user/x"`, `"./a"`, `".env"`, `"/P/A"`, `"%2e%2e/x"`, `"100%"`,
		`"C:\\Users\\me"`, `"file:///p/a"`, `"https://Example.com/a?b"`, `"https://example.com/a"`, `"plain text"`, `"line\nbreak"`, `"é"`, `"e\u0301"`, `"[x]{y}"`, `"a*"`, `""`,
		`5`, `1e2`, `5.0`, `-1`, `true`, `null`, `[]`, `["/p/a"]`, `{"a":"x"}`, `"/p/a/"`, `"\u0000"`, `"\u200b/x"`})
	genGlob = rapid.SampledFrom([]string{"*", "**", "/p/**", "/p/a", "~/**", "**/a", "re*", "?*", "fs", "100*", "file:///**", `C:\**`, "https://**"})
)

// genPolicy writes policies whose layout varies as much as their rules.
var genPolicy = rapid.Custom(func(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(1, 5).Draw(t, "rules") {
		b.WriteString(rapid.SampledFrom([]string{"", "# comment\n", "\n# one\n# two\n", "\n"}).Draw(t, "above"))
		b.WriteString(rapid.SampledFrom([]string{"", "  "}).Draw(t, "indent"))
		action := rapid.SampledFrom([]string{"prompt", "prompt", "allow", "deny"}).Draw(t, "action")
		subject := rapid.SampledFrom([]string{"tool", "tool", "tool", "resource", "prompt", "sampling", "method"}).Draw(t, "subject")
		fmt.Fprintf(&b, "[[rule]]\n\taction = '%s'\n%s = '%s'\n", action, subject, genGlob.Draw(t, "name"))
		if rapid.IntRange(0, 3).Draw(t, "server") == 0 {
			fmt.Fprintf(&b, "server = '%s' # of rule %d\n", rapid.SampledFrom([]string{"fs", "*"}).Draw(t, "glob"), i)
		}
		if subject == "tool" || subject == "prompt" {
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"path", "Path", "n", "o.a"}), 0, 2, rapid.ID[string]).Draw(t, "args") {
				fmt.Fprintf(&b, "args.%s = ['%s', '%s']\n", name, genGlob.Draw(t, "arg"), genGlob.Draw(t, "arg"))
			}
		}
	}
	src := b.String()
	if rapid.Bool().Draw(t, "CRLF") {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	return strings.TrimRight(src, rapid.SampledFrom([]string{"", "\r\n"}).Draw(t, "tail"))
})

var genCall = rapid.Custom(func(t *rapid.T) *Call {
	c := &Call{Server: genServer.Draw(t, "server"), Subject: rapid.SampledFrom([]Subject{ToolSubject, ToolSubject, ToolSubject, ResourceSubject, PromptSubject, SamplingSubject, MethodSubject}).Draw(t, "subject")}
	c.Names = rapid.SliceOfN(genName, 1, 2).Draw(t, "names")
	if c.Subject != ToolSubject && c.Subject != PromptSubject {
		return c
	}
	c.Names = c.Names[:1]
	var members []string
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"path", "n", "o", "more"}), 0, 3, rapid.ID[string]).Draw(t, "args") {
		members = append(members, fmt.Sprintf("%q: %s", name, genValue.Draw(t, name)))
	}
	c.Args = []byte("{" + strings.Join(members, ", ") + "}")
	return c
})

// What "always" writes allows the call that was asked about and opens
// nothing that does not have the same subject, server and arguments; every byte
// of the policy is still there.
func TestAlways(t *testing.T) {
	written := 0
	rapid.Check(t, func(t *rapid.T) {
		src := genPolicy.Draw(t, "policy")
		for _, call := range rapid.SliceOfN(genCall, 1, 12).Draw(t, "calls") {
			if checkAlways(t, src, call) {
				written++
			}
		}
	})
	if written == 0 {
		t.Error("no rule was ever written")
	}
}

// checkAlways answers "always" for one call; false when no rule asked or none
// could be written.
func checkAlways(t *rapid.T, src string, call *Call) bool {
	before, err := Parse("p.toml", []byte(src), Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	d := before.Decide(call)
	if d.Action != Prompt {
		return false
	}
	text, err := before.Narrow(*d.Rule, call)
	if err != nil {
		return false
	}
	out, err := InsertAbove([]byte(src), *d.Rule, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !holdsInOrder(out, []byte(src)) {
		t.Fatalf("%q does not hold %q around one piece", out, src)
	}
	after, err := Parse("p.toml", out, Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	// A rule above that may allow it, such as one about a server whose name is
	// not known, speaks first.
	if got := after.Decide(call); got.Action != Allow || got.Rule.Index > d.Rule.Index {
		t.Fatalf("%s: %+v after\n%s", call.Args, got, out)
	}
	other := genCall.Draw(t, "other")
	if old, now := before.Decide(other), after.Decide(other); now.Action > old.Action && !sameCall(call, other) {
		t.Fatalf("%s %s opens to %+v, was %+v, by\n%s", other.Names, other.Args, now, old, text)
	}
	return true
}

// holdsInOrder says whether whole is part with one piece put in.
func holdsInOrder(whole, part []byte) bool {
	n := 0
	for n < len(part) && whole[n] == part[n] {
		n++
	}
	for ; n >= 0; n-- {
		if bytes.HasSuffix(whole, part[n:]) {
			return true
		}
	}
	return false
}

// sameCall says whether b has what a has; 5.0 is 5. It may have more.
func sameCall(a, b *Call) bool {
	if a.Subject != b.Subject || !slices.Contains(b.Names, a.Names[0]) || a.Server != "" && a.Server != b.Server {
		return false
	}
	for _, member := range strings.Split(strings.Trim(strings.ReplaceAll(string(a.Args), "5.0", "5"), "{}"), ", ") {
		if !strings.Contains(string(b.Args), member) {
			return false
		}
	}
	return true
}
