// Package viewtest is the territory a question stands in: calls whose texts want
// to hide, to move, to look like something else, or to answer in the person's
// place. Every way of asking shows each of them and has its screen checked.
//
// The expectations are written out by hand, apart from the code that makes text
// harmless. A way of asking must not change them to pass.
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
	Kind      string        // what it is hostile with: "sequence", "markup", ...
	Technique string        // what it tries, and where that is known from
	Calls     []policy.Call // what is asked about, at least one
	Server    string        // as it must show, anywhere
	Tools     []string      // as they must show, anywhere: tool, prompt or method names
	Shows     []string      // texts that must show, in this order; blanks and line ends count for nothing
	Never     []string      // texts that no line of the screen may begin with
}

// Cases are all of them, at least a hundred.
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

// argument is a case with a JSON value between two harmless ones.
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

// quote is s as JSON, with nothing escaped that need not be.
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
