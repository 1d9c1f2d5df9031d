//go:build attack

// Package reload saves policies in every clumsy way while calls are made, and looks
// whether one passes that no whole text allows.
package reload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/test/attack"
)

func TestMain(m *testing.M) {
	if os.Getenv("RELOAD_SERVER") != "" {
		serve()
		return
	}
	os.Exit(m.Run())
}

// serve answers every call.
func serve() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var call struct{ ID json.RawMessage }
		if json.Unmarshal(lines.Bytes(), &call) == nil && call.ID != nil {
			fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", call.ID)
		}
	}
}

func rule(action, rest string) string {
	return "[[rule]]\naction = \"" + action + "\"\n" + rest + "\n\n"
}

// The whole texts. What stands last is lost first when a file is cut, and what is
// cut within a rule makes it wider.
var (
	secret = rule("deny", `tool = "secret"`)
	narrow = rule("allow", "tool = \"run\"\nargs.path = \"/safe/**\"")
	some   = rule("allow", "tool = \"some\"")
	rest   = rule("allow", "tool = \"other\"") + rule("allow", "tool = \"secret\"\nargs.path = \"/open/**\"")

	owners = []string{
		secret + rest + narrow, some + secret + rest + narrow,
		"# A comment that grows.\n" + secret + some + narrow + rest,
	}
	layers = []string{
		rule("deny", "tool = \"shut\"") + rule("deny", "tool = \"run\"\nargs.path = \"/etc/**\""),
		rule("prompt", "tool = \"asks\"") + rule("deny", "tool = \"shut\"") + rule("deny", "tool = \"run\"\nargs.path = \"/etc/**\""),
	}
)

// denied are the calls that every whole text denies. The owner's file allows "shut"
// and a path below /etc in none of its texts, but in some of its halves.
var denied = []string{
	`{"name":"secret","arguments":{"path":"/x"}}`,
	`{"name":"secret","arguments":{}}`,
	`{"name":"run","arguments":{"path":"/etc/passwd"}}`,
	`{"name":"run","arguments":{}}`,
	`{"name":"shut","arguments":{}}`,
	`{"name":"nowhere","arguments":{}}`,
}

const allowed = `{"name":"other","arguments":{}}`

func TestReload(t *testing.T) {
	budget, err := attack.Budget()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, marked := range []bool{false, true} {
		t.Run(fmt.Sprintf("marked=%v", marked), func(t *testing.T) { check(t, budget/2, seed, marked) })
	}
}

func check(t *testing.T, budget time.Duration, seed uint64, marked bool) {
	dir := t.TempDir()
	w := &writer{t: t, r: rand.New(rand.NewPCG(seed, 1)), dir: dir, marked: marked}
	w.whole("layer.toml", layers[0])
	w.whole("policy.toml", owners[0])
	p := start(t, dir)
	p.call(allowed) // the session stands
	w.end = time.Now().Add(budget)
	var calls, passed int
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run()
	}()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		for _, params := range denied {
			began := time.Now()
			if answer := p.call(params); !strings.Contains(answer, `"decision":"deny"`) && !w.stalled(began) {
				t.Errorf("seed %d: the call passed: %s\nanswer: %s\nafter: %s", seed, params, answer, w.last())
			}
			calls++
		}
		if strings.Contains(p.call(allowed), `"result":{"content":[]}`) {
			passed++
		}
	}
	t.Logf("seed %d: %d edits, %d calls that must be denied, %d of %d others passed", seed, w.edits, calls, passed, calls/len(denied))
	if w.edits < 5 || passed == 0 {
		t.Errorf("nothing was tried")
	}
}

// writer saves the policy and the layer as editors, deployments and accidents do.
type writer struct {
	t      *testing.T
	r      *rand.Rand
	dir    string
	marked bool // texts end with the end mark, so that half of one may stand for long
	end    time.Time

	mu    sync.Mutex
	edits int
	how   []string
	slow  [][2]time.Time // when a half-written file stood for so long that it is believed
}

// believed is how long a half-written file without an end mark may stand here; the
// proxy takes one that is still for two seconds for whole.
const believed = time.Second

func (w *writer) text(name string) string {
	if name == "policy.toml" {
		return owners[w.r.IntN(len(owners))]
	}
	return layers[w.r.IntN(len(layers))]
}

func (w *writer) path(name string) string { return filepath.Join(w.dir, name) }

func (w *writer) whole(name, text string) {
	if w.marked {
		text += "# end\n"
	}
	w.put(name, text)
}

func (w *writer) put(name, text string) {
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Error(err)
	}
}

func (w *writer) run() {
	for time.Now().Before(w.end) {
		name := []string{"policy.toml", "layer.toml"}[w.r.IntN(2)]
		text := w.text(name)
		cut := w.r.IntN(len(text))
		steps := [...]struct {
			what string
			half func()
		}{
			{"cut before a condition", func() { w.put(name, text[:strings.LastIndex(text, "args.")]) }},
			{"truncated", func() { w.put(name, "") }},
			{"cut", func() { w.put(name, text[:cut]) }},
			{"cut at a rule", func() { w.put(name, text[:strings.LastIndex(text, "[[rule]]")]) }},
			{"grown bit by bit", func() {
				for at := 0; at < cut; at += 40 {
					w.put(name, text[:at])
					time.Sleep(20 * time.Millisecond)
				}
			}},
			{"moved away", func() { w.move(name, name+"~") }},
			{"moved away and cut", func() { w.move(name, name+"~"); w.put(name, text[:cut]) }},
			{"written over", func() { w.over(name, text[:cut]) }},
			{"replaced by a half", func() { w.put("new", text[:cut]); w.move("new", name) }},
			{"a folder", func() { _ = os.Remove(w.path(name)); _ = os.Mkdir(w.path(name), 0o700) }},
		}
		step := steps[0]
		if w.r.IntN(3) > 0 {
			step = steps[w.r.IntN(len(steps))]
		}
		w.note(fmt.Sprintf("%s of %s at %d", step.what, name, cut))
		began := time.Now()
		step.half()
		pause := 150 + w.r.IntN(450)
		if w.marked {
			pause = w.r.IntN(4000)
		}
		time.Sleep(time.Duration(pause) * time.Millisecond)
		_ = os.Remove(w.path(name))
		w.whole(name, text)
		if time.Since(began) > believed && !w.marked {
			w.mu.Lock()
			w.slow = append(w.slow, [2]time.Time{began, time.Now().Add(believed)})
			w.mu.Unlock()
		}
		w.note("whole again")
		if w.r.IntN(6) == 0 {
			time.Sleep(2500 * time.Millisecond) // so that it counts
		}
	}
}

func (w *writer) move(from, to string) { _ = os.Rename(w.path(from), w.path(to)) }

// over writes into the file as it is, without cutting it first.
func (w *writer) over(name, text string) {
	f, err := os.OpenFile(w.path(name), os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if !w.marked { // with the mark behind it, such a mixture is whole to everybody
		_, _ = f.WriteString(text)
	}
}

func (w *writer) note(how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.edits++
	w.how = append(w.how, how)
}

func (w *writer) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.how[max(0, len(w.how)-6):], "; ")
}

// stalled says whether the machine was so busy that the writer's pause became a long
// one, as a call of that time may show.
func (w *writer) stalled(call time.Time) bool {
	time.Sleep(believed) // the writer may be in the pause still
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.slow, func(s [2]time.Time) bool { return call.After(s[0]) && call.Before(s[1]) })
}

// proxy is a real one, with the test as its server.
type proxy struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	n   int
}

func start(t *testing.T, dir string) *proxy {
	t.Helper()
	binary := filepath.Join(dir, "clawai")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/clawai/clawai/cmd/clawai").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(binary, "proxy", "--policy", filepath.Join(dir, "policy.toml"), "--layer", filepath.Join(dir, "layer.toml"),
		"--state", filepath.Join(dir, "state"), "--", os.Args[0])
	cmd.Env = append(os.Environ(), "RELOAD_SERVER=1", "CLAWAI_CONFIG_DIR="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
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
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, errs.String())
		}
	})
	return &proxy{t: t, in: in, out: bufio.NewReader(out)}
}

func (p *proxy) call(params string) string {
	p.n++
	fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", p.n, params)
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return line
}
