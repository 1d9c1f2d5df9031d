package score

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
)

// modelTalk is an agent whose calls come from the replies of its model. The replies pass through
// clawai's proxy for the model's API. The imitated model asks for the calls of a trace, and the
// agent sends the results of the calls in its next requests.
type modelTalk struct {
	server       string
	near, far    *httptest.Server // near is clawai's proxy; far is the service of the model
	asks         call             // the call that the next reply contains
	conversation []any
}

func newModelTalk(server string, one *session.Session) (*modelTalk, error) {
	t := &modelTalk{server: server, conversation: []any{map[string]any{"role": "user", "content": "go on"}}}
	t.far = httptest.NewServer(http.HandlerFunc(t.reply))
	to, err := url.Parse(t.far.URL)
	if err != nil {
		t.far.Close()
		return nil, err
	}
	o := model.Options{
		Client: client.FindRow("claude-code"), Cwd: "/", Upstream: to, Secret: "secret", Transport: &http.Transport{DisableCompression: true},
		Gate: one.Session, Denies: one.Denies, Judge: true, All: true,
	}
	if labels := one.Labels(); labels != nil {
		o.Labels = labels
	}
	t.near = httptest.NewServer(model.NewServer(o))
	return t, nil
}

func (t *modelTalk) end() error {
	t.near.Close()
	t.far.Close()
	return nil
}

// toolName returns the name that Claude Code gives to the server's tool.
func (t *modelTalk) toolName() string { return "mcp__" + t.server + "__" + t.asks.Tool }

// reply handles a request to the imitated model. The reply asks for the call in the field asks.
func (t *modelTalk) reply(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "message", "role": "assistant", "content": []any{t.use(t.toolName())}})
}

func (t *modelTalk) use(name string) map[string]any {
	return map[string]any{"type": "tool_use", "id": t.id(), "name": name, "input": t.asks.Args}
}

func (t *modelTalk) id() string { return fmt.Sprintf("toolu_%d", len(t.conversation)) }

// call sends a reply of the model that asks for c. The result went is true if the agent would make
// the call. The agent's next request contains the result of the call. If clawai has denied the
// call, the request contains the client's error about an unknown tool instead.
func (t *modelTalk) call(c call, result string) (went bool, err error) {
	t.asks = c
	name, err := t.ask()
	if err != nil {
		return false, err
	}
	if went = name == t.toolName(); !went {
		if !strings.HasPrefix(name, "clawai_denied_") {
			return false, fmt.Errorf("the model's reply asks for %q", name)
		}
		result = "No such tool available: " + name
	}
	id := t.id()
	t.conversation = append(t.conversation, map[string]any{"role": "assistant", "content": []any{t.use(name)}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result}}})
	return went, nil
}

// ask sends the conversation. It returns the name of the tool that the reply asks for.
func (t *modelTalk) ask() (name string, err error) {
	request, err := json.Marshal(map[string]any{"model": "m", "messages": t.conversation})
	if err != nil {
		return "", err
	}
	resp, err := http.Post(t.near.URL+"/secret/v1/messages", "application/json", bytes.NewReader(request))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var m struct {
		Content []struct{ Name string }
	}
	if err := json.Unmarshal(text, &m); err != nil || len(m.Content) != 1 {
		return "", fmt.Errorf("the reply is %s: %w", text, err)
	}
	return m.Content[0].Name, nil
}
