package policy

import (
	"strings"
	"testing"
)

// withoutSieves compares every reading with every pattern, which is the definition.
func withoutSieves(p *Policy) *Policy {
	for i := range p.rules {
		for j := range p.rules[i].conditions {
			p.rules[i].conditions[j].sieve = nil
		}
	}
	return p
}

// sieved are policies with a long condition, each for a server on either system.
func sieved(t testing.TB, globs []string, home string) (with, without *Policy, long bool) {
	read := func() *Policy {
		var rules []ruleSource
		for i, a := range []Action{Deny, Allow} {
			rules = append(rules, toolRule(a, "read", arg("path", globs...)))
			rules[i].Index = i
		}
		rules = append(rules[:1], append([]ruleSource{toolRule(Prompt, "other")}, rules[1:]...)...)
		rules[1].Index, rules[2].Index = 1, 2
		rules[2].patterns = []string{"read", "look"}
		rules[0].patterns = []string{"read"}
		p, errs := compileSources(rules, Options{Home: home})
		if len(errs) > 0 {
			t.Skip(errs)
		}
		return p
	}
	with, without = read(), read()
	withoutSieves(without)
	withoutSieves(without.forSystem(Windows))
	return with, without, with.rules[0].conditions[0].sieve != nil
}

var sieveGlobs = []string{
	"**/.ssh", "**/.ssh/**", "**/.env", "~/projects/**", "~", "${cwd}/x/**", "true", "C:\\Users\\**", "https://h.example/**", "/etc/**", "/a", "*.pem", "**/*id?rsa*",
	"src/**", "file:///p/%2a**", "{\"a\":*", "[**", "make test *", "/usr/bin/**", "**/É/**", "x", "**",
}

// A sieve changes no answer: whatever the patterns and the value are, on either system, whether
// the folder is known or not.
func FuzzSieve(f *testing.F) {
	for _, value := range []string{"/home/u/.ssh/id", "~/projects/a/../.ssh", "../.env", "yes", `c:\users\x`, "HTTPS://h.example:443/a", "/private/etc/x", "/a/", "id_rsa.pem", "%2e%2e/x",
		"file:///p/*", `{"a": ["/etc/x"]}`, "make test x", "/bin/sh", "/e\u0301/É/x", "", "x", "/proc/self/root/etc"} {
		f.Add(strings.Join(sieveGlobs, "\n"), value, "/home/u/projects/x")
		f.Add(strings.Join(sieveGlobs[:len(sieveGlobs)-2], "\n"), value, "")
	}
	f.Fuzz(func(t *testing.T, globs, value, cwd string) {
		all := strings.Split(globs, "\n")
		if len(all) > manyPatterns || len(globs)+len(value) > 1<<12 {
			return
		}
		with, without, _ := sieved(t, all, "/home/u")
		for _, os := range []string{"", Windows} {
			for _, tool := range []string{"read", "look"} {
				c := toolCall(tool, `{"path":`+jsonText(strings.ToValidUTF8(value, "?"))+`}`)
				c.Cwd, c.OS = cwd, os
				got, want := with.Decide(c), without.Decide(c)
				if got.Action != want.Action || got.Reading != want.Reading || got.Reason != want.Reason || (got.Rule == nil) != (want.Rule == nil) || got.Rule != nil && got.Rule.Index != want.Rule.Index {
					t.Fatalf("%q of %q on %q in %q: %+v, without sieves %+v", value, all, os, cwd, got, want)
				}
			}
		}
	})
}

// Only long conditions have a sieve, and patterns that one cannot be sorted by are always compared.
func TestSieve(t *testing.T) {
	if _, _, long := sieved(t, sieveGlobs[:fewPatterns-1], "/home/u"); long {
		t.Error("a short condition has one")
	}
	with, _, long := sieved(t, sieveGlobs, "/home/u")
	if !long || with.Decide(toolCall("read", `{"path":"/x/.ssh"}`)).Action != Deny {
		t.Fatal("a long condition has none, or finds nothing")
	}
	dir := toolCall("read", `{"path":"./"}`)
	dir.Cwd = "/y/ab"
	if dirs, _, _ := sieved(t, append([]string{"/*/*ab/**"}, sieveGlobs[:len(sieveGlobs)-2]...), "/home/u"); dirs.Decide(dir).Rule == nil {
		t.Error("a folder is not found by the slash at its end")
	}
	c := with.rules[0].conditions[0]
	for i, p := range c.sieve.patterns {
		if p == nil || c.sieve.always[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		switch text := p.asWritten.glob.String(); text {
		case "~", "${cwd}/x/**", "true", "/a", "file:///p/%2a**", "{\"a\":*", "[**", "x", "**", "/p/*":
		default:
			t.Errorf("%q is always compared", text)
		}
	}
}
