//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

// parityLabels stand before what init writes: two rules about what the session has seen, and whose words the
// servers bring. Which program a server is, not every door knows.
const parityLabels = `
[[rule]]
action = "deny"
server = "filesystem"
tool = "list_directory"
after = "untrusted"
description = "No list after strangers"

[[rule]]
action = "prompt"
server = "filesystem"
tool = "get_file_info"
after = "untrusted"
description = "Ask after strangers"

`

const parityServers = `
[server.filesystem]
public_source = false
secret_data = false
public_sink = false
dangerous_writes = false

[server.github]
public_source = false
secret_data = false
public_sink = true
dangerous_writes = false
[server.github.tool."get_issue"]
public_source = true
`

// parityCalls are the calls of one session, in order. WORK is the folder of the filesystem server.
var parityCalls = []struct {
	server, tool, args string
	asked              bool   // a person is asked, and allows it if yes is in the arguments
	rule               string // words of the rule that decides, or of the verdict
	allowed            bool
}{
	{server: "filesystem", tool: "read_text_file", args: `{"path":"WORK/a"}`, rule: "allow", allowed: true},
	{server: "filesystem", tool: "read_text_file", args: `{"path":"WORK/../.ssh/id_ed25519"}`, rule: "deny"},
	{server: "filesystem", tool: "read_text_file", args: `{"path":"WORK/.env","head":1.0}`, rule: "deny"},
	{server: "filesystem", tool: "read_text_file", args: `{"path":"WORK/%2e%2e/.ssh/id_ed25519"}`, rule: "deny"},
	{server: "filesystem", tool: "read_text_file", args: `{"path":"WORK/a","more":[1,{"x":"y"}]}`, rule: "deny"},
	{server: "filesystem", tool: "read_text_file", args: `{}`, rule: "deny"},
	{server: "filesystem", tool: "no_such_tool", args: `{}`, rule: "Everything else is refused"},
	{server: "filesystem", tool: "list_directory", args: `{"path":"WORK"}`, rule: "allow", allowed: true},
	{server: "filesystem", tool: "get_file_info", args: `{"path":"WORK/a"}`, rule: "allow", allowed: true},
	{server: "filesystem", tool: "write_file", args: `{"path":"WORK/b","content":"yes"}`, asked: true, rule: "prompt", allowed: true},
	{server: "filesystem", tool: "write_file", args: `{"path":"WORK/c","content":"no"}`, asked: true, rule: "prompt"},
	{server: "github", tool: "create_issue", args: `{"owner":"o","repo":"r","title":"yes","body":"password: hunter2hunter2"}`, asked: true, rule: "prompt", allowed: true},
	{server: "github", tool: "get_issue", args: `{"owner":"o","repo":"r","issue_number":1}`, rule: "allow", allowed: true},
	{server: "filesystem", tool: "read_text_file", args: `{"path":"WORK/a"}`, rule: "allow", allowed: true},
	{server: "filesystem", tool: "list_directory", args: `{"path":"WORK"}`, rule: "No list after strangers"},
	{server: "filesystem", tool: "get_file_info", args: `{"path":"WORK/a","pattern":"yes"}`, asked: true, rule: "Ask after strangers", allowed: true},
	{server: "filesystem", tool: "get_file_info", args: `{"path":"WORK/a"}`, asked: true, rule: "Ask after strangers"},
}

// door is one way to the gate. It returns whether a call has gone to who runs it.
type door interface {
	call(t *testing.T, n int, server, tool, args string) (went bool)
	end(t *testing.T)
}

// TestParity: the same calls of a session by the proxy on pipes, over HTTP, the hub, the hook and the model's
// own channel, under the policy that init writes and rules about labels: the same verdict, rule and record, but
// for the door, and a person is asked once.
func TestParity(t *testing.T) {
	slow.Test(t)
	dir := initialised(t, built("clawai-hook"))
	file := filepath.Join(dir, ".config/clawai/policy.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), "\n[[extends]]")
	if !found {
		t.Fatal(string(text))
	}
	write(t, file, before+parityLabels+"\n[[extends]]"+after+parityServers)
	var rows []string
	open := func(name string) (*paritySite, door) {
		p := &paritySite{dir: dir, state: filepath.Join(dir, strings.ReplaceAll(name, " ", "-")), work: dir + "/work", programs: dir + "/bin"}
		if err := os.MkdirAll(p.state, 0o700); err != nil {
			t.Fatal(err)
		}
		return p, doors[name](t, p)
	}
	// The servers are wrapped: their proxies judge and ask, and nobody else does.
	for _, name := range []string{"hook", "model uncovered"} {
		p, d := open(name)
		stop := p.answerQuestions(t)
		for i, c := range parityCalls {
			if went := d.call(t, i, c.server, c.tool, strings.ReplaceAll(c.args, "WORK", p.work)); !went && (c.asked || c.allowed) {
				t.Errorf("%s keeps %s from its proxy", name, c.tool)
			}
		}
		d.end(t)
		if asked, all := stop(), strings.Join(p.decisions(t), "\n"); asked != 0 || strings.Contains(all, "decision:allow") {
			t.Errorf("%s: a person was asked %d times beside the proxies: %s", name, asked, all)
		}
		if err := os.RemoveAll(p.state); err != nil {
			t.Fatal(err)
		}
	}
	unwrap := exec.Command(filepath.Join(dir, "bin/clawai"), "unwrap", "--all", "--client", "claude-code", "--yes")
	unwrap.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir + "/tmp"}
	if out, err := unwrap.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"pipes", "http", "hub", "hook", "model"} {
		t.Run(name, func(t *testing.T) {
			p, d := open(name)
			got := p.play(t, d)
			if rows == nil {
				rows = got
			}
			if diff := cmp.Diff(rows, got); diff != "" {
				t.Errorf("on pipes (-) it is otherwise:\n%s", diff)
			}
		})
	}
}

// doors opens each door.
var doors = map[string]func(t *testing.T, p *paritySite) door{
	"pipes": openPipes, "http": openHTTP, "hub": openHub, "hook": openHook,
	"model":           func(t *testing.T, p *paritySite) door { return openModel(t, p, "all") },
	"model uncovered": func(t *testing.T, p *paritySite) door { return openModel(t, p, "uncovered") },
}

// paritySite is an owner whose calls come by one door.
type paritySite struct {
	dir, state, work, programs string
}

// command is a program of ours, in a session of that name.
func (p *paritySite) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.programs, name), args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(p.dir, "tmp"), "CLAWAI_SESSION=one", "CLAWAI_STATE_DIR=" + p.state, "CLAUDE_CODE_SESSION_ATTENDED=0", "ANTHROPIC_BASE_URL="}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask at
	cmd.Stderr = os.Stderr
	return cmd
}

// play makes all calls, and returns what the record says of each.
func (p *paritySite) play(t *testing.T, d door) (rows []string) {
	t.Helper()
	stop := p.answerQuestions(t)
	questions := 0
	for i, c := range parityCalls {
		args := strings.ReplaceAll(c.args, "WORK", p.work)
		if went := d.call(t, i, c.server, c.tool, args); went != c.allowed {
			t.Errorf("%s %s: it went: %v", c.tool, args, went)
		}
		if c.asked {
			questions++
		}
	}
	d.end(t)
	if asked := stop(); asked != questions {
		t.Errorf("a person was asked %d times, want %d", asked, questions)
	}
	rows = p.decisions(t)
	if len(rows) != len(parityCalls) {
		t.Fatalf("%d decisions: %s", len(rows), strings.Join(rows, "\n"))
	}
	for i, c := range parityCalls {
		if !strings.Contains(rows[i], c.rule) || strings.Contains(rows[i], "decision:allow") != c.allowed {
			t.Errorf("%s %s, want %q: %s", c.tool, c.args, c.rule, rows[i])
		}
	}
	return rows
}

// answerQuestions answers what a person is asked, until the returned function is called. That returns how many
// questions there were.
func (p *paritySite) answerQuestions(t *testing.T) (stop func() int) {
	t.Helper()
	q, err := queue.Open(filepath.Join(p.state, "queue"), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seat, err := q.AddAnswerer("web")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			pending, err := q.Pending(ctx)
			for i := range pending {
				a := queue.Answer{Reply: gate.DenyOnce, Channel: "web", By: "owner"}
				if strings.Contains(string(pending[i].Calls[0].Args), `"yes"`) {
					a.Reply = gate.AllowOnce
				}
				_, err = q.Decide(ctx, pending[i].ID, a)
			}
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return func() int {
		cancel()
		<-ended
		all, err := q.History(t.Context(), 100)
		for _, close := range []func() error{seat.Close, q.Close} {
			if failed := close(); err == nil {
				err = failed
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
}

// decisions returns the decisions of a record, without what tells the doors apart.
func (p *paritySite) decisions(t *testing.T) (rows []string) {
	t.Helper()
	log := p.command("clawai", "log", "--json", "--kind", "decision")
	log.SysProcAttr = nil
	stdout, _, code := answer(t, log, "")
	if code != 0 {
		t.Fatal(code, stdout)
	}
	for line := range strings.Lines(stdout) {
		var all map[string]any
		if err := json.Unmarshal([]byte(line), &all); err != nil {
			t.Fatal(err)
		}
		if all["method"] == "tools/list" { // not every door lists
			continue
		}
		for _, own := range []string{"seq", "time", "session", "record", "prev", "hash", "digest", "bytes", "detail", "cwd", "id", "agent"} {
			delete(all, own)
		}
		rows = append(rows, fmt.Sprint(all))
	}
	return rows
}

// parityAnswer is what a server says to a request; "" to anything else.
func parityAnswer(line string) string {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil {
		return ""
	}
	result := `{"content":[{"type":"text","text":"done"}]}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	case "tools/list":
		var tools []string
		for _, c := range parityCalls {
			if tool := fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, c.tool); !strings.Contains(strings.Join(tools, ""), tool) {
				tools = append(tools, tool)
			}
		}
		result = `{"tools":[` + strings.Join(tools, ",") + `]}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// played are the programs that this test is, too.
var played = map[string]func() int{"parityserver": parityServer, "modelclient": modelClient}

// parityServer answers on our stdin and stdout.
func parityServer() int {
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		if said := parityAnswer(line); said != "" {
			fmt.Println(said)
		}
	}
}

// pipe is a program on pipes that is asked line by line.
type pipe struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPipe(t *testing.T, cmd *exec.Cmd) *pipe {
	t.Helper()
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
	return &pipe{cmd, in, bufio.NewReader(out)}
}

// ask sends a request, and returns its answer.
func (p *pipe) ask(t *testing.T, id, method, params string) string {
	t.Helper()
	fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`+"\n", id, method, params)
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			t.Fatalf("%s %s: %q %v", method, params, line, err)
		}
		if strings.Contains(line, fmt.Sprintf(`"id":%q`, id)) {
			return line
		}
	}
}

func (p *pipe) begin(t *testing.T) {
	t.Helper()
	p.ask(t, "begin", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}`)
	fmt.Fprintln(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.ask(t, "list", "tools/list", `{}`)
}

func (p *pipe) close(t *testing.T) {
	t.Helper()
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func callParams(tool, args string) string { return `{"name":"` + tool + `","arguments":` + args + `}` }

func went(answer string) bool { return strings.Contains(answer, `"text":"done"`) }

// pipes are the proxies of two servers.
type pipes map[string]*pipe

func openPipes(t *testing.T, p *paritySite) door {
	all := pipes{}
	for _, server := range []string{"filesystem", "github"} {
		all[server] = startPipe(t, p.command("clawai", "proxy", "--server", server, "--state", p.state, "--", os.Args[0], "parityserver"))
		all[server].begin(t)
	}
	return all
}

func (d pipes) call(t *testing.T, n int, server, tool, args string) bool {
	return went(d[server].ask(t, fmt.Sprint("c", n), "tools/call", callParams(tool, args)))
}

func (d pipes) end(t *testing.T) {
	for _, one := range d {
		one.close(t)
	}
}

// hub is the hub on pipes.
type hub struct{ *pipe }

func openHub(t *testing.T, p *paritySite) door {
	config := ""
	for _, server := range []string{"filesystem", "github"} {
		config += fmt.Sprintf("[upstream.%s]\ncommand = [%q, \"parityserver\"]\n", server, os.Args[0])
	}
	write(t, filepath.Join(p.dir, ".config/clawai/config.toml"), config)
	t.Cleanup(func() { _ = os.Remove(filepath.Join(p.dir, ".config/clawai/config.toml")) })
	d := hub{startPipe(t, p.command("clawai", "hub", "--state", p.state))}
	d.begin(t)
	return d
}

func (d hub) call(t *testing.T, n int, server, tool, args string) bool {
	return went(d.ask(t, fmt.Sprint("c", n), "tools/call", callParams(server+"__"+tool, args)))
}

func (d hub) end(t *testing.T) { d.close(t) }

// overHTTP is the proxy over HTTP, in front of two servers.
type overHTTP struct {
	cmd *exec.Cmd
	at  map[string]string // by server
}

func openHTTP(t *testing.T, p *paritySite) door {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, parityAnswer(string(line)))
	}))
	t.Cleanup(server.Close)
	d := &overHTTP{at: map[string]string{}, cmd: p.command("clawai", "proxy", "--state", p.state, "--listen", "127.0.0.1:0", "--upstream", "filesystem="+server.URL, "--upstream", "github="+server.URL)}
	told, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewReader(told); len(d.at) < 2; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(line, err)
		}
		if name, at, found := strings.Cut(strings.TrimSpace(line), "  "); found {
			d.at[name] = strings.TrimSpace(at)
		}
	}
	return d
}

func (d *overHTTP) call(t *testing.T, n int, server, tool, args string) bool {
	resp, err := http.Post(d.at[server], "application/json", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, n, callParams(tool, args))))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return went(string(text))
}

func (d *overHTTP) end(t *testing.T) {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	if err := d.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// hooked is Claude Code's hook.
type hooked struct{ *paritySite }

func openHook(_ *testing.T, p *paritySite) door { return hooked{p} }

func (d hooked) call(t *testing.T, n int, server, tool, args string) bool {
	said := strings.Replace(payload("mcp__"+server+"__"+tool, args), `"tool_use_id":"t"`, fmt.Sprintf(`"tool_use_id":"t%d"`, n), 1)
	_, _, code := answer(t, d.command("clawai-hook", "claude-code", "--state", d.state), said)
	return code == 0
}

func (d hooked) end(*testing.T) {}

// model is a client of Claude Code's that speaks to its model. The service asks for the calls.
type model struct {
	*pipe
	asks         *string // what the service's next reply asks for
	through      string  // which program of the client speaks to the model; "" for itself
	conversation []string
}

// modelClient sends each line to the model, and prints the reply. A line that begins with the path of a program, and
// perhaps an option, is sent by that, which it starts as a shell's command.
func modelClient() int {
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		var reply []byte
		if at := strings.IndexByte(line, '{'); at > 0 {
			program, option, _ := strings.Cut(line[:at], " ")
			other := exec.Command("sh", "-c", `"$0" modelclient $1; true`, program, option)
			other.Stdin = strings.NewReader(line[at:])
			reply, err = other.Output()
		} else {
			var resp *http.Response
			if resp, err = http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", strings.NewReader(line)); err == nil {
				reply, err = io.ReadAll(resp.Body)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(strings.TrimSpace(string(reply)))
	}
}

func openModel(t *testing.T, p *paritySite, judge string) *model {
	asks := ""
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"type":"message","role":"assistant","content":[%s]}`, asks)
	}))
	t.Cleanup(service.Close)
	cmd := p.command("clawai", "llm-proxy", "--judge", judge, "--client", "claude-code", "--upstream", service.URL, "--state", p.state, "--", os.Args[0], "modelclient")
	return &model{pipe: startPipe(t, cmd), asks: &asks, conversation: []string{`{"role":"user","content":"go on"}`}}
}

func (d *model) call(t *testing.T, n int, server, tool, args string) bool {
	t.Helper()
	return d.callTool(t, n, "mcp__"+server+"__"+tool, args)
}

// callTool has the service ask for a call, and reports whether the client would run it.
func (d *model) callTool(t *testing.T, n int, name, args string) bool {
	t.Helper()
	use := func(name string) string {
		return fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":%q,"input":%s}`, n, name, args)
	}
	*d.asks = use(name)
	fmt.Fprintf(d.in, `%s{"model":"m","messages":[%s]}`+"\n", d.through, strings.Join(d.conversation, ","))
	line, err := d.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Content []struct{ Name string } }
	if err := json.Unmarshal([]byte(line), &m); err != nil || len(m.Content) != 1 {
		t.Fatal(line, err)
	}
	got := m.Content[0].Name
	d.conversation = append(d.conversation, `{"role":"assistant","content":[`+use(got)+`]}`,
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"done"}]}`, n))
	return got == name
}

func (d *model) end(t *testing.T) { d.close(t) }
