// Package attackcmd implements "clawai attack", which plays built-in attacks through a policy.
package attackcmd

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/policy"
)

// attack is one attack of a file: what a hostile server does, what its client then does, and
// the texts that prove its success. Texts and JSON are as on the wire.
type attack struct {
	Name string `toml:"name"`
	Says string `toml:"says"` // description for people

	// The server's part. Its answer to the first call is one of Text, Result and Error.
	Instructions string   `toml:"instructions"`
	Lists        []string `toml:"lists"`  // JSON arrays of tools: the n-th is added to the harmless tool in the n-th result of tools/list
	Before       []string `toml:"before"` // messages before the answer; one with an id is a request, whose answer is awaited
	Text         string   `toml:"text"`
	Result       string   `toml:"result"`
	Error        string   `toml:"error"`

	// The client's part: a call that every policy here allows, then the actions of a model that
	// believes the server.
	Sends string `toml:"sends"` // text in one more argument of the first call
	Call  string `toml:"call"`  // params of a second call
	Back  bool   `toml:"back"`  // the second call gets the first result as one more argument

	Reached []string `toml:"reached"` // texts whose arrival at the model is a success of the attack
	Out     []string `toml:"out"`     // texts whose arrival at the server is a success of the attack
}

//go:embed attacks/*.toml
var files embed.FS

// loadAttacks returns all built-in attacks, in the order of their files.
func loadAttacks() (all []attack, err error) {
	entries, err := files.ReadDir("attacks")
	if err != nil {
		return nil, err
	}
	for _, f := range entries {
		var one struct {
			Attack []attack `toml:"attack"`
		}
		src, err := files.ReadFile("attacks/" + f.Name())
		if err == nil {
			err = toml.NewDecoder(strings.NewReader(string(src))).DisallowUnknownFields().Decode(&one)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		all = append(all, one.Attack...)
	}
	return all, nil
}

// carrier is a harmless call, which gives the server a chance to answer.
type carrier struct{ tool, args string }

// carriers are calls of widely used servers; HOME stands for the owner's home.
var carriers = []carrier{
	{"read_text_file", `{"path":"HOME/projects/app/README.md"}`},
	{"git_log", `{"repo_path":"HOME/projects/app"}`},
	{"get_issue", `{"owner":"o","repo":"r","issue_number":1}`},
	{"query", `{"sql":"select 1"}`},
	{"read_query", `{"query":"select 1"}`},
	{"fetch", `{"url":"https://go.dev/doc"}`},
	{"query-docs", `{"libraryId":"/golang/go","query":"maps"}`},
	{"browser_snapshot", `{}`},
	{"take_snapshot", `{}`},
	{"run_command", `{"command":"git log"}`},
	{"slack_read_channel", `{"channel_id":"C0123456789"}`},
	{"read_graph", `{}`},
	{"sequentialthinking", `{"thought":"a","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`},
	{"get_current_time", `{"timezone":"Europe/Paris"}`},
	{"echo", `{"message":"a"}`},
	{"search", `{"query":"a"}`},
}

// chooseCarrier returns the first carrier that a policy allows, or else asks about. It also tries
// tools that the policy allows by name.
func chooseCarrier(p *policy.Policy, server, home string) (carrier, bool) {
	all := slices.Clone(carriers)
	for _, r := range p.Sources() {
		if r.Action != policy.Deny && r.Subject == policy.ToolSubject && !strings.ContainsAny(r.Names[0], "*?[{") {
			all = append(all, carrier{r.Names[0], `{}`})
		}
	}
	for _, want := range []policy.Action{policy.Allow, policy.Prompt} {
		for _, c := range all {
			c.args = strings.ReplaceAll(c.args, "HOME", home)
			call := policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{c.tool}, Args: []byte(c.args), Screened: true}
			if p.Decide(&call).Action == want {
				return c, true
			}
		}
	}
	return carrier{}, false
}

// callParams returns the params of a call of the carrier, with one more argument.
func (c carrier) callParams(more string) json.RawMessage {
	args := map[string]any{}
	_ = json.Unmarshal([]byte(c.args), &args) // our own JSON
	if more != "" {
		args["note"] = more
	}
	return marshalJSON(map[string]any{"name": c.tool, "arguments": args})
}

// marshalJSON encodes a value that can always be encoded.
func marshalJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen for maps, lists and strings
	}
	return b
}
