//go:build servers

// Package servers puts real servers behind every form of the proxy and compares what their
// client sees with what it sees without one. It is a night's command: it installs the newest
// servers from npm.
//
//	go test -tags servers -count=1 -v ./test/servers
package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/testing/exectest"
)

// asTheHub is an answer without what is the hub's own (docs/hub.md): how it introduces itself,
// what stands beside the entries of a list, an empty list where its server has none, and
// names that a client could not have taken. false: the step says nothing of a hub.
func asTheHub(step, text string) (string, bool) {
	if strings.HasPrefix(step, "call of ") {
		return text, !oddName.MatchString(strings.TrimPrefix(step, "call of "))
	}
	member := map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "templates": "resourceTemplates"}[step]
	if member == "" {
		return text, step != "initialize"
	}
	var entries []string
	gjson.Get(text, "result."+member).ForEach(func(_, entry gjson.Result) bool {
		if name := entry.Get("name").Str; !oddName.MatchString(name) && !cutName.MatchString(name) {
			entries = append(entries, entry.Raw)
		}
		return true
	})
	return strings.Join(entries, "\n"), true
}

var (
	oddName = regexp.MustCompile(`[^A-Za-z0-9_.-]`)
	cutName = regexp.MustCompile(`_[0-9a-f]{8}$`)
)

// steps are what every server is asked; its tools are asked what answers without doing
// anything: arguments that do not fit.
var steps = []struct{ name, line string }{
	{"initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"parity","version":"1"}}}`},
	{"", `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
	{"ping", `{"jsonrpc":"2.0","id":2,"method":"ping"}`},
	{"tools/list", `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}`},
	{"prompts/list", `{"jsonrpc":"2.0","id":4,"method":"prompts/list"}`},
	{"resources/list", `{"jsonrpc":"2.0","id":5,"method":"resources/list"}`},
	{"templates", `{"jsonrpc":"2.0","id":6,"method":"resources/templates/list"}`},
	{"a tool that is not there", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no-such-tool","arguments":{}}}`},
	{"a prompt that is not there", `{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"no-such-prompt"}}`},
}

// answers are what came to the steps and to the calls of tools, by name; "" where nothing came.
type answers map[string]string

const patience = 30 * time.Second

func TestServers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the servers run without a network, which is Linux's to arrange")
	}
	clawai, folder := build(t), install(t)
	var report []string
	for _, s := range servers {
		if s.caged {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			site := t.TempDir()
			if err := os.WriteFile(filepath.Join(site, "a.txt"), []byte("text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			command, err := s.command(t, folder, site)
			if err != nil {
				t.Skipf("it cannot be installed here: %v", err)
			}
			h := &home{t: t, clawai: clawai, server: s, command: command}
			direct := h.direct()
			if direct["initialize"] == "" {
				t.Skip("it does not start here without clawai")
			}
			again := h.direct() // what differs between two runs says nothing of clawai
			forms := []struct {
				name string
				ask  func() answers
			}{{"stdio", h.stdio}, {"hub", h.hub}, {"listen, hub", h.listenHub}, {"bridge, hub", h.bridgeHub}}
			if s.http {
				forms = append(forms, struct {
					name string
					ask  func() answers
				}{"bridge", h.bridge}, struct {
					name string
					ask  func() answers
				}{"listen", h.listen})
			}
			for _, form := range forms {
				got, same := form.ask(), 0
				compared := 0
				for step, want := range direct {
					with, says := got[step], true
					if want != again[step] {
						continue
					}
					if strings.HasSuffix(form.name, "hub") {
						want, _ = asTheHub(step, want)
						with, says = asTheHub(step, with)
					}
					if !says {
						continue
					}
					if compared++; with == want {
						same++
						continue
					}
					t.Errorf("%s, %s:\nwith clawai %.600s\nwithout     %.600s", form.name, step, with, want)
				}
				report = append(report, fmt.Sprintf("%-50s %-12s %3d of %3d answers identical", s.name, form.name, same, compared))
			}
		})
	}
	t.Log("\n" + strings.Join(report, "\n"))
}

// build makes the program.
func build(t *testing.T) string {
	to := filepath.Join(t.TempDir(), "clawai")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", to, "github.com/clawai/clawai/cmd/clawai").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return to
}

// install gets the newest version of each, and runs no script of theirs.
func install(t *testing.T) string {
	folder := os.Getenv("SERVERS_FOLDER") // kept between runs
	if folder == "" {
		folder = t.TempDir()
	}
	for _, s := range servers {
		if strings.HasPrefix(s.name, "go:") {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "node_modules", s.name)); err == nil {
			continue
		}
		cmd := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, s.name+"@latest")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s: %v\n%.500s", s.name, err, out)
		}
	}
	return folder
}

// command starts the server on its standard input and output; one of npm has no network and
// sees no process but its own.
func (s *server) command(t *testing.T, folder, site string) ([]string, error) {
	if strings.HasPrefix(s.name, "go:") {
		to := filepath.Join(t.TempDir(), "server")
		out, err := exec.Command("go", "build", "-trimpath", "-o", to, "github.com/modelcontextprotocol/go-sdk/examples/server/"+strings.TrimPrefix(s.name, "go:")).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		return []string{to}, nil
	}
	src, err := os.ReadFile(filepath.Join(folder, "node_modules", s.name, "package.json"))
	if err != nil {
		return nil, err
	}
	var doc struct{ Bin any }
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	var program string
	switch bin := doc.Bin.(type) {
	case string:
		program = bin
	case map[string]any:
		var names []string
		for name := range bin {
			names = append(names, name)
		}
		slices.Sort(names)
		if len(names) == 0 {
			return nil, fmt.Errorf("it has no program")
		}
		program = fmt.Sprint(bin[names[0]])
	}
	command := []string{"unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "env", "HOME=" + site}
	for _, v := range s.env {
		command = append(command, strings.ReplaceAll(v, "SITE", site))
	}
	command = append(command, "node", filepath.Join(folder, "node_modules", s.name, program))
	for _, a := range s.args {
		command = append(command, strings.ReplaceAll(a, "SITE", site))
	}
	return command, nil
}

// home is a fresh configuration that allows everything.
type home struct {
	t       *testing.T
	clawai  string
	server  server
	command []string
}

// run is clawai with these arguments.
func (h *home) run(config string, args ...string) *exec.Cmd {
	dir := h.t.TempDir()
	var rules strings.Builder
	for _, subject := range []string{"tool", "resource", "prompt", "sampling", "elicitation"} {
		fmt.Fprintf(&rules, "[[rule]]\naction = \"allow\"\n%s = \"**\"\n\n", subject)
	}
	for name, text := range map[string]string{"policy.toml": rules.String(), "config.toml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	cmd := exec.Command(h.clawai, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "CLAWAI_CONFIG_DIR="+dir, "CLAWAI_STATE_DIR="+filepath.Join(dir, "state"), "CLAWAI_KEYCHAIN=off")
	return cmd
}

func (h *home) direct() answers { return h.lines(exec.Command(h.command[0], h.command[1:]...)) }

func (h *home) stdio() answers {
	return h.lines(h.run("", append([]string{"proxy", "--ask", "never", "--"}, h.command...)...))
}

// config has the server as the hub's one.
func (h *home) config() string {
	words := make([]string, len(h.command))
	for i, w := range h.command {
		words[i] = fmt.Sprintf("%q", w)
	}
	return "[upstream.one]\nbare = true\ncommand = [" + strings.Join(words, ", ") + "]\n\n[hub]\nprefix_descriptions = false\nlist_wait = \"1m\"\n"
}

func (h *home) hub() answers { return h.lines(h.run(h.config(), "hub")) }

// serve runs a listener until the test ends, and gives its address.
func (h *home) serve(cmd *exec.Cmd) string {
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	h.start(cmd)
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.t.Fatal(err)
	}
	fields := strings.Fields(said)
	return fields[len(fields)-1]
}

func (h *home) start(cmd *exec.Cmd) {
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
	})
}

func (h *home) listenHub() answers {
	return h.http(h.serve(h.run(h.config(), "proxy", "--ask", "never", "--listen", "127.0.0.1:0", "--hub")))
}

func (h *home) bridgeHub() answers {
	at := h.serve(h.run(h.config(), "proxy", "--ask", "never", "--listen", "127.0.0.1:0", "--hub"))
	return h.lines(h.run("", "proxy", "--ask", "never", "--", at))
}

// overHTTP is the Go SDK's server at an address of its own.
func (h *home) overHTTP() string {
	l := net.JoinHostPort("127.0.0.1", exectest.ReservePort(h.t))
	h.start(exec.Command(h.command[0], "-http", l))
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get("http://" + l)
		if err == nil {
			_ = resp.Body.Close()
			return "http://" + l + "/"
		}
		if time.Now().After(end) {
			h.t.Fatalf("the server does not listen: %v", err)
		}
	}
}

func (h *home) bridge() answers {
	return h.lines(h.run("", "proxy", "--ask", "never", "--", h.overHTTP()))
}

func (h *home) listen() answers {
	return h.http(h.serve(h.run("", "proxy", "--ask", "never", "--listen", "127.0.0.1:0", "--upstream", "one="+h.overHTTP())))
}

// lines asks a program on its standard input and output.
func (h *home) lines(cmd *exec.Cmd) answers {
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	said := make(chan []byte, 100)
	go func() {
		defer close(said)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			said <- line
		}
	}()
	got := ask(func(line string, id int) string {
		if _, err := io.WriteString(in, line+"\n"); err != nil || id == 0 {
			return ""
		}
		late := time.After(patience)
		for {
			select {
			case answer, ok := <-said:
				if !ok {
					return ""
				}
				if text := payload(answer, id); text != "" {
					return text
				}
			case <-late:
				return ""
			}
		}
	})
	_ = in.Close()
	late := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	for range said { // to its end
	}
	_ = cmd.Wait()
	late.Stop()
	return got
}

// http asks an address.
func (h *home) http(address string) answers {
	session := ""
	return ask(func(line string, id int) string {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(line))
		if err != nil {
			h.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return ""
		}
		defer func() { _ = resp.Body.Close() }()
		if found := resp.Header.Get("Mcp-Session-Id"); found != "" {
			session = found
		}
		body, _ := io.ReadAll(resp.Body)
		for line := range bytes.Lines(body) {
			if text := payload(bytes.TrimPrefix(line, []byte("data: ")), id); text != "" {
				return text
			}
		}
		return ""
	})
}

// ask goes through the steps and then calls each tool with an argument that it does not have
// and without those that it needs; one that needs none is not called.
func ask(one func(line string, id int) string) answers {
	all := answers{}
	for _, step := range steps {
		var m struct{ ID int }
		_ = json.Unmarshal([]byte(step.line), &m)
		if text := one(step.line, m.ID); step.name != "" {
			all[step.name] = text
		}
		if step.name == "initialize" && all[step.name] == "" {
			return all
		}
	}
	var listed struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct{ Required []string }
			}
		}
	}
	_ = json.Unmarshal([]byte(all["tools/list"]), &listed)
	for i, tool := range listed.Result.Tools {
		if len(tool.InputSchema.Required) == 0 || i >= 20 {
			continue
		}
		id := 100 + i
		all["call of "+tool.Name] = one(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"no_such_argument":1}}}`, id, tool.Name), id)
	}
	return all
}

// payload is an answer's result or error, byte for byte, if it is the one to id.
func payload(line []byte, id int) string {
	var m struct {
		ID            json.RawMessage
		Method        string
		Result, Error json.RawMessage
	}
	if json.Unmarshal(line, &m) != nil || m.Method != "" || string(m.ID) != fmt.Sprint(id) {
		return ""
	}
	if m.Error != nil {
		return `{"error":` + string(m.Error) + `}`
	}
	return `{"result":` + string(m.Result) + `}`
}
