//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/scripted"
)

const flowRules = `
[[rule]]
action = "deny"
server = "mail"
tool = "note"
after = ["untrusted"]
description = "No mail after strangers"
` + allowAll + `
[server.web]
public_source = true
secret_data = false
public_sink = false
dangerous_writes = false

[server.mail]
public_source = false
secret_data = false
public_sink = false
dangerous_writes = false

[server.post]
public_source = false
secret_data = false
public_sink = true
dangerous_writes = false

[flow]
level = "strict"
`

// TestAgentFlow: what an agent has read through one server counts at the proxies of others, by
// a rule and by the level, in that session of the client and in no other, with a hook and
// without one.
func TestAgentFlow(t *testing.T) {
	for _, a := range agents {
		for _, hooks := range []bool{true, false} {
			t.Run(a.id+" "+map[bool]string{true: "with a hook", false: "without a hook"}[hooks], func(t *testing.T) {
				t.Parallel()
				var told []string
				model := &models{after: func(_ int, answer string) { told = append(told, answer) }}
				s := flowSite(t, a, serve(t, model))
				if !hooks {
					s.must(filepath.Join(s.bin, "clawai"), "unwrap", "--hooks", a.id, "--yes")
				}
				for _, session := range []string{"one", "two"} {
					told = nil
					model.begin(s.first(), s.note("mail", session+" a"), s.note("post", session+" b"), s.note("web", session+" c"), s.note("mail", session+" d"), s.note("post", session+" e"))
					s.play()
					s.told(told[1:], "noted "+session+" a", "noted "+session+" b", "noted "+session+" c", "No mail after strangers", "write where others read after reading web note")
				}
				if got := string(s.read("noted")); got != "one a\none b\none c\ntwo a\ntwo b\ntwo c\n" {
					t.Errorf("noted %q", got)
				}
				s.must(clawai, "log", "verify")
			})
		}
	}
}

// TestAgentCleared: a client that is cleared and keeps its servers begins anew where its hook says
// so, at the servers that read before as well; and keeps all that was seen where there is none.
func TestAgentCleared(t *testing.T) {
	for _, hooks := range []bool{true, false} {
		t.Run(map[bool]string{true: "with a hook", false: "without a hook"}[hooks], func(t *testing.T) {
			t.Parallel()
			agentCleared(t, hooks)
		})
	}
}

func agentCleared(t *testing.T, hooks bool) {
	var told []string
	model := &models{after: func(_ int, answer string) { told = append(told, answer) }}
	a := claude
	a.command = append(slices.DeleteFunc(slices.Clone(a.command), func(word string) bool { return word == "go on" }),
		"--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	s := flowSite(t, a, serve(t, model))
	if !hooks {
		s.must(filepath.Join(s.bin, "clawai"), "unwrap", "--hooks", a.id, "--yes")
	}
	program, err := filepath.Abs(s.command[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, s.command[1:]...)
	cmd.Dir, cmd.Env = s.projects(), s.env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	cleared := false
	says := func(words string) {
		fmt.Fprintf(in, `{"type":"user","message":{"role":"user","content":%q}}`+"\n", words)
		for lines.Scan() {
			cleared = cleared || strings.Contains(lines.Text(), `"conversation_reset"`)
			if strings.Contains(lines.Text(), `"type":"result"`) {
				return
			}
		}
		t.Errorf("it ended after %q: %v", words, lines.Err())
	}
	model.begin(s.first(), s.note("web", "a"), s.note("mail", "b"), s.note("post", "c"))
	says("go on")
	says("/clear")
	model.begin(s.first(), s.note("mail", "d"), s.note("post", "e"), s.note("web", "f"), s.note("mail", "g"), s.note("post", "h"))
	says("go on")
	_ = in.Close()
	if err := cmd.Wait(); err != nil || !cleared || len(told) != 10 {
		t.Fatalf("%v, cleared: %v, %q", err, cleared, told)
	}
	const rule, level = "No mail after strangers", "write where others read after reading web note"
	s.told(told[1:4], "noted a", rule, level)
	if hooks {
		s.told(told[5:], "noted d", "noted e", "noted f", rule, level)
	} else {
		s.told(told[5:], rule, level, "noted f", rule, level)
	}
	log := s.must(clawai, "log", "--json")
	if strings.Contains(log, "cleared: what was seen and allowed before counts no more") != hooks {
		t.Errorf("recorded: %s", log)
	}
	s.must(clawai, "log", "verify")
}

// flowSite has three servers that write down what they are told, wrapped.
func flowSite(t *testing.T, a agent, url string) agentSite {
	t.Helper()
	s := newAgentSite(t, a, url, flowRules)
	s.servers("web", "mail", "post")
	s.must(filepath.Join(s.bin, "clawai"), "wrap", "web", "mail", "post", "--yes")
	return s
}

// servers writes some into the client's file that write down what they are told.
func (s *agentSite) servers(names ...string) {
	t := s.t
	t.Helper()
	server, err := filepath.Abs("note-server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	servers := object{}
	for _, name := range names {
		servers[name] = object{"command": "node", "args": []string{server, s.path("noted")}}
	}
	switch s.id {
	case "claude-code":
		s.write(".claude.json", string(asJSON(t, object{"mcpServers": servers})))
	case "gemini":
		s.write(".gemini/settings.json", strings.Replace(string(s.read(".gemini/settings.json")), "{", `{"mcpServers": `+string(asJSON(t, servers))+",", 1))
	case "codex":
		text := string(s.read(".codex/config.toml"))
		for name := range servers {
			text += "[mcp_servers." + name + "]\ncommand = \"node\"\nargs = " + string(asJSON(t, []string{server, s.path("noted")})) + "\n"
		}
		s.write(".codex/config.toml", text)
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// models are scripted models, one after the other at one address.
type models struct {
	before func(n int)
	after  func(n int, answer string)
	now    atomic.Pointer[scripted.Model]
	lacks  atomic.Pointer[[]string]       // the servers' tools that the turns call, until the client has told the model of all
	child  atomic.Pointer[scripted.Model] // of an agent that the agent has started
	helper string                         // the tool by which it did
}

// begin has these turns asked for next. A client asks its model before it knows what its servers have, so the first turn,
// which does nothing, comes again until the client tells the model of all tools that the turns call.
func (m *models) begin(turns ...scripted.Turn) {
	var tools []string
	for _, turn := range turns {
		if strings.HasPrefix(turn.Tool, "mcp_") {
			tools = append(tools, turn.Tool)
		}
	}
	m.lacks.Store(&tools)
	model := &scripted.Model{Turns: turns}
	again, end := 0, time.Now().Add(patience)
	model.Before = func(n int) {
		if n == again+1 && len(*m.lacks.Load()) > 0 && time.Now().Before(end) {
			model.Turns = slices.Insert(model.Turns, n, model.Turns[0])
			again++
		} else if m.before != nil {
			m.before(max(n-again, 0))
		}
	}
	model.After = func(n int, answer string) {
		if m.after != nil && (n == 0 || n > again) {
			m.after(max(n-again, 0), answer)
		}
	}
	m.now.Store(model)
}

func (m *models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if lacks := m.lacks.Load(); lacks != nil && !slices.ContainsFunc(*lacks, func(tool string) bool { return !tells(string(body), tool) }) {
		m.lacks.Store(new([]string))
	}
	model := m.now.Load()
	if child := m.child.Load(); child != nil && m.ofChild(body) {
		model = child
	}
	model.ServeHTTP(w, r)
}

// tells says that a request tells the model of a server's tool, by its whole name or by that of a group and its own.
func tells(body, tool string) bool {
	server, name, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	return strings.Contains(body, tool) || strings.Contains(body, `"mcp__`+server+`"`) && strings.Contains(body, `"name":"`+name+`"`)
}

// ofChild says that a conversation begins with an errand: that of the one who gave it has the
// call that did.
func (m *models) ofChild(body []byte) bool {
	var request struct{ Messages, Input, Contents json.RawMessage }
	_ = json.Unmarshal(body, &request) // the model says what is wrong with it
	conversation := string(request.Messages) + string(request.Input) + string(request.Contents)
	return strings.Contains(conversation, errand) && !regexp.MustCompile(`"name": ?"`+m.helper+`"`).MatchString(conversation)
}

// first is a call that does nothing, while servers come up.
func (s *agentSite) first() scripted.Turn {
	return scripted.Turn{Tool: s.shell, Args: object{s.argument: "true"}}
}

func (s *agentSite) note(server, words string) scripted.Turn {
	name := "mcp__" + server + "__note"
	if s.id == "gemini" {
		name = "mcp_" + server + "_note"
	}
	return scripted.Turn{Tool: name, Args: object{"words": words}}
}

func (s *agentSite) told(told []string, want ...string) {
	s.t.Helper()
	if len(told) != len(want) {
		s.t.Fatalf("%d answers: %q", len(told), told)
	}
	for i := range want {
		if !strings.Contains(told[i], want[i]) {
			s.t.Errorf("call %d: the agent was told %s, want %q", i, told[i], want[i])
		}
	}
}
