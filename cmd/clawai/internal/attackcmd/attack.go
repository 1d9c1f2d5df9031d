// Package attackcmd implements "clawai attack", which tries built-in attacks against a policy.
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

// attack is one attack from a file: the messages of a hostile server, the actions of its client,
// and the texts that prove success. All texts and JSON are in the form in which they are sent.
type attack struct {
	Name string `toml:"name"`
	Says string `toml:"says"` // description for people

	// The next fields are the server's part. The server answers the first call with one of Text,
	// Result and Error.
	Instructions string `toml:"instructions"`
	// Lists has JSON arrays of tools. The n-th result of tools/list has the harmless tool and the
	// tools of the n-th array.
	Lists []string `toml:"lists"`
	// Before has messages that the server sends before its answer. A message with an id is a
	// request, and the server waits for the answer.
	Before []string `toml:"before"`
	Text   string   `toml:"text"`
	Result string   `toml:"result"`
	Error  string   `toml:"error"`

	// The next fields are the client's part. The client first makes a harmless call that the policy
	// allows (see carrier). Then it acts like a model that believes the server.
	Sends string `toml:"sends"` // text of an extra argument of the first call
	Call  string `toml:"call"`  // params of a second call
	Back  bool   `toml:"back"`  // the second call has the first result as an extra argument

	Reached []string `toml:"reached"` // the attack succeeds if the model receives one of these texts
	Out     []string `toml:"out"`     // the attack succeeds if the server receives one of these texts
}

//go:embed attacks/*.toml
var files embed.FS

// loadAttacks returns all built-in attacks, sorted by the names of their files.
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

// carrier is a harmless call. The attack is in the server's answer, so the policy must allow the
// call.
type carrier struct{ tool, args string }

// carriers are calls to widely used servers. HOME is a placeholder for the owner's home folder.
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

// chooseCarrier returns the first carrier that the policy allows, or else the first that the policy
// asks about. The carriers are the ones in the list above and, after them, the tools that an allow
// rule or a rule that asks names exactly. If the policy denies all these calls, chooseCarrier
// returns false.
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

// callParams returns the params of the carrier's call. If the text in the parameter more is not
// empty, the call gets an extra argument with this text.
func (c carrier) callParams(more string) json.RawMessage {
	args := map[string]any{}
	_ = json.Unmarshal([]byte(c.args), &args) // our own JSON, so it is valid
	if more != "" {
		args["note"] = more
	}
	return marshalJSON(map[string]any{"name": c.tool, "arguments": args})
}

// marshalJSON encodes a value that can always be encoded.
func marshalJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps, lists and strings can always be encoded
	}
	return b
}
