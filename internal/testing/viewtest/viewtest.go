// Package viewtest contains hostile questions. They are about calls with texts that hide, move or
// imitate something, or that try to answer in place of the person. Every screen that asks a person
// must show all these questions, and its tests check the result with this package.
//
// The expected texts are written by hand. They use no code of the packages that escape text. Do not
// change them to make a test pass.
package viewtest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// Case is one question, with the texts that a screen must show for it.
type Case struct {
	Name      string        // name of the case; each case has a different one
	Kind      string        // kind of the hostile text: "sequence", "markup", ...
	Technique string        // the attack, and where it is described
	Calls     []policy.Call // the calls of the question, at least one
	Server    string        // the server's name as the screen must show it, in any place
	Tools     []string      // the names of tools, prompts or methods as the screen must show them, in any place
	Shows     []string      // texts that the screen must show in this order; spaces and line ends are ignored
	Never     []string      // texts that must not be at the start of a line on the screen
}

// Cases returns all cases. There are at least a hundred.
func Cases() []Case {
	return slices.Concat(
		values("sequence", sequences), values("control", controls), values("direction", directions),
		values("invisible", invisible), values("alike", alike), values("long", long), values("form", forms),
		values("markup", markup), values("plain", plain),
		of("structure", structures()), of("name", names()), of("several", several()), of("other", others()),
		of("beside", beside()),
	)
}

// row is a case with a hostile text in the value of one argument.
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

// argument returns a case with this JSON value as an argument, between two harmless arguments.
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

// quote returns s as a JSON string with as few escapes as possible.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // cannot happen, because every string can be encoded
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

func all(s ...string) []string { return s }
