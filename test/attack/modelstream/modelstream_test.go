//go:build attack

// Package modelstream_test attacks what clawai reads in replies of models: the parsers of the clients'
// own libraries read what clawai sends on (docs/attack.md).
package modelstream_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
	"github.com/clawai/clawai/test/attack"
)

// reply is a reply of a service, perhaps one that no service would write.
type reply struct {
	API    string `json:"api"`
	Name   string `json:"name"`
	Stream bool   `json:"stream"` // the client asks for a stream
	Type   string `json:"type"`   // Content-Type; "": what the client asks for
	Body   string `json:"body"`
}

// ways holds the client and the path of each API.
var ways = map[string]struct{ client, path string }{
	"messages":  {"claude-code", "/v1/messages"},
	"responses": {"codex", "/v1/responses"},
	"chat":      {"qwen-code", "/v1/chat/completions"},
	"gemini":    {"gemini-cli", "/v1beta/models/m:streamGenerateContent?alt=sse"},
}

// record keeps what was judged.
type record struct {
	mu     sync.Mutex
	judged []string
}

func (r *record) Record(events ...*event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range events {
		ev.Record = "r"
		if ev.Kind == event.Decision {
			r.judged = append(r.judged, describeCall(strings.Join(ev.Names, "|"), string(ev.Args)))
		}
	}
	return nil
}

func (r *record) takeJudged() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.judged
	r.judged = nil
	return all
}

// describeCall returns a call in one form, whatever the blanks and the order of its arguments.
func describeCall(name, args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) == nil {
		if text, err := json.Marshal(v); err == nil {
			args = string(text)
		}
	}
	if args == "" || args == "null" { // no client tells them apart
		args = "{}"
	}
	return name + " " + args
}

type nobody struct{}

func (nobody) Ask(context.Context, gate.Question) (gate.Answer, error) {
	return gate.Answer{}, errors.New("nobody is here")
}

// attacker holds services that give every reply there is, behind clawai with one rule for all tools, and
// the program with the parsers.
type attacker struct {
	*rand.Rand
	t       testing.TB
	replies []reply // the last one is the one that is asked for
	mu      sync.Mutex
	records map[string]*record
	urls    map[string]string // by action and API
	in      io.Writer
	out     *bufio.Scanner
	read    map[string]int // calls, by parser
	made    int
}

var asked = regexp.MustCompile(`case (\d+)`)

func newAttacker(t testing.TB, seed uint64, judge bool) *attacker {
	a := &attacker{Rand: rand.New(rand.NewPCG(seed, 29)), t: t, records: map[string]*record{}, urls: map[string]string{}, read: map[string]int{}}
	text, err := os.ReadFile("testdata/streams.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		a.replies = append(a.replies, r)
	}
	for api, way := range ways {
		for _, action := range []string{"deny", "allow"} {
			a.startProxy(action, api, way.client, judge)
		}
	}
	node := exec.Command("node", "parsers.mjs")
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Process.Kill(); _ = node.Wait() })
	a.in, a.out = in, bufio.NewScanner(out)
	a.out.Buffer(nil, 1<<24)
	return a
}

// startProxy starts clawai between a client's parser and the replies.
func (a *attacker) startProxy(action, api, id string, judge bool) {
	p, err := policy.Parse("attack.toml", []byte("[[rule]]\naction = \""+action+"\"\ntool = \"*\"\n"), policy.Options{Home: "/home/u"})
	if err != nil {
		a.t.Fatal(err)
	}
	kept := &record{}
	g, err := gate.New(gate.Options{Policy: p, Recorder: kept, Approver: nobody{}, Concluder: gate.None{}, Releases: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, ObserveOnly: !judge})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(g.Close)
	far := httptest.NewServer(http.HandlerFunc(a.giveReply))
	a.t.Cleanup(far.Close)
	to, err := url.Parse(far.URL)
	if err != nil {
		a.t.Fatal(err)
	}
	near := httptest.NewServer(model.NewServer(model.Options{Client: client.FindRow(id), Cwd: "/work", Upstream: to, Secret: "secret", Gate: g, Judge: judge, All: true, Transport: &http.Transport{DisableCompression: true}}))
	a.t.Cleanup(near.Close)
	a.records[action+" "+api], a.urls[action+" "+api] = kept, near.URL+"/secret"
}

func (a *attacker) giveReply(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	match := asked.FindSubmatch(body)
	if err != nil || match == nil {
		http.Error(w, "no case", http.StatusBadRequest)
		return
	}
	n, _ := strconv.Atoi(string(match[1]))
	a.mu.Lock()
	one := a.replies[n]
	a.mu.Unlock()
	kind := one.Type
	if kind == "" {
		kind = map[bool]string{true: "text/event-stream", false: "application/json"}[one.Stream]
	}
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, one.Body)
}

// parsed is what a client's parser reads in a reply.
type parsed struct {
	Reader string      `json:"reader"`
	Calls  [][2]string `json:"calls"`
	Error  string      `json:"error"`
	End    bool        `json:"end"`
}

func (a *attacker) askParsers(n int, address string) (all []parsed) {
	line, err := json.Marshal(map[string]any{"n": n, "api": a.replies[n].API, "url": address, "stream": a.replies[n].Stream})
	if err != nil {
		a.t.Fatal(err)
	}
	fmt.Fprintf(a.in, "%s\n", line)
	for a.out.Scan() {
		var one parsed
		if err := json.Unmarshal(a.out.Bytes(), &one); err != nil {
			a.t.Fatalf("%v in %s", err, a.out.Bytes())
		}
		if one.End {
			return all
		}
		a.read[one.Reader] += len(one.Calls)
		all = append(all, one)
	}
	a.t.Fatal("the parsers have ended; is test/attack/modelstream installed? npm ci --prefix test/attack/modelstream --ignore-scripts")
	return nil
}

// tryReply lets the parsers read a reply once where everything is denied, and once where all is allowed. No
// parser may read a denied call under its own name, or a call that was not judged as it reads it.
func (a *attacker) tryReply(n int) (findings []string) {
	one := a.replies[n]
	for _, p := range a.askParsers(n, a.urls["deny "+one.API]) {
		for _, call := range p.Calls {
			if call[0] != "" && !strings.HasPrefix(call[0], "clawai_denied_") {
				findings = append(findings, fmt.Sprintf("%s: everything is denied, and %s reads %q", one.Name, p.Reader, p.Calls))
				break
			}
		}
	}
	kept := a.records["allow "+one.API]
	kept.takeJudged()
	resp, err := http.Post(a.urls["allow "+one.API]+ways[one.API].path, "application/json", strings.NewReader(fmt.Sprintf(`{"messages":[],"input":[],"contents":[],"x":"case %d"}`, n)))
	if err != nil {
		a.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	judged := kept.takeJudged()
	for _, p := range a.askParsers(n, a.urls["allow "+one.API]) {
		left := slices.Clone(judged)
		for _, call := range p.Calls {
			i := slices.Index(left, describeCall(call[0], call[1]))
			switch {
			case call[0] == "" || strings.HasPrefix(call[0], "clawai_denied_"):
			case i < 0:
				findings = append(findings, fmt.Sprintf("%s: judged were %q, and %s reads %q", one.Name, judged, p.Reader, p.Calls))
			default:
				left = slices.Delete(left, i, i+1)
			}
		}
	}
	for i := range findings {
		findings[i] += "\n" + one.Body
	}
	return findings
}

func TestModelStreams(t *testing.T) {
	budget, err := attack.Budget()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	a := newAttacker(t, seed, true)
	for n := range a.replies {
		for _, finding := range a.tryReply(n) {
			t.Error(finding)
		}
	}
	known := len(a.replies)
	for deadline, found := time.Now().Add(budget), 0; time.Now().Before(deadline) && found < 20; a.made++ {
		a.addReply(a.mutateReply(known))
		for _, finding := range a.tryReply(known) {
			found++
			t.Errorf("ATTACK_SEED=%d: %s", seed, finding)
		}
	}
	t.Logf("ATTACK_SEED=%d: %d replies of the table, %d more; calls read: %v", seed, known, a.made, a.read)
	if len(a.read) < 11 {
		t.Errorf("only %d parsers have read", len(a.read))
	}
	for reader, n := range a.read {
		if n == 0 {
			t.Errorf("%s has read no call: it was not tried", reader)
		}
	}
}

// TestPlantedModelStream: a proxy that only hears lets denied calls pass, and that is found.
func TestPlantedModelStream(t *testing.T) {
	a := newAttacker(t, 1, false)
	for n := range a.replies {
		if findings := a.tryReply(n); findings != nil {
			t.Logf("found: %s", findings[0])
			return
		}
	}
	t.Error("the planted hole was not found")
}
