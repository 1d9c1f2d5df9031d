package upstream

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestCheckID(t *testing.T) {
	for id, good := range map[string]bool{
		"fs": true, "a": true, "9": true, "file-system_2": true, "a-": true, strings.Repeat("a", 20): true,
		"": false, strings.Repeat("a", 21): false, "A": false, "a b": false, "ä": false, "a.b": false,
		"_a": false, "-a": false, "a_": false, "a__b": false,
	} {
		if err := CheckID(id); (err == nil) != good {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// clients take such names, and no others.
var clients = regexp.MustCompile(`^[A-Za-z0-9_-]{1,50}$`)

// parts are what the names below are made of: ordinary ones, and what should mislead.
var parts = strings.Fields("read write file _ __ - . / create issue GitHub ä \u202e 0 search_repositories_by_topic_and_language")

func TestNamesOfShuffledServers(t *testing.T) {
	ids := []string{"fs", "git-hub", "a_b", "a", "b", "0"}
	prefixes := map[string]string{"fs": "", "a": "short"} // of the others, the id
	for _, id := range ids {
		if _, set := prefixes[id]; !set {
			prefixes[id] = id
		}
	}
	type tool struct{ id, name string }
	var tools []tool
	r := rand.New(rand.NewPCG(1, 2))
	known := map[tool]bool{}
	for range 300 {
		one := tool{id: ids[r.IntN(len(ids))]}
		for range 1 + r.IntN(6) {
			one.name += parts[r.IntN(len(parts))]
		}
		if !known[one] {
			tools = append(tools, one)
		}
		known[one] = true
	}
	first := map[tool]string{}
	for range 100 {
		r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		whose := map[string]tool{}
		for _, one := range tools {
			name := AdvertisedName(one.id, prefixes[one.id], one.name)
			if other, taken := whose[name]; taken {
				t.Fatalf("%q is of %q and of %q", name, one, other)
			}
			whose[name] = one
			if first[one] == "" {
				first[one] = name
			}
			if first[one] != name {
				t.Fatalf("%q was %q and is %q", one, first[one], name)
			}
		}
	}
	for one, name := range first {
		if !clients.MatchString(name) {
			t.Errorf("%q: clients do not take %q", one, name)
		}
		if prefixes[one.id] == "" {
			if strings.Contains(name, Separator) || clients.MatchString(one.name) && !strings.Contains(one.name, Separator) && name != one.name {
				t.Errorf("%q became %q", one.name, name)
			}
			continue
		}
		prefix, rest, ok := SplitName(name)
		if !ok || prefix != prefixes[one.id] {
			t.Errorf("%q splits into %q and %q", name, prefix, rest)
		}
		if plain := prefixes[one.id] + Separator + one.name; clients.MatchString(plain) && (name != plain || rest != one.name) {
			t.Errorf("%q became %q, of which %q is left", plain, name, rest)
		}
	}
}

// A prefix is for the eye: two servers with the same prefix would still differ.
func TestCutNamesKeepServersApart(t *testing.T) {
	long := strings.Repeat("x", 60)
	if a, b := AdvertisedName("a", "p", long), AdvertisedName("b", "p", long); a == b || len(a) != Budget {
		t.Errorf("%q and %q", a, b)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("fs__read")
	f.Add("a___b")
	f.Add("__x")
	f.Add("a__")
	f.Fuzz(func(t *testing.T, advertised string) {
		prefix, name, ok := SplitName(advertised)
		if !ok {
			return
		}
		if prefix+Separator+name != advertised || CheckID(prefix) != nil || name == "" {
			t.Errorf("%q splits into %q and %q", advertised, prefix, name)
		}
	})
}

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": "1", "B_2": "$A", "EMPTY": ""}
	lookup := func(name string) (string, bool) { value, ok := vars[name]; return value, ok }
	for text, want := range map[string]string{
		"": "", "plain": "plain", "$A": "1", "x${A}y": "x1y", "$A$A": "11", "$B_2": "$A", "${EMPTY}": "", "$$A": "$A", "$$$A": "$1", "a$$": "a$",
		"$C": "! the variable C is not set", "${C}x": "! the variable C is not set", "${A": "! \"${A\" has no } behind its name; a dollar is written $$",
		"$": "! no name follows a $; a dollar is written $$", "$1": "! no name follows a $; a dollar is written $$", "${}": "! no name follows a $; a dollar is written $$",
		"${A-x}": "! \"${A\" has no } behind its name; a dollar is written $$",
	} {
		got, err := ExpandVariables(text, lookup)
		if err != nil {
			got = fmt.Sprint("! ", err)
		}
		if got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// One pass: what a value holds is never read as a reference.
func FuzzExpand(f *testing.F) {
	f.Add("a$X${X}$$", "$Y")
	f.Fuzz(func(t *testing.T, text, value string) {
		asked := 0
		got, err := ExpandVariables(text, func(string) (string, bool) { asked++; return value, true })
		if err != nil {
			return
		}
		if asked == 0 && got != strings.ReplaceAll(text, "$$", "$") {
			t.Errorf("%q became %q", text, got)
		}
		if empty, _ := ExpandVariables(text, func(string) (string, bool) { return "", true }); len(got) != len(empty)+asked*len(value) {
			t.Errorf("%q with %q became %q", text, value, got)
		}
	})
}

func TestCutName(t *testing.T) {
	for text, want := range map[string][2]string{
		"tickets=https://h.example/mcp": {"tickets", "https://h.example/mcp"},
		"https://h.example/mcp?a=b":     {"", "https://h.example/mcp?a=b"},
		"tickets=/home/me/a=b":          {"tickets", "/home/me/a=b"},
		"/home/me/a=b":                  {"", "/home/me/a=b"},
		"./a=b":                         {"", "./a=b"},
		"=b":                            {"", "=b"},
		"headers":                       {"", "headers"},
		"env:NAME":                      {"", "env:NAME"},
	} {
		if name, rest, named := CutName(text); name != want[0] || rest != want[1] || named != (name != "") {
			t.Errorf("%s: %q, %q, %v", text, name, rest, named)
		}
	}
}
