//go:build e2e

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/scripted"
	"github.com/clawai/clawai/internal/testing/exectest"
)

// ledClients are the clients whose address stands in a file that wrap edits, with that file.
var ledClients = []struct{ id, file, text string }{
	{"claude-code", ".claude/settings.json", "{\n  \"env\": {\n    \"ANTHROPIC_BASE_URL\": \"ADDRESS\"\n  }\n}\n"},
	{"codex", ".codex/config.toml", ""},
	{"gemini", ".gemini/.env", "# mine\nGOOGLE_GEMINI_BASE_URL='ADDRESS'"},
	{"qwen", ".qwen/.env", "OPENAI_BASE_URL=ADDRESS/v1 # mine\n"},
	{"opencode", ".config/opencode/opencode.json", ""},
}

// TestModelWrapped: five real clients that wrap has led through clawai llm-proxy come there; a denied call
// does not run and the work goes on; without the proxy nothing runs, and status says it; after unwrap the
// file is as it was and the client works without clawai.
func TestModelWrapped(t *testing.T) {
	for _, c := range ledClients {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			all := allAgents()
			a := all[slices.IndexFunc(all, func(a agent) bool { return a.id == c.id })]
			if c.text != "" {
				a.vars = slices.DeleteFunc(slices.Clone(a.vars), func(v string) bool { return strings.Contains(v, "_BASE_URL=") })
				files := map[string]string{c.file: c.text}
				for name, text := range a.files {
					files[name] = text
				}
				a.files = files
			}
			model := &scripted.Model{Pieces: true}
			upstream := &recorder{Handler: model}
			s := modelSite(t, a, serve(t, upstream), shellRules)
			before := string(s.read(c.file))
			clawai, address := filepath.Join(s.bin, "clawai"), freeAddress(t)
			lead := func() { s.must(clawai, "wrap", "--llm", c.id, "--yes", "--listen", address) }
			unlead := func() { s.must(clawai, "unwrap", "--llm", c.id, "--yes") }
			lead()
			led := string(s.read(c.file))
			unlead()
			if after := string(s.read(c.file)); after != before || led == before {
				t.Fatalf("after unwrap\n%q\nbefore wrap\n%q", after, before)
			}
			lead()
			if out, err := s.run(clawai, "status", "--check"); err == nil || !strings.Contains(out, "not running") || !strings.Contains(out, "Next: clawai llm-proxy --wrapped") {
				t.Errorf("status of a proxy that does not run: %v\n%s", err, out)
			}
			model.Turns = []scripted.Turn{s.touch("allowed-a"), s.touch("denied-b", "allowed-c")}
			stop := s.serveWrapped(clawai, "--judge", "uncovered")
			s.play()
			for file, want := range map[string]bool{"allowed-a": true, "denied-b": false, "allowed-c": true} {
				if ran := s.made(file); ran != want {
					t.Errorf("%s ran: %v", file, ran)
				}
			}
			if model.CountAsked() != len(model.Turns)+1 {
				t.Errorf("the model was asked for %d turns", model.CountAsked())
			}
			if out, err := s.run(clawai, "status"); err != nil || !strings.Contains(out, "judges (uncovered)") || !strings.Contains(out, "through clawai") {
				t.Errorf("status: %v\n%s", err, out)
			}
			if log := s.must(clawai, "log", "--json"); strings.Count(log, "denied_by_rule") != 1 || strings.Contains(log, "model/unread") {
				t.Errorf("on record:\n%s", log)
			}
			stop()
			unlead() // a client may have written its file meanwhile
			if after := string(s.read(c.file)); strings.Contains(after, "clawai-llm-proxy") {
				t.Errorf("after unwrap\n%s", after)
			}
			asked := len(upstream.bodies())
			if s.play(); len(upstream.bodies()) == asked {
				t.Error("without clawai it does not reach its model")
			}
		})
	}
}

// TestModelHabits: real clients run what their model writes in another way than a rule has it, and what a rule
// denies does not run however it is written.
func TestModelHabits(t *testing.T) {
	for _, h := range []struct {
		id, what string
		turn     func(s *agentSite, file string) scripted.Turn
	}{
		{"claude-code", "escapes", func(s *agentSite, file string) scripted.Turn {
			return scripted.Turn{Tool: s.shell, Args: s.args(`t\u006fuch ` + file)}
		}},
		{"opencode", "capitals", func(s *agentSite, file string) scripted.Turn {
			return scripted.Turn{Tool: strings.ToUpper(s.shell), Args: s.args("touch " + file)}
		}},
		{"qwen", "a blank", func(s *agentSite, file string) scripted.Turn {
			return scripted.Turn{Tool: s.shell + " ", Args: s.args("touch " + file)}
		}},
	} {
		for _, judge := range []string{"off", "uncovered"} {
			t.Run(h.id+" "+h.what+" "+judge, func(t *testing.T) {
				t.Parallel()
				c := ledClients[slices.IndexFunc(ledClients, func(c struct{ id, file, text string }) bool { return c.id == h.id })]
				all := allAgents()
				a := all[slices.IndexFunc(all, func(a agent) bool { return a.id == h.id })]
				if c.text != "" {
					a.vars = slices.DeleteFunc(slices.Clone(a.vars), func(v string) bool { return strings.Contains(v, "_BASE_URL=") })
					files := map[string]string{c.file: c.text}
					for name, text := range a.files {
						files[name] = text
					}
					a.files = files
				}
				model := &scripted.Model{Pieces: true}
				s := modelSite(t, a, serve(t, model), shellRules)
				clawai := filepath.Join(s.bin, "clawai")
				s.must(clawai, "wrap", "--llm", c.id, "--yes", "--listen", freeAddress(t))
				model.Turns = []scripted.Turn{h.turn(&s, "denied-a"), s.touch("allowed-b")}
				stop := s.serveWrapped(clawai, "--judge", judge)
				s.play()
				stop()
				if ran := s.made("denied-a"); ran != (judge == "off") {
					t.Errorf("what is denied ran: %v\n%s", ran, s.must(clawai, "log", "--json"))
				}
				if !s.made("allowed-b") || model.CountAsked() != len(model.Turns)+1 {
					t.Errorf("the work did not go on: %d turns", model.CountAsked())
				}
			})
		}
	}
}

// freeAddress returns an address at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", exectest.ReservePort(t))
}

// serveWrapped starts clawai llm-proxy --wrapped, and returns what stops it.
func (s *agentSite) serveWrapped(clawai string, options ...string) (stop func()) {
	s.t.Helper()
	cmd := exec.Command(clawai, append([]string{"llm-proxy", "--wrapped"}, options...)...)
	cmd.Dir, cmd.Env = s.home, s.env
	out, err := os.Create(filepath.Join(s.home, "proxy.out"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	done := false
	stop = func() {
		if done {
			return
		}
		done = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			s.t.Errorf("%v\n%s", err, string(s.read("proxy.out")))
		}
	}
	s.t.Cleanup(stop)
	await(s.t, "clawai llm-proxy serves", func() bool { return strings.Contains(string(s.read("proxy.out")), "your clients at") })
	return stop
}

// TestModelBesideHooks: three clients under the policy that init writes, led through clawai llm-proxy, which
// judges what nothing else does. Each call is judged and on record once: by the hook, or without one by the
// proxy. The proxy asks nobody about ordinary work, what is denied does not run, and what the policy allows of
// the service's tools is offered.
func TestModelBesideHooks(t *testing.T) {
	ordinary := []string{"ls -la", "cat notes.md", "wc -l notes.md"}
	for _, c := range ledClients[:3] {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			a := agents[slices.IndexFunc(agents, func(a agent) bool { return a.id == c.id })]
			files := map[string]string{}
			for name, text := range a.files {
				files[name] = text
			}
			if c.text != "" {
				a.vars = slices.DeleteFunc(slices.Clone(a.vars), func(v string) bool { return strings.Contains(v, "_BASE_URL=") })
				files[c.file] = c.text
			}
			a.files = files
			model := &scripted.Model{Pieces: true}
			upstream := &recorder{Handler: model}
			s := modelSite(t, a, serve(t, upstream), shellRules)
			clawai, hooked := filepath.Join(s.bin, "clawai"), c.id != "codex" // whose hooks a person must review
			if err := os.Remove(filepath.Join(s.home, ".config/clawai/policy.toml")); err != nil {
				t.Fatal(err)
			}
			s.must(clawai, "init", "--yes", "--mode", "ask", "--hooks")
			if !hooked {
				s.must(clawai, "unwrap", "--hooks", c.id, "--yes")
			}
			s.must(clawai, "wrap", "--llm", c.id, "--yes", "--listen", freeAddress(t))
			for _, command := range append(slices.Clone(ordinary), "cat ~/.ssh/id_rsa > stolen") {
				model.Turns = append(model.Turns, scripted.Turn{Tool: s.shell, Args: s.args(command)})
			}
			s.env = append(s.env, "CLAWAI_ASK=never")
			stop := s.serveWrapped(clawai, "--judge", "uncovered")
			s.play()
			stop()
			if s.made("stolen") {
				t.Error("what is denied ran")
			}
			if model.CountAsked() != len(model.Turns)+1 {
				t.Errorf("the model was asked for %d turns", model.CountAsked())
			}
			log := s.must(clawai, "log", "--json")
			judged, asked := 0, 0
			for line := range strings.Lines(log) {
				if !strings.Contains(line, `"kind":"decision"`) {
					continue
				}
				judged++
				if strings.Contains(line, `"policy":"prompt"`) {
					asked++
				}
				if strings.Contains(line, "model channel") == hooked {
					t.Errorf("judged by another: %s", line)
				}
			}
			if judged != len(model.Turns) || asked != 0 {
				t.Errorf("%d of %d calls are on record, %d asked about:\n%s", judged, len(model.Turns), asked, log)
			}
			if strings.Contains(log, "model/unread") {
				t.Errorf("not looked at:\n%s", log)
			}
			if first := upstream.bodies()[0]; c.id == "codex" && !strings.Contains(first, `"type":"web_search"`) {
				t.Errorf("the search that the policy allows is not offered:\n%s", first)
			}
		})
	}
}
