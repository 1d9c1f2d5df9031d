// Package viewtest holds hostile questions: calls whose texts try to hide, to
// move, to imitate something, or to answer instead of the person. Every way of
// asking shows each of them, and the tests check its screen.
//
// The expectations are written by hand and share no code with the escaping
// under test. Do not change them to make a way of asking pass.
package viewtest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// Case is one question.
type Case struct {
	Name      string        // unique
	Kind      string        // kind of hostile content: "sequence", "markup", ...
	Technique string        // the attack, and its source
	Calls     []policy.Call // the calls in question, at least one
	Server    string        // must be shown like this, anywhere
	Tools     []string      // must be shown like this, anywhere: tool, prompt or method names
	Shows     []string      // texts that must be shown in this order; blanks and line ends are ignored
	Never     []string      // texts that must not begin a line of the screen
}

// Cases returns all cases, at least a hundred.
func Cases() []Case {
	return slices.Concat(
		values("sequence", sequences), values("control", controls), values("direction", directions),
		values("invisible", invisible), values("alike", alike), values("long", long), values("form", forms),
		values("markup", markup), values("plain", plain),
		of("structure", structures()), of("name", names()), of("several", several()), of("other", others()),
		of("beside", beside()),
	)
}

// row is a case whose hostile text is the value of one argument.
type row struct {
	name, technique, value string
	shows, never           []string
}

func of(kind string, cases []Case) []Case {
	for i := range cases {
		cases[i].Kind = kind
	}
	return cases
}

func values(kind string, rows []row) []Case {
	cases := make([]Case, len(rows))
	for i, r := range rows {
		cases[i] = argument(r.name, r.technique, quote(r.value), r.shows...)
		cases[i].Never = r.never
	}
	return of(kind, cases)
}

// argument returns a case with a JSON value between two harmless ones.
func argument(name, technique, value string, shows ...string) Case {
	if len(shows) == 0 || !strings.HasPrefix(shows[0], "value") {
		shows = slices.Insert(shows, 0, "value")
	}
	return Case{
		Name: name, Technique: technique,
		Calls:  []policy.Call{tool("annotate", `{"before":"first","value":`+value+`,"last":"end"}`)},
		Server: "files", Tools: []string{"annotate"},
		Shows: slices.Concat([]string{"before", "first"}, shows, []string{"last", "end"}),
	}
}

func tool(name, args string) policy.Call {
	return policy.Call{
		Server: "files", Method: "tools/call", Subject: policy.ToolSubject,
		Names: []string{name}, Args: []byte(args),
	}
}

// quote returns s as JSON with as few escapes as possible.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

func all(s ...string) []string { return s }
