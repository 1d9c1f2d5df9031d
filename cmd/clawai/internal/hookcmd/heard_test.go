package hookcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/flow"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/hook"
	"github.com/clawai/clawai/internal/hook/client"
	"github.com/clawai/clawai/internal/hook/program"
	"github.com/clawai/clawai/policy"
)

const rules = `
[server.web]
public_source = true
[server.mail]
dangerous_writes = false
[server.mail.tool."send"]
public_sink = true
decides = ["to"]
[flow]
level = "ask"
`

// kept is a record of one event, of which the text is looked at.
type kept struct{ text string }

func (k *kept) Record(events ...*event.Event) error {
	for _, ev := range events {
		ev.Record = "r-1"
		k.text += fmt.Sprintf("%+v", *ev)
	}
	return nil
}

// tell runs the hook on a prompt as the client reports it.
func tell(t *testing.T, state, id, payload string, on bool) *kept {
	t.Helper()
	line, err := program.Parse([]string{id, "--state", state})
	if err != nil {
		t.Fatal(err)
	}
	k, o := &kept{}, line.Options("clawai test")
	o.Heard = func(session, said string) error { return heard(&line, session, said) }
	o.Open = func(_ string, _ *client.Request, ask hook.Dialog) (*hook.Door, error) {
		p := parsed(t)
		g, err := gate.New(gate.Options{Policy: p, Recorder: k, Approver: ask, Concluder: gate.None{}, Principals: gate.None{},
			Inspector: gate.None{}, Labels: gate.None{}, Limits: hook.Uncounted{}})
		if err != nil {
			return nil, err
		}
		return &hook.Door{Gate: g, Policy: p, Flow: on, Close: g.Close}, nil
	}
	if a := hook.Run(t.Context(), []byte(payload), o); a.Code != 0 || len(a.Stdout)+len(a.Stderr) > 0 {
		t.Errorf("%s: %d %s %s", id, a.Code, a.Stdout, a.Stderr)
	}
	if !strings.Contains(k.text, client.PromptMethod) || strings.Contains(k.text, "bob@example.org") {
		t.Errorf("%s: recorded %s", id, k.text)
	}
	return k
}

func parsed(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(rules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sends is what becomes of a mail to Bob at the proxy of a session that has read a page.
func sends(t *testing.T, state, session string) policy.Action {
	t.Helper()
	s := flow.New(state, []string{flow.IDKey(session)})
	defer s.Close()
	p := parsed(t)
	none := func() *flow.Known { return nil }
	if err := s.Server("web", "", none, p).Add([]gate.Label{{Kind: "untrusted", Source: "web fetch"}}, []byte(`"a page"`)); err != nil {
		t.Fatal(err)
	}
	action, _ := s.Server("mail", "", none, p).Judge([]policy.Call{{
		Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"send"}, Args: []byte(`{"to":"bob@example.org"}`),
	}})
	return action
}

// What a user types into a client endorses at the proxies of the session that the client
// names: where flow is on, and where it was not pasted.
func TestPromptsEndorse(t *testing.T) {
	const says = "Write to bob@example.org"
	payloads := map[string]string{
		"claude-code": `{"session_id":"s","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"%s"}`,
		"codex":       `{"session_id":"s","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"%s"}`,
		"gemini-cli":  `{"session_id":"s","cwd":"/","hook_event_name":"BeforeAgent","prompt":"%s"}`,
		"cursor":      `{"conversation_id":"s","generation_id":"g","hook_event_name":"beforeSubmitPrompt","prompt":"%s"}`,
	}
	for id, payload := range payloads {
		for name, c := range map[string]struct {
			says, session string
			off           bool
			want          policy.Action
		}{
			"said":               {says: says, session: "s", want: policy.Allow},
			"something else":     {says: "Write to carl@example.org", session: "s", want: policy.Prompt},
			"to another session": {says: says, session: "other", want: policy.Prompt},
			"as long as typed":   {says: says + strings.Repeat(".", 2<<10-len(says)), session: "s", want: policy.Allow},
			"longer":             {says: says + strings.Repeat(".", 2<<10-len(says)+1), session: "s", want: policy.Prompt},
			"off":                {says: says, session: "s", off: true, want: policy.Prompt},
		} {
			t.Run(id+" "+name, func(t *testing.T) {
				state := t.TempDir()
				tell(t, state, id, fmt.Sprintf(payload, c.says), !c.off)
				if _, err := os.Stat(filepath.Join(state, "flow")); c.off && !os.IsNotExist(err) {
					t.Errorf("off, and something is kept: %v", err)
				}
				if got := sends(t, state, c.session); got != c.want {
					t.Errorf("%v, want %v", got, c.want)
				}
			})
		}
	}
}

// A prompt whose words cannot be kept is no reason to stop the client; it endorses nothing,
// and the record says so.
func TestPromptsThatCannotBeKept(t *testing.T) {
	state := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := tell(t, state, "claude-code", `{"session_id":"s","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"Write to bob@example.org"}`, true)
	if !strings.Contains(k.text, "endorse nothing") {
		t.Errorf("recorded %s", k.text)
	}
}

// A hook without the session's name knows what the proxies of the same client have seen, and no
// other hook without one is of its session by that.
func TestSessionWithoutAName(t *testing.T) {
	own := flow.ClientKeys()
	if own == nil {
		t.Skip("clients cannot be told apart here")
	}
	t.Setenv("CLAWAI_SESSION", "of this hook alone")
	for key, want := range map[string]string{own[0]: "untrusted", flow.IDKey(""): ""} {
		state := t.TempDir()
		proxy := flow.New(state, []string{key})
		if err := proxy.Add([]flow.Seen{{Kind: "untrusted", Source: key}}); err != nil {
			t.Fatal(err)
		}
		proxy.Close()
		one, err := seen(state, "/", "")
		if err != nil {
			t.Fatal(err)
		}
		what, err := one.Seen()
		if one.Close(); err != nil || strings.Join(what.Words(), " ") != want {
			t.Errorf("%s: %v, %v", key, what.Words(), err)
		}
	}
}
