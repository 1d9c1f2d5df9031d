//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/upstream"
)

// eras are the versions that a client may settle on, of those in which it introduces itself.
var eras = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// members of the parity suite, in the order of config.toml.
var members = []string{"files", "everything", "go"}

// step is one request of a client's.
type step struct {
	server, method string
	params         string // as the server has them; SITE is the folder of the test
	// hears is what the server must say besides, before it answers.
	hears []string
}

// steps are all that a client can ask of a server. The hub is asked the same, by the names that it
// gives.
var steps = []step{
	{server: "go", method: "ping", params: `{}`},
	{server: "files", method: "tools/call", params: `{"name":"read_text_file","arguments":{"path":"SITE/projects/notes.md"}}`},
	{server: "files", method: "tools/call", params: `{"name":"list_directory","arguments":{"path":"SITE/projects"}}`},
	{server: "files", method: "tools/call", params: `{"name":"read_text_file","arguments":{"path":"/etc/passwd"}}`},
	{server: "files", method: "tools/call", params: `{"name":"read_text_file","arguments":{}}`},
	{server: "files", method: "tools/call", params: `{"name":"no_such_tool","arguments":{}}`},
	{server: "everything", method: "tools/call", params: `{"name":"echo","arguments":{"message":"ü \u0000 \"x\" 1.50"}}`},
	{server: "everything", method: "tools/call", params: `{"name":"get-sum","arguments":{"a":2,"b":3}}`},
	{server: "everything", method: "tools/call", params: `{"name":"get-structured-content","arguments":{"location":"Chicago"}}`},
	{server: "everything", method: "tools/call", params: `{"name":"get-annotated-message","arguments":{"messageType":"error","includeImage":true}}`},
	{server: "everything", method: "tools/call", params: `{"name":"get-tiny-image","arguments":{}}`},
	{server: "everything", method: "tools/call", params: `{"name":"get-resource-links","arguments":{"count":3}}`},
	{server: "everything", method: "tools/call", params: `{"name":"get-resource-reference","arguments":{"resourceType":"Text","resourceId":1}}`},
	// Longer than it waits before it asks for roots and logs them: later steps are not disturbed.
	{server: "everything", method: "tools/call", params: `{"name":"trigger-long-running-operation","arguments":{"duration":0.5,"steps":2},"_meta":{"progressToken":"mine"}}`,
		hears: []string{"notifications/progress", "notifications/progress"}},
	{server: "everything", method: "tools/call", params: `{"name":"trigger-sampling-request","arguments":{"prompt":"hi","maxTokens":5}}`, hears: []string{"sampling/createMessage"}},
	{server: "everything", method: "tools/call", params: `{"name":"trigger-elicitation-request","arguments":{}}`, hears: []string{"elicitation/create"}},
	{server: "everything", method: "tools/call", params: `{"name":"no-such-tool","arguments":{}}`},
	{server: "everything", method: "prompts/get", params: `{"name":"simple-prompt"}`},
	{server: "everything", method: "prompts/get", params: `{"name":"args-prompt","arguments":{"city":"Graz"}}`},
	{server: "everything", method: "prompts/get", params: `{"name":"args-prompt","arguments":{}}`},
	{server: "everything", method: "prompts/get", params: `{"name":"no-such-prompt"}`},
	{server: "everything", method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"S"}}`},
	{server: "everything", method: "completion/complete", params: `{"ref":{"type":"ref/resource","uri":"demo://resource/dynamic/text/{resourceId}"},"argument":{"name":"resourceId","value":"1"}}`},
	{server: "everything", method: "resources/read", params: `{"uri":"demo://resource/dynamic/text/7"}`},
	{server: "everything", method: "resources/read", params: `{"uri":"demo://resource/dynamic/blob/7"}`},
	{server: "everything", method: "resources/read", params: `{"uri":"demo://resource/dynamic/text/none"}`},
	{server: "everything", method: "resources/subscribe", params: `{"uri":"demo://resource/dynamic/text/7"}`},
	{server: "everything", method: "resources/unsubscribe", params: `{"uri":"demo://resource/dynamic/text/7"}`},
	{server: "go", method: "tools/call", params: `{"name":"arguments","arguments":{"z":1.50,"a":"\u00fc","n":9007199254740991}}`},
	{server: "go", method: "tools/call", params: `{"name":"fails","arguments":{}}`},
	{server: "go", method: "tools/call", params: `{"name":"no_such_tool","arguments":{}}`},
	{server: "go", method: "tools/call", params: `{"name":"progress","arguments":{},"_meta":{"progressToken":41}}`,
		hears: []string{"notifications/progress", "notifications/progress", "notifications/progress"}},
	{server: "go", method: "logging/setLevel", params: `{"level":"warning"}`},
	{server: "go", method: "tools/call", params: `{"name":"logs","arguments":{}}`, hears: []string{"notifications/message", "notifications/message"}},
	{server: "go", method: "tools/call", params: `{"name":"samples","arguments":{}}`, hears: []string{"sampling/createMessage"}},
	{server: "go", method: "tools/call", params: `{"name":"elicits","arguments":{}}`, hears: []string{"elicitation/create"}},
	{server: "go", method: "tools/call", params: `{"name":"roots","arguments":{}}`, hears: []string{"roots/list"}},
	{server: "go", method: "prompts/get", params: `{"name":"prompt 1","arguments":{"a":"b"}}`},
	{server: "go", method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"prompt 2"},"argument":{"name":"a","value":"v"}}`},
	{server: "go", method: "completion/complete", params: `{"ref":{"type":"ref/resource","uri":"go:///1/{name}"},"argument":{"name":"a","value":"v"}}`},
	{server: "go", method: "resources/read", params: `{"uri":"go:///note"}`},
	{server: "go", method: "resources/read", params: `{"uri":"go:///2/x%20y"}`},
	{server: "go", method: "resources/subscribe", params: `{"uri":"go:///note"}`},
	{server: "go", method: "tools/call", params: `{"name":"updates","arguments":{}}`, hears: []string{"notifications/resources/updated"}},
	{server: "go", method: "resources/unsubscribe", params: `{"uri":"go:///note"}`},
	{server: "go", method: "tools/call", params: `{"name":"updates","arguments":{}}`},
}

// listings are the methods that list, with the member that is the list and the one by which its
// entries are called.
var listings = map[string][2]string{
	"tools/list":               {"tools", "name"},
	"prompts/list":             {"prompts", "name"},
	"resources/list":           {"resources", ""},
	"resources/templates/list": {"resourceTemplates", ""},
}

// TestHubParity: what three servers list, answer, report and ask is through the hub what it is
// without it, but for what docs/hub.md says is changed.
func TestHubParity(t *testing.T) {
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			s := newSite(t, allowAll)
			commands := s.members()
			hub := s.speak(version, clawai, "hub")
			direct := map[string]*speaker{}
			for id, argv := range commands {
				direct[id] = s.speak(version, argv...)
			}
			for method := range listings {
				sameLists(t, method, direct, hub)
			}
			for _, one := range steps {
				params := strings.ReplaceAll(one.params, "SITE", s.home)
				want := asThroughHub(t, one, direct[one.server].ask(one.method, params, one.hears))
				if len(want) != len(one.hears)+1 {
					t.Errorf("%s %s: without the hub %d messages came, not %d: %v", one.server, params, len(want), len(one.hears)+1, want)
				}
				if diff := cmp.Diff(want, hub.ask(one.method, prefixed(one, params), one.hears)); diff != "" {
					t.Errorf("%s %s %s is not the same through the hub (+):\n%s", one.server, one.method, params, diff)
				}
			}
		})
	}
}

// members writes them into config.toml, and gives their command lines.
func (s site) members() map[string][]string {
	s.t.Helper()
	here, err := os.Getwd()
	if err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	npm := func(name, arg string) []string {
		return []string{"node", filepath.Join(here, "node_modules/@modelcontextprotocol", name, "dist/index.js"), arg}
	}
	commands := map[string][]string{
		"files": npm("server-filesystem", s.projects()), "everything": npm("server-everything", "stdio"), "go": {self, "go-server"},
	}
	config := "[hub]\nlist_wait = \"1m\"\n"
	for _, id := range members {
		argv, _ := json.Marshal(commands[id])
		config += fmt.Sprintf("[upstream.%s]\ncommand = %s\n", id, argv)
	}
	s.write(".config/clawai/config.toml", config)
	return commands
}

// sameLists waits until the hub lists all that the servers do: they may list more in a moment.
func sameLists(t *testing.T, method string, direct map[string]*speaker, hub *speaker) {
	t.Helper()
	member, name := listings[method][0], listings[method][1]
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		want := []any{}
		for _, id := range members {
			for _, one := range direct[id].list(method, member) {
				entry := one.(map[string]any)
				if name != "" {
					entry[name] = upstream.Advertised(id, id, entry[name].(string))
					if text, ok := entry["description"].(string); ok {
						entry["description"] = "[" + id + "] " + text
					}
				}
				want = append(want, entry)
			}
		}
		diff := cmp.Diff(want, hub.list(method, member))
		if diff == "" {
			if len(want) < 3 {
				t.Errorf("%s has %d entries", method, len(want))
			}
			return
		}
		if time.Now().After(end) {
			t.Errorf("%s is not the same through the hub (+):\n%s", method, diff)
			return
		}
	}
}

// prefixed are the parameters by which the hub is asked the same.
func prefixed(one step, params string) string {
	if one.method != "tools/call" && one.method != "prompts/get" && !strings.Contains(params, `"ref/prompt"`) {
		return params
	}
	return regexp.MustCompile(`"name":"([^"]*)"`).ReplaceAllStringFunc(params, func(m string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(m, `"name":"`), `"`)
		if one.method == "completion/complete" && strings.Contains(params, `"argument":{"name":"`+name+`"`) {
			return m
		}
		return `"name":"` + upstream.Advertised(one.server, one.server, name) + `"`
	})
}

// asThroughHub are the messages of a server as the hub must give them.
func asThroughHub(t *testing.T, one step, said []any) []any {
	t.Helper()
	for _, m := range said {
		message := m.(map[string]any)
		params, _ := message["params"].(map[string]any)
		switch message["method"] {
		case "elicitation/create":
			params["message"] = "[" + one.server + "] " + params["message"].(string)
		case "sampling/createMessage":
			meta, _ := params["_meta"].(map[string]any)
			if meta == nil {
				meta = map[string]any{}
			}
			meta["clawai/server"], params["_meta"] = one.server, meta
		case "notifications/message":
			if logger, ok := params["logger"].(string); ok {
				params["logger"] = one.server + "." + logger
			} else {
				params["logger"] = one.server
			}
		}
	}
	return said
}

// speaker is a client of one command, that answers what it is asked.
type speaker struct {
	t     *testing.T
	in    io.Writer
	lines chan string
	last  int
	home  string
}

func (s site) speak(version string, argv ...string) *speaker {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), argv[0], argv[1:]...)
	cmd.Env = s.env
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	one := &speaker{t: s.t, in: in, lines: make(chan string, 1000), home: s.home}
	go func() {
		defer close(one.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			one.lines <- line
		}
	}()
	s.t.Cleanup(func() {
		_ = in.Close()
		for range one.lines { // it ends
		}
		_ = cmd.Wait()
	})
	got := one.ask("initialize", `{"protocolVersion":"`+version+`","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"parity","version":"1"}}`, nil)
	if result, _ := got[0].(map[string]any)["result"].(map[string]any); result["protocolVersion"] != version {
		s.t.Fatalf("%q speaks %v", argv, got)
	}
	one.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return one
}

func (p *speaker) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// ask gives what was said from a request to its answer, of methods only those that are wanted: servers
// ask for roots, and tell of lists, when they like. What is anew every time is made the same.
func (p *speaker) ask(method, params string, wanted []string) (said []any) {
	p.t.Helper()
	p.last++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.last, method, params))
	for late := time.After(time.Minute); ; {
		var line string
		select {
		case next, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("it ended before it answered %s %s", method, params)
			}
			line = next
		case <-late:
			p.t.Fatalf("no answer to %s %s; %v", method, params, said)
		}
		var message map[string]any
		read := json.NewDecoder(strings.NewReader(times.ReplaceAllString(line, "NOW")))
		read.UseNumber()
		if err := read.Decode(&message); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		called, _ := message["method"].(string)
		if id, asked := message["id"]; asked && called != "" {
			p.reply(id, called)
		}
		answers := called == "" && fmt.Sprint(message["id"]) == fmt.Sprint(p.last)
		delete(message, "id")
		if answers || slices.Contains(wanted, called) {
			said = append(said, message)
		}
		if answers {
			return said
		}
	}
}

// times are those in what server-everything says.
var times = regexp.MustCompile(`\d{1,2}:\d\d:\d\d( [AP]M)?|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// reply is what this client says to whatever it is asked.
func (p *speaker) reply(id any, method string) {
	p.t.Helper()
	result := map[string]string{
		"roots/list":             `{"roots":[{"uri":"file://` + p.home + `/projects","name":"projects"}]}`,
		"sampling/createMessage": `{"role":"assistant","content":{"type":"text","text":"an answer"},"model":"none","stopReason":"endTurn"}`,
		"elicitation/create":     `{"action":"accept","content":{"name":"somebody"}}`,
		"ping":                   `{}`,
	}[method]
	given, err := json.Marshal(id)
	if err != nil || result == "" {
		p.t.Fatalf("%v: asked for %s", err, method)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, given, result))
}

// list follows a list to its end.
func (p *speaker) list(method, member string) []any {
	p.t.Helper()
	all, params := []any{}, `{}`
	for {
		answer := p.ask(method, params, nil)[0].(map[string]any)
		result, ok := answer["result"].(map[string]any)
		if !ok {
			return all // it has none
		}
		page, _ := result[member].([]any)
		all = append(all, page...)
		cursor, more := result["nextCursor"].(string)
		if !more || cursor == "" {
			return all
		}
		params = fmt.Sprintf(`{"cursor":%q}`, cursor)
	}
}
