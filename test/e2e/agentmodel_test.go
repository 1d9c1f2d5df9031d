//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/scripted"
)

// hookID is the client's id for clawai llm-proxy, which is that of its hook.
func (a *agent) hookID() string {
	if a.id == "gemini" {
		return "gemini-cli"
	}
	return a.id
}

// noted is a request and its reply, as one side of clawai has seen them.
type noted struct {
	Method, Path string
	Header       http.Header
	Body         string
	Status       int
	Reply        http.Header
	Sent         string
}

// hops are the headers that belong to one connection, and what names the server in it.
var hops = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func withoutHops(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range hops {
		h.Del(name)
	}
	return h
}

// recorder keeps what a handler is asked and answers.
type recorder struct {
	http.Handler
	open sync.RWMutex // each request holds it for reading until its handler has ended
	mu   sync.Mutex   // guards all
	all  []*noted
}

type sentWriter struct {
	http.ResponseWriter
	sent   bytes.Buffer
	status int
}

func (w *sentWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *sentWriter) Write(p []byte) (int, error) {
	w.sent.Write(p)
	n, err := w.ResponseWriter.Write(p)
	w.Flush()
	return n, err
}

func (w *sentWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.open.RLock()
	defer r.open.RUnlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	n := &noted{Method: req.Method, Path: req.URL.String(), Header: withoutHops(req.Header), Body: string(body)}
	r.mu.Lock()
	r.all = append(r.all, n)
	r.mu.Unlock()
	out := &sentWriter{ResponseWriter: w, status: http.StatusOK}
	r.Handler.ServeHTTP(out, req)
	n.Status, n.Reply, n.Sent = out.status, withoutHops(w.Header()), out.sent.String()
}

// requests waits until each request has its answer: a client ends when it has read the last byte, and the handler
// that has written it ends later. It returns them in the order in which they came.
func (r *recorder) requests() (all []noted) {
	r.open.Lock()
	defer r.open.Unlock()
	for _, n := range r.all {
		all = append(all, *n)
	}
	return all
}

// bodies returns the bodies of all requests.
func (r *recorder) bodies() (all []string) {
	for _, n := range r.requests() {
		all = append(all, n.Body)
	}
	return all
}

// byContent orders requests: those that a client makes together come to each side in an order of their own.
func byContent(a, b noted) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Body, b.Body))
}

// modelSite is an agent without hooks, whose model is reached through clawai.
func modelSite(t *testing.T, a agent, url, policy string) agentSite {
	s := newAgentSite(t, a, url, policy)
	s.must(filepath.Join(s.bin, "clawai"), "unwrap", "--hooks", a.id, "--yes")
	return s
}

// playThrough has the agent work behind clawai llm-proxy.
func (s *agentSite) playThrough(options ...string) {
	s.t.Helper()
	words := s.absolute()
	words = slices.Concat([]string{filepath.Join(s.bin, "clawai"), "llm-proxy", "--client", s.hookID()}, options, []string{"--"}, words)
	cmd := exec.CommandContext(s.t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = s.projects(), append(slices.Clip(s.env), "PWD="+s.projects())
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Errorf("%s: %v\n%s", s.id, err, out)
	}
	if s.t.Failed() {
		s.t.Logf("%s said\n%s", s.id, out)
	}
}

const shellRules = `
[[rule]]
action = "deny"
tool = "shell"
args.command = "touch denied*"
description = "Not this file"

[[rule]]
action = "allow"
tool = "shell"
args.command = "touch *"
`

// TestModelEars: clawai llm-proxy changes no byte of what three clients and their model write to
// each other, and has every call and every result on record.
func TestModelEars(t *testing.T) {
	for _, a := range agents {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			model := &scripted.Model{Pieces: true}
			upstream := &recorder{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Date"], w.Header()["X-Odd"] = []string{"Thu, 01 Jan 1970 00:00:00 GMT"}, []string{"a", "b, c"}
				r.URL.Path = strings.Replace(r.URL.Path, "/v1/responses", "/responses", 1)
				model.ServeHTTP(w, r)
			})}
			s := modelSite(t, a, serve(t, upstream), shellRules)
			model.Turns = []scripted.Turn{s.touch("allowed-a"), s.touch("denied-b"), s.touch("allowed-c", "allowed-d")}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			taps := filepath.Join(s.home, "taps.json")
			s.command = slices.Concat([]string{self, "model-tap", taps}, s.absolute())
			s.playThrough()
			var near []noted
			src, err := os.ReadFile(taps)
			if err == nil {
				err = json.Unmarshal(src, &near)
			}
			if err != nil || len(near) < 4 || model.CountAsked() != 4 {
				t.Fatalf("%d requests, %d turns: %v", len(near), model.CountAsked(), err)
			}
			far := upstream.requests()
			for i := range far { // the address that stands in Codex's settings has a path
				far[i].Path = strings.Replace(far[i].Path, "/v1/responses", "/responses", 1)
			}
			slices.SortStableFunc(near, byContent)
			slices.SortStableFunc(far, byContent)
			if diff := gocmp.Diff(near, far); diff != "" {
				t.Errorf("what the client wrote and read is not what the service read and wrote (-client +service):\n%.4000s", diff)
			}
			for _, file := range []string{"allowed-a", "denied-b", "allowed-c", "allowed-d"} {
				if !s.made(file) {
					t.Errorf("%s did not run", file)
				}
			}
			log := s.must(clawai, "log", "--json")
			if n := strings.Count(log, `"kind":"decision"`); n != 4 || strings.Count(log, `"policy":"deny","decision":"allow"`) != 1 {
				t.Errorf("%d calls on record:\n%s", n, log)
			}
			if n := strings.Count(log, `"kind":"outcome"`); n != 4 || strings.Contains(log, "model/unread") {
				t.Errorf("%d results on record:\n%s", n, log)
			}
			s.must(clawai, "log", "verify")
		})
	}
}

// TestModelDenied: a denied call is not executed by three real clients, the conversation goes on,
// the model reads why, and nothing of the refused name reaches the service.
func TestModelDenied(t *testing.T) {
	for _, a := range agents {
		for _, pieces := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s in pieces %v", a.id, pieces), func(t *testing.T) {
				t.Parallel()
				model := &scripted.Model{Pieces: pieces}
				upstream := &recorder{Handler: model}
				s := modelSite(t, a, serve(t, upstream), shellRules)
				model.Turns = []scripted.Turn{s.touch("allowed-a"), s.touch("denied-b"), s.touch("allowed-c", "denied-d", "allowed-e"), s.touch("denied-f", "denied-g"), s.touch("allowed-h")}
				s.playThrough("--judge", "uncovered")
				if model.CountAsked() != len(model.Turns)+1 {
					t.Errorf("the model was asked for %d of %d turns", model.CountAsked(), len(model.Turns)+1)
				}
				for file, want := range map[string]bool{"allowed-a": true, "denied-b": false, "allowed-c": true, "denied-d": false, "allowed-e": true, "denied-f": false, "denied-g": false, "allowed-h": true} {
					if ran := s.made(file); ran != want {
						t.Errorf("%s ran: %v", file, ran)
					}
				}
				all := upstream.bodies()
				for _, body := range all {
					if strings.Contains(body, "clawai_denied") {
						t.Errorf("the service reads the name of a refused call:\n%s", body)
					}
				}
				last := ""
				if len(all) > 0 {
					last = all[len(all)-1]
				}
				if strings.Count(last, "Refused by the owner's policy") != 4 {
					t.Errorf("the model was told of %d denials:\n%s", strings.Count(last, "Refused by the owner's policy"), last)
				}
				log := s.must(clawai, "log", "--json")
				if n := strings.Count(log, "denied_by_rule"); n != 4 {
					t.Errorf("%d denials on record:\n%s", n, log)
				}
				s.must(clawai, "log", "verify")
			})
		}
	}
}

// touch is a turn that makes files, each by a call of its own.
func (s *agentSite) touch(files ...string) scripted.Turn {
	var all []scripted.Turn
	for _, file := range files {
		all = append(all, scripted.Turn{Tool: s.shell, Args: s.args("touch " + file)})
	}
	all[0].Also = all[1:]
	return all[0]
}

// absolute is the client's command line, runnable in any folder.
func (s *agentSite) absolute() []string {
	words := slices.Clone(s.command)
	for i, word := range words {
		if i > 0 && !strings.HasPrefix(word, "node_modules/") {
			continue
		}
		var err error
		if words[i], err = filepath.Abs(word); err != nil {
			s.t.Fatal(err)
		}
	}
	return words
}

var baseURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w+`)

// tapModel runs a client with what stands before its model, and keeps what they write to each
// other: clawai has led the client to its address by a variable or by the first words.
func tapModel(file string, words []string) int {
	tap := &recorder{}
	var address string
	server := httptest.NewServer(tap)
	defer server.Close()
	lead := func(text string) string {
		if found := baseURL.FindString(text); found != "" {
			address = found
			return strings.ReplaceAll(text, found, server.URL)
		}
		return text
	}
	env := os.Environ()
	for i, v := range env {
		if strings.Contains(v, "_BASE_URL=") {
			env[i] = lead(v)
		}
	}
	program := slices.IndexFunc(words, filepath.IsAbs)
	for i := range words[:program] {
		words[i] = lead(words[i])
	}
	tap.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, address+r.URL.RequestURI(), r.Body)
		if err != nil {
			return
		}
		out.Header, out.ContentLength = r.Header.Clone(), r.ContentLength
		resp, err := (&http.Transport{DisableCompression: true}).RoundTrip(out)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		for _, name := range []string{"Date", "Content-Type"} {
			if resp.Header[name] == nil {
				w.Header()[name] = nil
			}
		}
		w.WriteHeader(resp.StatusCode)
		for buf := make([]byte, 4<<10); ; {
			n, err := resp.Body.Read(buf)
			_, _ = w.Write(buf[:n])
			w.(http.Flusher).Flush()
			if err != nil {
				return
			}
		}
	})
	cmd := exec.Command(words[program], append(words[:program:program], words[program+1:]...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	err := cmd.Run()
	text, failed := json.Marshal(tap.requests())
	if err != nil || failed != nil || os.WriteFile(file, text, 0o600) != nil {
		fmt.Fprintln(os.Stderr, "tap:", err, failed)
		return 1
	}
	return 0
}

// TestModelFlow: what an agent without a hook has read by its own tool counts at the proxies of its
// servers, before the next call, where its model is reached through clawai llm-proxy; and does not
// where it is not.
func TestModelFlow(t *testing.T) {
	for _, a := range agents {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			var told []string
			model := &models{after: func(_ int, answer string) { told = append(told, answer) }}
			s := flowSite(t, a, serve(t, model))
			s.must(filepath.Join(s.bin, "clawai"), "unwrap", "--hooks", a.id, "--yes")
			page := scripted.Turn{Tool: s.shell, Args: s.args("curl -s http://127.0.0.1:9/page || true")}
			for _, through := range []bool{false, true} {
				told = nil
				model.begin(s.first(), s.note("mail", "a"), s.note("post", "b"), page, s.note("mail", "c"), s.note("post", "d"))
				if through {
					s.playThrough()
					s.told(told[1:], "noted a", "noted b", "", "No mail after strangers", "write where others read after reading "+s.hookID()+" "+s.shell)
				} else {
					s.play()
					s.told(told[1:], "noted a", "noted b", "", "noted c", "noted d")
				}
			}
			s.must(clawai, "log", "verify")
		})
	}
}

// TestModelOnce: a call that a hook of the client judges is judged and recorded once, by the hook;
// what its tool returned has labels by clawai llm-proxy, too.
func TestModelOnce(t *testing.T) {
	for _, a := range agents {
		if a.id == "codex" { // whose hook is not reviewed here, and so counts for nothing
			continue
		}
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			model := &scripted.Model{Pieces: true}
			s := newAgentSite(t, a, serve(t, model), shellRules)
			model.Turns = []scripted.Turn{s.touch("allowed-a", "denied-b"), s.touch("allowed-c")}
			s.playThrough("--judge", "uncovered")
			for file, want := range map[string]bool{"allowed-a": true, "denied-b": false, "allowed-c": true} {
				if ran := s.made(file); ran != want {
					t.Errorf("%s ran: %v", file, ran)
				}
			}
			log := s.must(clawai, "log", "--json")
			if n := strings.Count(log, `"kind":"decision"`); n != 3 || strings.Count(log, `"detail":"hook `) < 3 || strings.Contains(log, "model/unread") {
				t.Errorf("%d decisions on record:\n%s", n, log)
			}
			s.must(clawai, "log", "verify")
		})
	}
}
