package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/testing/slow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask says one line and reads the answer.
func ask(t *testing.T, s *Server, lines *bufio.Reader, line string) string {
	t.Helper()
	if _, err := fmt.Fprintln(s, line); err != nil {
		t.Fatal(err)
	}
	answer, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func start(t *testing.T, o Options) (*Server, *bufio.Reader) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		<-s.Done()
	})
	return s, bufio.NewReader(s)
}

// What the server may touch is this list and no more. Whoever adds a tool reads why not
// (tools.go) and changes the test.
func TestOnlyTheseTools(t *testing.T) {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.name)
		var entry struct {
			Name        string
			InputSchema struct {
				Properties           map[string]any
				AdditionalProperties *bool
			}
			Annotations struct{ ReadOnlyHint bool }
		}
		if err := json.Unmarshal([]byte(tool.entry), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Name != tool.name || entry.InputSchema.AdditionalProperties == nil || len(entry.InputSchema.Properties) != len(tool.arguments) || !entry.Annotations.ReadOnlyHint {
			t.Errorf("%s is listed as %s", tool.name, tool.entry)
		}
		for _, word := range []string{"approve", "decide", "policy", "rule", "grant", "wrap", "start", "set"} {
			if strings.Contains(tool.name, word) || slices.Contains(tool.arguments, word) {
				t.Errorf("%s does what an agent must not", tool.name)
			}
		}
	}
	if !slices.Equal(names, []string{"clawai_status", "clawai_vault"}) {
		t.Error(names)
	}
}

func TestTools(t *testing.T) {
	full := Options{
		Version: "1",
		Status:  func(detail string) (any, error) { return map[string]string{"detail": detail}, nil },
		Secret: func(skill, key string) (string, error) {
			if key != "k" {
				return "", errors.New("no such thing")
			}
			return skill + "'s", nil
		},
	}
	call := func(name, args string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`
	}
	for _, tt := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2024-11-05"}}`, `"protocolVersion":"2024-11-05"`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2030-01-01"}}`, `"protocolVersion":"2025-11-25"`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"name":"clawai_vault"`},
		{call("clawai_status", `{}`), `"structuredContent":{"detail":"summary"}`},
		{call("clawai_status", `{"detail":"activity"}`), `"structuredContent":{"detail":"activity"}`},
		{call("clawai_status", `{"detail":"limits"}`), `"blocked":true`},
		{call("clawai_status", `{"policy":"x"}`), `there is no argument`},
		{call("clawai_status", `{"detail":1}`), `not an object of texts`},
		{call("clawai_vault", `{"skill":"s","key":"k"}`), `"structuredContent":{"key":"k","skill":"s","value":"s's"}`},
		{call("clawai_vault", `{"skill":"s","key":"x"}`), `"structuredContent":{"blocked":true,"reason":"no such thing"}`},
		{call("clawai_vault", `{"skill":"s"}`), `both needed`},
		{call("clawai_approve", `{}`), `there is no tool`},
	} {
		s, lines := start(t, full)
		if got := ask(t, s, lines, tt.line); !strings.Contains(got, tt.want) {
			t.Errorf("%s\n%s", tt.line, got)
		}
	}
	s, lines := start(t, Options{})
	if got := ask(t, s, lines, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, `"tools":[]`) {
		t.Error(got)
	}
	if got := ask(t, s, lines, call("clawai_vault", `{"skill":"s","key":"k"}`)); !strings.Contains(got, "there is no tool") {
		t.Error(got)
	}
}

// What was asked before the end is answered, and an answer that nobody reads holds nobody up.
func TestEnd(t *testing.T) {
	slow.Test(t)
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := fmt.Fprintln(s, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan struct{})
	go func() { defer close(closed); _ = s.Close(t.Context()) }()
	lines := bufio.NewReader(s)
	for range 3 {
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "result") {
			t.Error(line, err)
		}
	}
	<-closed
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("it goes on")
	}
	mute, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(mute, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); err != nil {
		t.Fatal(err)
	}
	_ = mute.Close(t.Context())
	<-mute.Done()
}

// MCP 2025-03-26 has several messages in one line: whoever asks so is answered so.
func TestSeveralInOneLine(t *testing.T) {
	s, _ := start(t, Options{})
	for line, want := range map[string]string{
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"x"}]`: `[{"id":1,"jsonrpc":"2.0","result":{}},{"error":{"code":-32601,"message":"x is unknown here"},"id":2,"jsonrpc":"2.0"}]`,
		`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`:                                                                                "",
	} {
		if got := string(s.answerLine([]byte(line))); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}
