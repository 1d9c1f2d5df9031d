//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// oddAnswers are what a server may say to the call ID, by the tool that is called.
var oddAnswers = map[string]string{
	"plain":            `{"jsonrpc":"2.0","id":ID,"result":{}}`,
	"text id":          `{"jsonrpc":"2.0","id":"ID","result":{}}`,
	"fraction id":      `{"jsonrpc":"2.0","id":ID.0,"result":{}}`,
	"power id":         `{"jsonrpc":"2.0","id":IDe0,"result":{}}`,
	"zeros":            `{"jsonrpc":"2.0","id":"0ID","result":{}}`,
	"a blank before":   `{"jsonrpc":"2.0","id":" ID","result":{}}`,
	"a blank behind":   `{"jsonrpc":"2.0","id":"ID ","result":{}}`,
	"text of fraction": `{"jsonrpc":"2.0","id":"ID.0","result":{}}`,
	"id in an array":   `{"jsonrpc":"2.0","id":[ID],"result":{}}`,
	"true id":          `{"jsonrpc":"2.0","id":true,"result":{}}`,
	"empty id":         `{"jsonrpc":"2.0","id":"","result":{}}`,
	"empty id, error":  `{"jsonrpc":"2.0","id":"","error":{"code":1,"message":"no"}}`,
	"a whole code":     `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000.0,"message":"no"}}`,
	"no id":            `{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}`,
	"null id":          `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`,
	"null id, result":  `{"jsonrpc":"2.0","id":null,"result":{}}`,
	"array":            `[{"jsonrpc":"2.0","id":ID,"result":{}}]`,
	"array, text id":   `[{"jsonrpc":"2.0","id":"ID","result":{}}]`,
	"array, twice":     `[{"jsonrpc":"2.0","id":ID,"result":{}},{"jsonrpc":"2.0","id":ID,"result":{}}]`,
	"array, odd":       `[{"jsonrpc":"2.0","id":ID,"result":{"a":"\ud83d"},"x":1}]`,
	"array and a note": `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},{"jsonrpc":"2.0","id":ID,"result":{}}]`,
	"half a pair":      `{"jsonrpc":"2.0","id":ID,"result":{"a":"\ud83d"}}`,
	"Latin-1":          "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"a\":\"\xe9\"}}",
	"deep":             `{"jsonrpc":"2.0","id":ID,"result":{"a":` + strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300) + `}}`,
	"too deep":         `{"jsonrpc":"2.0","id":ID,"result":{"a":` + strings.Repeat(`[`, 3000) + strings.Repeat(`]`, 3000) + `}}`,
	"a member twice":   `{"jsonrpc":"2.0","id":ID,"result":{"a":1,"a":2}}`,
	"null result":      `{"jsonrpc":"2.0","id":ID,"result":null}`,
	"text result":      `{"jsonrpc":"2.0","id":ID,"result":"ok"}`,
	"null error":       `{"jsonrpc":"2.0","id":ID,"result":{},"error":null}`,
	"odd error":        `{"jsonrpc":"2.0","id":ID,"error":"no"}`,
	"text code":        `{"jsonrpc":"2.0","id":ID,"error":{"code":"1","message":"no"}}`,
	"no version":       `{"id":ID,"result":{}}`,
	"version 1":        `{"jsonrpc":"1.0","id":ID,"result":{}}`,
	"more members":     `{"jsonrpc":"2.0","id":ID,"result":{},"meta":{}}`,
	"a raw control":    "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"a\":\"\x1b\"}}",
	"id at the end":    `{"jsonrpc":"2.0","result":{"a":1,"a":2},"id":ID}`,
	"NaN":              `{"jsonrpc":"2.0","id":ID,"result":{"a":NaN}}`,
}

// oddStatus are the ways of HTTP alone not to answer.
var oddStatus = map[string]func(w http.ResponseWriter, r *http.Request){
	"201":             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) },
	"202":             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
	"204":             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"nothing":         func(http.ResponseWriter, *http.Request) {},
	"429":             func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "slow down", http.StatusTooManyRequests) },
	"hang-up":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"an empty stream": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") },
	"a bad gzip": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "{}")
	},
	"text": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") },
}

// oddTool is the tool that answers so; every client can take its name.
func oddTool(name string) string { return strings.NewReplacer(", ", "-", " ", "-").Replace(name) }

// oddTools are all that the server has, by their names.
func oddTools() (answers, statuses map[string]string) {
	answers, statuses = map[string]string{}, map[string]string{}
	for name, answer := range oddAnswers {
		answers[oddTool(name)] = answer
	}
	for name := range oddStatus {
		statuses[oddTool(name)] = name
	}
	return answers, statuses
}

// oddAnswer is what the server says to a line; what is asked of a tool that is not one of
// oddAnswers comes back as its name.
func oddAnswer(line []byte) (answer, tool string) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name, ProtocolVersion string }
	}
	_ = json.Unmarshal(line, &m)
	answers, statuses := oddTools()
	switch {
	case m.ID == nil || m.Method == "":
		return "", ""
	case m.Method == "initialize":
		answer = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"` + m.Params.ProtocolVersion + `","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}}`
	case m.Method == "tools/list":
		var all []string
		for _, name := range slices.Sorted(maps.Keys(answers)) {
			all = append(all, `{"name":"`+name+`","inputSchema":{"type":"object"}}`)
		}
		answer = `{"jsonrpc":"2.0","id":ID,"result":{"tools":[` + strings.Join(all, ",") + `]}}`
	case answers[m.Params.Name] != "":
		answer = answers[m.Params.Name]
	default:
		return "", statuses[m.Params.Name]
	}
	return strings.ReplaceAll(answer, "ID", string(m.ID)), m.Params.Name
}

func init() { programs["oddserver"] = oddServer }

// oddServer speaks on standard input and output.
func oddServer() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if answer, _ := oddAnswer(in.Bytes()); answer != "" {
			fmt.Println(answer)
		}
	}
}

// overHTTP is the same server; stream says that it answers with event streams.
func overHTTP(t *testing.T, stream bool) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body)
		answer, tool := oddAnswer(line)
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case answer == "" && oddStatus[tool] != nil:
			oddStatus[tool](w, r)
		case answer == "":
			w.WriteHeader(http.StatusAccepted)
		case bytes.Contains(line, []byte(`"initialize"`)):
			w.Header().Set("Mcp-Session-Id", "one")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		case stream:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+answer+"\n\n")
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// bound is how long a call may wait for an answer that its server has given at once: a
// busy machine's time, and far below a client's.
const bound = 20 * time.Second

// Whatever a server says to a call, its caller hears something: the calls that hang are
// counted, and there are none.
func TestNothingHangs(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.toml")
	if err := os.WriteFile(policy, []byte(allowTools), 0o600); err != nil {
		t.Fatal(err)
	}
	j := journey{policy: policy, name: "odd"}
	var tools, statuses []string
	for name := range oddAnswers {
		tools = append(tools, name)
	}
	for name := range oddStatus {
		statuses = append(statuses, name)
	}
	slices.Sort(tools)
	slices.Sort(statuses)
	for name, c := range map[string]struct {
		asks  func(t *testing.T) oddCaller
		tools []string
	}{
		"stdio": {func(t *testing.T) oddCaller { return askLines(t, j.proxy(t, "--server", j.name, "--", "oddserver")) }, tools},
		"bridge": {func(t *testing.T) oddCaller {
			return askLines(t, j.proxy(t, "--server", j.name, "--", overHTTP(t, false)))
		}, slices.Concat(tools, statuses)},
		"bridge, streams": {func(t *testing.T) oddCaller {
			return askLines(t, j.proxy(t, "--server", j.name, "--", overHTTP(t, true)))
		}, tools},
		"listen":              {func(t *testing.T) oddCaller { return askHTTP(t, j.listen(t, overHTTP(t, false)), false) }, slices.Concat(tools, statuses)},
		"listen, sessions":    {func(t *testing.T) oddCaller { return askHTTP(t, j.listen(t, overHTTP(t, false)), true) }, slices.Concat(tools, statuses)},
		"listen, and streams": {func(t *testing.T) oddCaller { return askHTTP(t, j.listen(t, overHTTP(t, true)), true) }, tools},
		"hub":                 {func(t *testing.T) oddCaller { return askLines(t, j.hub(t, `command = "oddserver"`)) }, tools},
		"hub, remote":         {func(t *testing.T) oddCaller { return askLines(t, j.hub(t, `url = "`+overHTTP(t, false)+`"`)) }, slices.Concat(tools, statuses)},
		"hub, streams":        {func(t *testing.T) oddCaller { return askLines(t, j.hub(t, `url = "`+overHTTP(t, true)+`"`)) }, tools},
		"listen to a hub": {func(t *testing.T) oddCaller {
			return askHTTP(t, j.hub(t, `command = "oddserver"`, "--listen", "127.0.0.1:0", "--hub"), true)
		}, tools},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask, hangs := c.asks(t), 0
			for i, tool := range c.tools {
				if !ask(i+1, tool) {
					hangs++
					t.Errorf("the call of %q waits for ever", tool)
				}
			}
			if hangs != 0 {
				t.Errorf("%d of %d calls hang", hangs, len(c.tools))
			}
		})
	}
}

// oddCall is a call as a client writes it.
func oddCall(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, oddTool(tool))
}

const oddHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// oddCaller makes a call of a tool, and reports whether it has an answer.
type oddCaller func(id int, tool string) bool

// started is a clawai that a client speaks to.
type started struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (j journey) proxy(t *testing.T, args ...string) started {
	cmd, in, out := launch(t, j, t.TempDir(), args...)
	return started{cmd, in, out}
}

func (j journey) listen(t *testing.T, server string) started {
	return j.proxy(t, "--listen", "127.0.0.1:0", "--upstream", j.name+"="+server)
}

// hub has one server, which its configuration says.
func (j journey) hub(t *testing.T, server string, args ...string) started {
	dir, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[hub]\nlist_wait = \"1m\"\n[upstream.odd]\nbare = true\n"+server+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := "hub"
	if len(args) > 0 {
		command = "proxy"
	}
	cmd := exec.Command("clawai", append([]string{command, "--ask", "never", "--policy", j.policy, "--state", state}, args...)...)
	cmd.Env = append(os.Environ(), "CLAWAI_CONFIG_DIR="+dir, "CLAWAI_KEYCHAIN=off", "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	in, out := startPiped(t, cmd)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return started{cmd, in, bufio.NewReader(out)}
}

const oddInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// askLines asks on standard input and output.
func askLines(t *testing.T, s started) oddCaller {
	lines := make(chan string, 100)
	var read sync.WaitGroup
	read.Go(func() {
		defer close(lines)
		for {
			line, err := s.out.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	})
	t.Cleanup(func() {
		_ = s.in.Close()
		read.Wait()
		_ = s.cmd.Wait()
	})
	ask := func(line, id string) bool {
		if _, err := io.WriteString(s.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		late := time.After(bound)
		for {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatal("the proxy ended")
				}
				if strings.Contains(line, `"id":`+id+`,`) {
					return true
				}
			case <-late:
				return false
			}
		}
	}
	if !ask(oddHello, "0") {
		t.Fatal("initialize hangs")
	}
	if _, err := io.WriteString(s.in, oddInitialized+"\n"); err != nil {
		t.Fatal(err)
	}
	return func(id int, tool string) bool { return ask(oddCall(id, tool), fmt.Sprint(id)) }
}

// askHTTP asks by HTTP, in a session or without one.
func askHTTP(t *testing.T, s started, session bool) oddCaller {
	said, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
	})
	address, client, of := strings.Fields(said)[1], &http.Client{Timeout: bound}, ""
	post := func(line string) (resp *http.Response, body []byte, err error) {
		r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(line))
		if err != nil {
			return nil, nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if of != "" {
			r.Header.Set("Mcp-Session-Id", of)
		}
		if resp, err = client.Do(r); err != nil {
			return nil, nil, err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err = io.ReadAll(resp.Body)
		return resp, body, err
	}
	if session {
		resp, body, err := post(oddHello)
		if err != nil || resp.Header.Get("Mcp-Session-Id") == "" {
			t.Fatalf("initialize: %v, %s", err, body)
		}
		of = resp.Header.Get("Mcp-Session-Id")
		if _, _, err := post(oddInitialized); err != nil {
			t.Fatal(err)
		}
	}
	return func(id int, tool string) bool {
		resp, body, err := post(oddCall(id, tool))
		if err != nil || resp.StatusCode > 200 && resp.StatusCode < 300 || !bytes.Contains(body, fmt.Appendf(nil, `"id":%d,`, id)) {
			t.Logf("%s: %s, %v", tool, body, err)
			return false
		}
		return true
	}
}
