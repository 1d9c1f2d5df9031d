//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/state/upstream"
)

// eras are the versions that a client may settle on. In the last nobody introduces himself.
var eras = []string{"2024-11-05", "2025-03-26", "2025-06-18", introduced, modern}

// modern is the version in which each request says its own, and introduced the last one before it.
const modern, introduced = "2026-07-28", "2025-11-25"

// members of the parity suite, in the order of config.toml.
var members = []string{"files", "everything", "go"}

// step is one request of a client's.
type step struct {
	server, method string
	params         string // as the server has them; SITE is the folder of the test
	// hears is what the server must say besides, before it answers.
	hears []string
	// then is what it says when it has answered.
	then string
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
	// Before any listen ends: the SDK forgets the session's others for lists then (go-sdk#1275).
	{server: "go", method: "tools/call", params: `{"name":"grows","arguments":{}}`, then: "notifications/tools/list_changed"},
	{server: "go", method: "resources/unsubscribe", params: `{"uri":"go:///note"}`},
	{server: "go", method: "tools/call", params: `{"name":"updates","arguments":{}}`},
}

// removed are the methods that the modern version has no more.
var removed = []string{"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

// listings are the methods that list, with the member that is the list and the one by which its
// entries are called.
var listings = map[string][2]string{
	"tools/list":               {"tools", "name"},
	"prompts/list":             {"prompts", "name"},
	"resources/list":           {"resources", ""},
	"resources/templates/list": {"resourceTemplates", ""},
}

// TestHubParity: what three servers list, answer, report and ask is through the hub what it is
// without it, but for what docs/hub.md says is changed. The servers of npm do not speak the modern
// version: what they say in the last before it is what a modern client must get through the hub.
// Over HTTP that is the same.
func TestHubParity(t *testing.T) {
	for _, run := range append(slices.Clone(eras), modern+" over HTTP") {
		t.Run(run, func(t *testing.T) {
			s := newSite(t, allowAll)
			commands := s.members()
			version, overHTTP := strings.CutSuffix(run, " over HTTP")
			var hub *speaker
			if overHTTP {
				hub = s.dial(s.listens("--hub"))
			} else {
				hub = s.speak(version, clawai, "hub")
			}
			direct := map[string]*speaker{}
			for id, argv := range commands {
				direct[id] = s.speak(version, argv...)
			}
			if is := version == modern; hub.modern != is || direct["go"].modern != is {
				t.Fatalf("the hub speaks %s: %v, the server of the Go SDK: %v", modern, hub.modern, direct["go"].modern)
			}
			for method := range listings {
				sameLists(t, method, direct, hub)
			}
			for _, one := range steps {
				if hub.modern && slices.Contains(removed, one.method) {
					replaced(t, one, direct[one.server], hub)
				} else {
					same(t, one, direct[one.server], hub)
				}
			}
			sameLists(t, "tools/list", direct, hub)
		})
	}
}

// same plays a step at a server, and at the hub.
func same(t *testing.T, one step, direct, hub *speaker) {
	t.Helper()
	params := strings.ReplaceAll(one.params, "SITE", hub.home)
	want := asThroughHub(t, one, direct.ask(one.method, params, one.hears), hub.modern, direct.modern)
	if len(want) != len(one.hears)+1 {
		t.Errorf("%s %s: without the hub %d messages came, not %d: %v", one.server, params, len(want), len(one.hears)+1, want)
	}
	got := hub.ask(one.method, prefixed(one, params), one.hears)
	if hub.modern && !direct.modern {
		for _, m := range got { // the hub keeps the call meanwhile: key and state are its own
			delete(m.(map[string]any), "asked")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s %s is not the same through the hub (+):\n%s", one.server, one.method, params, diff)
	}
	if one.then != "" {
		direct.hear(one.then)
		hub.hear(one.then)
	}
}

// replaced plays what the modern version has in place of a method: a member of each request's _meta,
// and one request for all that is to be told of.
func replaced(t *testing.T, one step, direct, hub *speaker) {
	t.Helper()
	modern := []*speaker{hub}
	if direct.modern {
		modern = append(modern, direct)
	}
	var agreed []any
	for _, p := range modern {
		answer := p.ask(one.method, one.params, nil)[0].(map[string]any)
		if e, _ := answer["error"].(map[string]any); e["code"] != json.Number("-32601") {
			t.Errorf("%s is answered with %v", one.method, answer)
		}
		switch one.method {
		case "logging/setLevel":
			p.level = json.RawMessage(one.params)
		case "resources/subscribe":
			agreed = append(agreed, p.listen(one.params))
		case "resources/unsubscribe":
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, p.listens[len(p.listens)-1]))
		}
	}
	if one.method == "resources/subscribe" {
		if !direct.modern { // it has no word for it, and must agree to each
			if got := direct.ask(one.method, one.params, nil)[0].(map[string]any); got["error"] != nil {
				t.Errorf("without the hub: %v", got)
			}
			agreed = append(agreed, acknowledged(one.params))
		}
		if diff := cmp.Diff(agreed[1], agreed[0]); diff != "" {
			t.Errorf("%s is not agreed to as without the hub (+):\n%s", one.params, diff)
		}
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
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		want := []any{}
		for _, id := range members {
			for _, one := range direct[id].list(method, member) {
				entry := one.(map[string]any)
				if name != "" {
					entry[name] = upstream.AdvertisedName(id, id, entry[name].(string))
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
		return `"name":"` + upstream.AdvertisedName(one.server, one.server, name) + `"`
	})
}

// asThroughHub are the messages of a server as the hub must give them to a modern client, or an
// earlier one.
func asThroughHub(t *testing.T, one step, said []any, client, server bool) []any {
	t.Helper()
	for _, m := range said {
		message := m.(map[string]any)
		params, _ := message["params"].(map[string]any)
		if client && !server {
			modernized(one.method, message)
		}
		switch message["method"] {
		case "elicitation/create":
			params["message"] = "[" + one.server + "] " + params["message"].(string)
		case "sampling/createMessage":
			if server {
				break // the question stands in an answer, which stays as it is
			}
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

// modernized is what the answer of an earlier server gets for a modern client.
func modernized(method string, answer map[string]any) {
	if result, ok := answer["result"].(map[string]any); ok {
		result["resultType"] = "complete"
		if method == "resources/read" {
			result["ttlMs"], result["cacheScope"] = json.Number("0"), "private"
		}
	}
}

// speaker is a client of one command, that answers what it is asked.
type speaker struct {
	t     *testing.T
	in    io.Writer
	lines chan string
	last  int
	home  string

	modern  bool
	apart   bool             // each answer comes on a stream of its own
	level   json.RawMessage  // the params by which an earlier client sets it
	listens []int            // ids of its requests to be told of something
	passed  []map[string]any // messages that the last request did not want
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
	capabilities := `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`
	if version == modern {
		one.modern = true
		got := one.ask("server/discover", `{}`, nil)[0].(map[string]any)
		result, _ := got["result"].(map[string]any)
		versions, _ := result["supportedVersions"].([]any)
		if slices.Contains(versions, any(version)) {
			return one
		}
		one.modern, version, capabilities = false, introduced, can
	}
	got := one.ask("initialize", `{"protocolVersion":"`+version+`","capabilities":`+capabilities+`,"clientInfo":{"name":"parity","version":"1"}}`, nil)
	if result, _ := got[0].(map[string]any)["result"].(map[string]any); result["protocolVersion"] != version {
		s.t.Fatalf("%q speaks %v", argv, got)
	}
	one.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return one
}

// dial is a modern client of an address.
func (s site) dial(at string) *speaker {
	s.t.Helper()
	ctx, hangUp := context.WithCancel(s.t.Context())
	p := &poster{t: s.t, ctx: ctx, at: at, lines: make(chan string, 1000), asked: map[string]context.CancelFunc{}}
	s.t.Cleanup(func() {
		hangUp()
		p.all.Wait()
	})
	return &speaker{t: s.t, in: p, lines: p.lines, home: s.home, modern: true, apart: true}
}

// poster makes a request over HTTP of each line, and lines of what comes on its response. A
// request is taken back by hanging up.
type poster struct {
	t     *testing.T
	ctx   context.Context
	at    string
	lines chan string
	asked map[string]context.CancelFunc // by id
	all   sync.WaitGroup
}

func (p *poster) Write(line []byte) (int, error) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name, URI string
			RequestID json.RawMessage
		}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return 0, err
	}
	if m.Method == "notifications/cancelled" {
		p.asked[string(m.Params.RequestID)]()
		return len(line), nil
	}
	ctx, hangUp := context.WithCancel(p.ctx)
	p.asked[string(m.ID)] = hangUp
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.at, bytes.NewReader(bytes.Clone(line)))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": modern, "Mcp-Method": m.Method, "Mcp-Name": m.Params.Name + m.Params.URI,
	} {
		if name != "Mcp-Name" || slices.Contains([]string{"tools/call", "resources/read", "prompts/get"}, m.Method) {
			r.Header.Set(name, value)
		}
	}
	p.all.Go(func() {
		defer hangUp()
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			if ctx.Err() == nil {
				p.t.Error(err)
			}
			return
		}
		defer resp.Body.Close()
		events := resp.Header.Get("Content-Type") == "text/event-stream"
		for lines := bufio.NewReader(resp.Body); ; {
			text, err := lines.ReadString('\n')
			data, is := strings.CutPrefix(text, "data: ")
			if is || !events && text != "" {
				p.lines <- data
			}
			if err != nil {
				return
			}
		}
	})
	return len(line), nil
}

// can is what a modern client says that it can. Servers of npm would ask for roots at once, when
// nobody waits, or in whatever answer is next: it can list them only where a step is about that.
const can = `{"sampling":{},"elicitation":{}}`

// prefix is what members of _meta begin with.
const prefix = "io.modelcontextprotocol/"

// state has the params of a request say what the modern version wants in each.
func (p *speaker) state(params string, wanted []string) string {
	says := `"` + prefix + `protocolVersion":"` + modern + `","` + prefix + `clientInfo":{"name":"parity","version":"1"},"` + prefix + `clientCapabilities":`
	if slices.Contains(wanted, "roots/list") {
		says += `{"roots":{}}`
	} else {
		says += can
	}
	if p.level != nil {
		says += `,"` + prefix + `logLevel"` + strings.TrimSuffix(strings.TrimPrefix(string(p.level), `{"level"`), "}")
	}
	if strings.Contains(params, `"_meta":{`) {
		return strings.Replace(params, `"_meta":{`, `"_meta":{`+says+`,`, 1)
	}
	return with(params, `"_meta":{`+says+`}`)
}

// with are params with more members.
func with(params, members string) string {
	if params != "{}" {
		members += ","
	}
	return "{" + members + params[1:]
}

func (p *speaker) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// ask gives what was said from a request to its answer, of methods only those that are wanted: servers
// ask for roots, and tell of lists, when they like. What is anew every time is made the same. What a
// modern client is asked in an answer counts as said before it.
func (p *speaker) ask(method, params string, wanted []string) (said []any) {
	p.t.Helper()
	stated := params
	if p.modern {
		stated = p.state(params, wanted)
	}
	p.passed = nil
	for again := stated; ; {
		p.last++
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.last, method, again))
		var answer map[string]any
		for answer == nil {
			message := p.next(method + " " + params)
			called, _ := message["method"].(string)
			if called == "" && fmt.Sprint(message["id"]) == fmt.Sprint(p.last) {
				answer = message
			}
			delete(message, "id")
			if slices.Contains(wanted, called) {
				said = append(said, message)
			} else {
				p.passed = append(p.passed, message)
			}
		}
		result, _ := answer["result"].(map[string]any)
		kind, ok := result["resultType"].(string)
		if ok != (p.modern && result != nil) {
			p.t.Errorf("%s %s has the resultType %v", method, params, result["resultType"])
		}
		for p.apart && kind != "input_required" && len(said) < len(wanted) { // the answer may overtake what comes on another stream
			if message := p.next(method + " " + params); slices.Contains(wanted, fmt.Sprint(message["method"])) {
				said = append(said, message)
			} else {
				p.passed = append(p.passed, message)
			}
		}
		if kind != "input_required" {
			return append(said, answer)
		}
		var more []any
		again, more = p.round(stated, result)
		said = append(said, slices.DeleteFunc(more, func(m any) bool {
			return !slices.Contains(wanted, m.(map[string]any)["method"].(string))
		})...)
	}
}

// round answers what is asked in an answer: it gives the params to ask with again, and the questions as
// the requests that an earlier client gets, with what the answer has besides.
func (p *speaker) round(params string, result map[string]any) (again string, questions []any) {
	p.t.Helper()
	requests, _ := result["inputRequests"].(map[string]any)
	responses := ""
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		question := requests[key].(map[string]any)
		responses += fmt.Sprintf(`,%q:%s`, key, p.says(question["method"].(string)))
		question["jsonrpc"], question["asked"] = "2.0", []any{key, result["requestState"]}
		questions = append(questions, question)
	}
	if len(questions) == 0 {
		p.t.Fatalf("asked for nothing: %v", result)
	}
	members := `"inputResponses":{` + responses[1:] + `}`
	if state, ok := result["requestState"]; ok {
		text, err := json.Marshal(state)
		if err != nil {
			p.t.Fatal(err)
		}
		members += `,"requestState":` + string(text)
	}
	return with(params, members), questions
}

// next is one message, for whoever waits for this. What it asks is answered.
func (p *speaker) next(what string) (message map[string]any) {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("it ended before it answered %s", what)
		}
		read := json.NewDecoder(strings.NewReader(withoutTimes(line)))
		read.UseNumber()
		if err := read.Decode(&message); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
	case <-time.After(patience):
		p.t.Fatalf("nothing more comes for %s", what)
	}
	called, _ := message["method"].(string)
	if id, asked := message["id"]; asked && called != "" {
		if p.modern {
			p.t.Errorf("a modern client is asked by a request: %v", message)
		}
		p.reply(id, called)
	}
	params, _ := message["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	if id, ok := meta[prefix+"subscriptionId"]; ok && len(p.listens) > 0 && fmt.Sprint(id) == fmt.Sprint(p.listens[len(p.listens)-1]) {
		meta[prefix+"subscriptionId"] = "of the last listen"
	}
	return message
}

// hear waits until it is told of something, if it was not before the last answer: the two may overtake
// each other.
func (p *speaker) hear(method string) {
	p.t.Helper()
	for {
		var message map[string]any
		if len(p.passed) > 0 {
			message, p.passed = p.passed[0], p.passed[1:]
		} else {
			message = p.next(method)
		}
		if message["method"] != method {
			continue
		}
		if diff := cmp.Diff(listened(method, map[string]any{}), message); p.modern && diff != "" {
			p.t.Errorf("it is told of otherwise (+):\n%s", diff)
		}
		return
	}
}

// listen asks to be told of tools, and of the resource that an earlier client subscribes to, and is the
// acknowledgement.
func (p *speaker) listen(params string) any {
	p.t.Helper()
	p.last++
	p.listens = append(p.listens, p.last)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":%s}`, p.last, p.state(`{"notifications":`+filter(params)+`}`, nil)))
	for {
		message := p.next("subscriptions/listen")
		if message["method"] == "notifications/subscriptions/acknowledged" {
			return message
		}
		if fmt.Sprint(message["id"]) == fmt.Sprint(p.last) {
			p.t.Fatalf("nothing is listened to: %v", message)
		}
	}
}

// filter says what to listen to.
func filter(params string) string {
	return `{"toolsListChanged":true,"resourceSubscriptions":[` + strings.TrimSuffix(strings.TrimPrefix(params, `{"uri":`), "}") + `]}`
}

// acknowledged is the message that all of it is agreed to.
func acknowledged(params string) any {
	var all any
	if err := json.Unmarshal([]byte(filter(params)), &all); err != nil {
		panic(err)
	}
	return listened("notifications/subscriptions/acknowledged", map[string]any{"notifications": all})
}

// listened is what a listen is told.
func listened(method string, params map[string]any) map[string]any {
	params["_meta"] = map[string]any{prefix + "subscriptionId": "of the last listen"}
	return map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
}

// times are those in what server-everything says.
var times = regexp.MustCompile(`\d{1,2}:\d\d:\d\d( [AP]M)?|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

var blobs = regexp.MustCompile(`"blob":"([^"]*)"`)

// withoutTimes has NOW in place of each time, also of those within blobs.
func withoutTimes(line string) string {
	line = blobs.ReplaceAllStringFunc(line, func(member string) string {
		text, err := base64.StdEncoding.DecodeString(blobs.FindStringSubmatch(member)[1])
		if err != nil {
			return member // it is compared as it came
		}
		return `"blob":"` + base64.StdEncoding.EncodeToString(times.ReplaceAll(text, []byte("NOW"))) + `"`
	})
	return times.ReplaceAllString(line, "NOW")
}

// reply answers a request.
func (p *speaker) reply(id any, method string) {
	p.t.Helper()
	given, err := json.Marshal(id)
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, given, p.says(method)))
}

// says is what this client says to whatever it is asked.
func (p *speaker) says(method string) string {
	p.t.Helper()
	result := map[string]string{
		"roots/list":             `{"roots":[{"uri":"file://` + p.home + `/projects","name":"projects"}]}`,
		"sampling/createMessage": `{"role":"assistant","content":{"type":"text","text":"an answer"},"model":"none","stopReason":"endTurn"}`,
		"elicitation/create":     `{"action":"accept","content":{"name":"somebody"}}`,
		"ping":                   `{}`,
	}[method]
	if result == "" {
		p.t.Fatalf("asked for %s", method)
	}
	return result
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
