package hook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
)

const flowRules = `
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

// tell runs the hook on a prompt as the client reports it, and gives what is recorded.
func tell(t *testing.T, state, id, payload string, on bool) (text string) {
	t.Helper()
	p, r := ofFlow(t), &record{}
	o := options(p, id, r)
	open := o.Open
	o.Heard = func(session, said string) error { return flow.HearIn(state, session, said) }
	o.Open = func(project string, req *client.Request, ask hook.Dialog) (*hook.Door, error) {
		door, err := open(project, req, ask)
		if door != nil {
			door.Flow = on
		}
		return door, err
	}
	if a := hook.Run(t.Context(), []byte(payload), o); a.Code != 0 || len(a.Stdout) > 0 && id != "cursor" || len(a.Stderr) > 0 {
		t.Errorf("%s: %d %s %s", id, a.Code, a.Stdout, a.Stderr)
	}
	for _, ev := range r.events {
		text += fmt.Sprintf("%+v", ev)
	}
	if !strings.Contains(text, client.PromptMethod) || strings.Contains(text, "bob@example.org") {
		t.Errorf("%s: recorded %s", id, text)
	}
	return text
}

func ofFlow(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(flowRules), policy.Options{})
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
	p := ofFlow(t)
	none := func() *flow.Known { return nil }
	if err := s.NewServer("web", "", none, p).Add([]gate.Label{{Kind: "untrusted", Source: "web fetch"}}, []byte(`"a page"`)); err != nil {
		t.Fatal(err)
	}
	action, _, _ := s.NewServer("mail", "", none, p).Judge([]policy.Call{{
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
	text := tell(t, state, "claude-code", `{"session_id":"s","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"Write to bob@example.org"}`, true)
	if !strings.Contains(text, "endorse nothing") {
		t.Errorf("recorded %s", text)
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
		one, err := flow.OfHook(state, "/", "")
		if err != nil {
			t.Fatal(err)
		}
		what, err := one.Seen()
		if one.Close(); err != nil || strings.Join(what.LabelWords(), " ") != want {
			t.Errorf("%s: %v, %v", key, what.LabelWords(), err)
		}
	}
}
