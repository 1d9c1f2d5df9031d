//go:build unix

package wrapcmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/listing"
	"github.com/clawai/clawai/wrap/client"
)

// The test binary plays the servers that are asked.
const playing = "CLAWAI_TEST_PLAYS"

func TestMain(m *testing.M) {
	if role := os.Getenv(playing); role != "" {
		play(role)
		return
	}
	os.Exit(m.Run())
}

func play(role string) {
	left := exec.Command("sleep", "100")
	if role == "leaves a child" && left.Start() == nil {
		_ = os.WriteFile(os.Getenv("PID_FILE"), []byte(strconv.Itoa(left.Process.Pid)), 0o600)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     any
			Method string
			Params struct{ Cursor string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		switch {
		case role == "hangs":
			continue
		case role == "floods":
			fmt.Printf(`{"jsonrpc":"2.0","id":%v,"result":{"x":"%s"}}`+"\n", m.ID, strings.Repeat("x", 2*listing.MaxBytes))
		case role == "talks":
			fmt.Println("Welcome to my server!")
		case role == "refuses":
			fmt.Printf(`{"jsonrpc":"2.0","id":%v,"error":{"code":-1,"message":"no key\u001b[2J"}}`+"\n", m.ID)
		case m.Method == "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%v,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}}`+"\n", m.ID)
		case m.Params.Cursor == "":
			fmt.Printf(`{"jsonrpc":"2.0","id":%v,"result":{"nextCursor":"2","tools":[`+
				`{"name":"get_forecast","annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"city":{}}}},`+
				`{"name":"read_file","annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"path":{}}}},`+
				`{"name":"list_alerts","inputSchema":{}},`+
				`{"name":"delete_station","annotations":{"readOnlyHint":true}}]}}`+"\n", m.ID)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%v,"result":{"tools":[{"name":"%s"},{"name":"get_*"},{"name":"set_unit","annotations":{"destructiveHint":true}},{"name":"get_forecast","annotations":{"readOnlyHint":true}}]}}`+"\n",
				m.ID, os.Getenv("TOLD_ENV"))
		}
	}
}

func asked(t *testing.T, role string, env ...client.Variable) ([]toldTool, error) {
	t.Helper()
	return listTools(t.Context(), client.Entry{
		Name: "weather", Command: os.Args[0],
		Env: append(env, client.Variable{Name: playing, Value: role}, client.Variable{Name: "TOLD_ENV", Value: "from_${NOT_SET_ANYWHERE:-the_entry}"}),
	})
}

// What a server says of its tools only tightens what their names say.
func TestAServerIsAskedForItsTools(t *testing.T) {
	slow.Test(t)
	told, err := asked(t, "answers")
	if err != nil {
		t.Fatal(err)
	}
	want := []toldTool{
		{name: "get_forecast", reads: true}, {name: "read_file"}, {name: "list_alerts"}, {name: "delete_station", grave: true},
		{name: "from_the_entry"}, {name: "set_unit", grave: true},
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told %+v\nwant %+v", told, want)
	}
}

func TestAServerThatDoesNotAnswerWell(t *testing.T) {
	slow.Test(t)
	for role, want := range map[string]string{
		"floods":  "more than the limit",
		"talks":   "not MCP",
		"refuses": `it says "no key\u{1b}[2J"`,
	} {
		if told, err := asked(t, role); err == nil || !strings.Contains(err.Error(), want) || told != nil {
			t.Errorf("%s: %v, %v", role, told, err)
		}
	}
	if _, err := listTools(t.Context(), client.Entry{Command: "/nowhere/at/all"}); err == nil {
		t.Error("what cannot be started answered")
	}
}

// However it ends, nothing of the server stays.
func TestNothingIsLeftOfAServerThatWasAsked(t *testing.T) {
	slow.Test(t)
	file := filepath.Join(t.TempDir(), "pid")
	if _, err := asked(t, "leaves a child", client.Variable{Name: "PID_FILE", Value: file}); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(src))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
			return // nobody's, and no process any more
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d lives", pid)
}

// The rules for a server that was asked: what was chosen passes, what is grave is named,
// the rest is asked for; a grave tool passes by no choice.
func TestRulesFromWhatAServerSays(t *testing.T) {
	told := map[string][]toldTool{"weather": {
		{name: "get_forecast", reads: true, allow: true}, {name: "list_alerts"}, {name: "delete_station", grave: true, allow: true},
	}}
	plan, err := drafted(modeAsk, targetsOf(client.Entry{Name: "weather", Command: "uvx"}), told, "/home/user")
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]policy.Action{
		"get_forecast": policy.Allow, "list_alerts": policy.Prompt, "delete_station": policy.Prompt, "new_tool": policy.Prompt,
	} {
		if got := decided(t, plan.text, "weather", tool); got != want {
			t.Errorf("%s is %s, want %s\n%s", tool, got, want, plan.text)
		}
	}
	if got := decided(t, plan.text, "evil", "get_forecast"); got != policy.Deny {
		t.Errorf("another server is %s", got)
	}
	if !strings.Contains(string(plan.text), `description = "Ask before weather removes, runs or sends something"`) {
		t.Errorf("the grave tool is not named as such:\n%s", plan.text)
	}
}

func decided(t *testing.T, src []byte, server, tool string) policy.Action {
	t.Helper()
	p, err := policy.Parse("policy.toml", src, policyfile.PolicyOptions("/home/user"))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return p.Decide(&policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(`{}`)}).Action
}
