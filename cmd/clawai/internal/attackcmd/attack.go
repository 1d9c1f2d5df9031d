// Package attackcmd is "clawai attack": attacks that are shipped, played through a policy.
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

// attack is one file entry: what a hostile server does, what its client does then, and
// which texts tell that it came through. Texts and JSON are as they go over the wire.
type attack struct {
	Name string `toml:"name"`
	Says string `toml:"says"` // what it is, for people

	// The server's part. What it answers the first call with is one of three.
	Instructions string   `toml:"instructions"`
	Lists        []string `toml:"lists"`  // tools beside the harmless one, as JSON, of the first and later lists
	Before       []string `toml:"before"` // messages before the answer; one with an id is a request, and is waited for
	Text         string   `toml:"text"`
	Result       string   `toml:"result"`
	Error        string   `toml:"error"`

	// The client's part: a call that every policy here allows, and then what a model does
	// that believes the server.
	Sends string `toml:"sends"` // in one more argument of the first call
	Call  string `toml:"call"`  // the params of a second one
	Back  bool   `toml:"back"`  // the second one has what came back as one more argument

	Reached []string `toml:"reached"` // texts that came to the model
	Out     []string `toml:"out"`     // texts that came to the server
}

//go:embed attacks/*.toml
var files embed.FS

// loadAttacks gives all that are shipped, in the order of their files.
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

// carrier is a harmless call, so that something can come back.
type carrier struct{ tool, args string }

// carriers are calls of servers in wide use; HOME is the owner's.
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

// carrierOf gives the first of them that a policy lets through, or asks about; else a tool
// that it allows by its name.
func carrierOf(p *policy.Policy, server, home string) (carrier, bool) {
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

// callParams gives those of a call of the carrier, with one more argument.
func (c carrier) callParams(more string) json.RawMessage {
	args := map[string]any{}
	_ = json.Unmarshal([]byte(c.args), &args) // our own
	if more != "" {
		args["note"] = more
	}
	return marshalJSON(map[string]any{"name": c.tool, "arguments": args})
}

// marshalJSON writes what can be written.
func marshalJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps, lists and strings
	}
	return b
}
