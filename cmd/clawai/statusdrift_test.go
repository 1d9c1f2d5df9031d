package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// wrapHome is a home folder with clawai installed, as wrap wants to find it.
type wrapHome struct {
	t        *testing.T
	dir, bin string
	env      []string
}

func newWrapHome(t *testing.T) *wrapHome {
	t.Helper()
	top := t.TempDir()
	h := &wrapHome{t: t, dir: filepath.Join(top, "home"), bin: filepath.Join(top, "bin", "clawai")}
	found, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(found)
	if err != nil {
		t.Fatal(err)
	}
	exectest.Write(t, h.bin, program)
	for _, dir := range []string{h.dir, filepath.Join(top, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.env = []string{"HOME=" + h.dir, "PATH=" + filepath.Dir(h.bin) + ":" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(top, "tmp")}
	h.write(".config/clawai/policy.toml", "[[rule]]\naction = \"allow\"\ntool = \"*\"\n")
	return h
}

func (h *wrapHome) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// run gives what clawai printed, and its exit code.
func (h *wrapHome) run(args ...string) (out, errs string, code int) {
	h.t.Helper()
	cmd := exec.Command(h.bin, args...)
	var stdout, stderr strings.Builder
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.env, h.dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			h.t.Fatal(err)
		}
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// status is what status --check --json says, by server.
func (h *wrapHome) status() (servers map[string]wrapcmd.ServerStatus, code int) {
	h.t.Helper()
	out, errs, code := h.run("status", "--check", "--json")
	var doc wrapcmd.Status
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		h.t.Fatalf("%v\n%s%s", err, out, errs)
	}
	servers = map[string]wrapcmd.ServerStatus{}
	for _, f := range doc.Files {
		if f.Error != "" {
			h.t.Fatalf("%s: %s", f.Path, f.Error)
		}
		for _, s := range f.Servers {
			servers[s.Name] = s
		}
	}
	return servers, code
}

// wrapForm is one format of clients' files.
type wrapForm struct {
	path  string
	file  func(entries string) string
	entry func(name string, words []string, env [][2]string) string
	raw   func(name, members string) string // an entry of just these members; nil: not in the format
}

func quoted(s string) string { return strconv.Quote(s) }

func list(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = quoted(w)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func object(env [][2]string) string {
	var all []string
	for _, v := range env {
		all = append(all, quoted(v[0])+": "+quoted(v[1]))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func jsonForm(path, file string) wrapForm {
	raw := func(name, members string) string { return quoted(name) + ": {" + members + "},\n" }
	return wrapForm{path, func(entries string) string {
		return fmt.Sprintf(file, strings.TrimSuffix(entries, ",\n"))
	}, func(name string, words []string, env [][2]string) string {
		return raw(name, `"command": `+quoted(words[0])+`, "args": `+list(words[1:])+`, "env": `+object(env))
	}, raw}
}

// wrapForms are a client for each format, and for each form of a command.
var wrapForms = map[string]wrapForm{
	"json":  jsonForm(".claude.json", `{"mcpServers": {%s}}`),
	"jsonc": jsonForm(".cursor/mcp.json", "// mine\n{\"mcpServers\": {%s,}}"),
	"json5": jsonForm(".openclaw/openclaw.json", "{mcp: {servers: {%s,}}}"),
	"list": {".config/opencode/opencode.json", func(entries string) string { return `{"mcp": {` + entries + `}}` },
		func(name string, words []string, env [][2]string) string {
			return quoted(name) + `: {"type": "local", "command": ` + list(words) + `, "environment": ` + object(env) + "},\n"
		}, func(name, members string) string {
			return quoted(name) + `: {"type": "local", ` + members + "},\n"
		}},
	"object": {".config/zed/settings.json", func(entries string) string { return `{"context_servers": {` + entries + `}}` },
		func(name string, words []string, env [][2]string) string {
			return quoted(name) + `: {"command": {"path": ` + quoted(words[0]) + `, "args": ` + list(words[1:]) + `, "env": ` + object(env) + "}},\n"
		}, nil},
	"toml": {".codex/config.toml", func(entries string) string { return entries },
		func(name string, words []string, env [][2]string) string {
			text := "[mcp_servers." + quoted(name) + "]\ncommand = " + quoted(words[0]) + "\nargs = " + list(words[1:]) + "\n"
			if len(env) > 0 {
				text += "[mcp_servers." + quoted(name) + ".env]\n"
			}
			for _, v := range env {
				text += v[0] + " = " + quoted(v[1]) + "\n"
			}
			return text
		}, nil},
	"yaml": {".config/goose/config.yaml", func(entries string) string { return "extensions:\n" + entries },
		func(name string, words []string, env [][2]string) string {
			text := "  " + quoted(name) + ":\n    type: stdio\n    cmd: " + quoted(words[0]) + "\n    args:"
			if len(words) == 1 {
				text += " []"
			}
			text += "\n"
			for _, w := range words[1:] {
				text += "    - " + quoted(w) + "\n"
			}
			return text + "    envs: " + object(env) + "\n"
		}, nil},
}

// driftedWords are wrappers that are none, or none of wrap's: what stands between
// the program and the server's own command, SELF for the server's name.
var driftedWords = []string{
	"proxy --server SELF -observe --",
	"proxy --server SELF --observe=true --",
	"proxy --server SELF -observe=t --",
	"proxy --server SELF --observe=T --",
	"proxy --server SELF -observe=1 --",
	"proxy --observe --server SELF --",
	"proxy --server SELF --observe --observe --",
	"proxy --server SELF --observe=false --",
	"proxy --server SELF --observe=false --observe --",
	"proxy --server SELF --policy /other.toml --",
	"proxy --server SELF --policy=/other.toml --",
	"proxy --server SELF -policy /other.toml --",
	"proxy --policy /other.toml --server SELF --",
	"proxy --policy -- --server SELF --",
	"proxy --server SELF --help --",
	"proxy --server SELF -h --",
	"proxy --server SELF -help=true --",
	"proxy --help --server SELF --",
	"proxy --server SELF --state /tmp/elsewhere --",
	"proxy --server SELF --redact full --",
	"proxy --server SELF --ask elicitation --",
	"proxy --server SELF --layer /x.toml --",
	"proxy --server SELF --listen 127.0.0.1:1 --",
	"proxy --server SELF --wrapped --",
	"proxy --server SELF --unknown --",
	"proxy --server SELF --server other --",
	"proxy --server other --server SELF --",
	"proxy --server other --",
	"proxy --server=SELF --",
	"proxy -server SELF --",
	"proxy --",
	"proxy --server SELF x --",
	"proxy --server SELF -",
	"proxy --server SELF",
	"--version proxy --server SELF --",
	"help proxy --server SELF --",
	"policy --server SELF --",
	"demo --",
}

var driftedEnv = []string{
	"CLAWAI_CONFIG_DIR", "CLAWAI_STATE_DIR", "CLAWAI_ASK", "CLAWAI_KEYCHAIN", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME", "APPDATA",
	"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GODEBUG", "TMUX", "clawai_config_dir",
}

// driftedMembers are entries that readers of JSON take differently. CLAWAI is the
// program, ARGS its arguments.
var driftedMembers = []string{
	`"command": "npx", "command": CLAWAI, "args": ARGS`,
	`"command": CLAWAI, "args": ARGS, "command": "npx"`,
	`"command": CLAWAI, "args": ARGS, "c\u006fmmand": "npx"`,
	`"\u0063ommand": "npx", "command": CLAWAI, "args": ARGS`,
	`"\u0063ommand": CLAWAI, "args": ARGS`,
	`"command": CLAWAI, "args": ARGS, "args": ["-y"]`,
	`"command": CLAWAI, "\u0061rgs": ARGS`,
	`"command": CLAWAI, "args": ARGS, "Command": "npx"`,
	`"command": CLAWAI, "args": ARGS, "url": "https://other.example/mcp"`,
	`"url": "https://other.example/mcp", "command": CLAWAI, "args": ARGS`,
	`"type": "stdio", "command": CLAWAI, "args": ARGS, "url": "https://other.example/mcp"`,
	`"type": "http", "command": CLAWAI, "args": ARGS, "url": "https://other.example/mcp"`,
	`"command": CLAWAI, "args": ARGS, "env": {"HOM\u0045": "/other"}`,
	`"command": CLAWAI, "args": ARGS, "env": {"A": "b"}, "env": {"HOME": "/other"}`,
	`"command": CLAWAI, "args": ARGS, "env": {"HOME": "HERE", "HOME": "/other"}`,
	`"command": CLAWAI, "args": ARGS, "env": ["HOME=/other"]`,
	`"command": CLAWAI, "args": ARGS, "Env": {"HOME": "/other"}`,
	`"command": CLAWAI, "args": "ARGS"`,
	`"command": "./clawai", "args": ARGS`,
	`"command": "/other/clawai", "args": ARGS`,
}

// TestStatusTellsDrift: what is not just as wrap writes it is never called
// wrapped, in no format.
func TestStatusTellsDrift(t *testing.T) {
	var total atomic.Int64
	for name, form := range wrapForms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newWrapHome(t)
			wrapped := func(name string) []string {
				return []string{h.bin, "proxy", "--server", name, "--", "npx", "-y"}
			}
			entries := form.entry("exact", wrapped("exact"), [][2]string{{"API_KEY", "x"}})
			drifts := map[string]string{}
			add := func(what, entry string) {
				entries += entry
				drifts[strings.SplitN(entry, `"`, 3)[1]] = what
			}
			number := func() string { return fmt.Sprintf("s%03d", len(drifts)) }
			for _, words := range driftedWords {
				self := number()
				all := append([]string{h.bin}, strings.Fields(strings.ReplaceAll(words, "SELF", self))...)
				add(words, form.entry(self, append(all, "npx", "-y"), nil))
			}
			for _, v := range driftedEnv {
				self := number()
				add(v, form.entry(self, wrapped(self), [][2]string{{"API_KEY", "x"}, {v, "/other"}}))
			}
			self := number()
			add("PATH beside a bare name", form.entry(self, append([]string{"clawai"}, wrapped(self)[1:]...), [][2]string{{"PATH", "/other"}}))
			for _, members := range driftedMembers {
				if form.raw == nil || name == "list" {
					continue
				}
				self := number()
				text := strings.NewReplacer("CLAWAI", quoted(h.bin), `"ARGS"`, quoted("proxy --server x -- npx"), "ARGS", list(wrapped(self)[1:]), "HERE", h.dir).Replace(members)
				add(members, form.raw(self, text))
			}
			h.write(form.path, form.file(entries))
			servers, code := h.status()
			if code != 1 {
				t.Errorf("status --check exits %d", code)
			}
			if servers["exact"].State != "wrapped" {
				t.Errorf("the wrapper itself: %+v", servers["exact"])
			}
			for name, what := range drifts {
				s, found := servers[name]
				if !found || s.State != "drifted" || s.Why == "" || len(s.Differs) == 0 {
					t.Errorf("%s\nis %s: %q %q", what, s.State, s.Why, s.Differs)
				}
			}
			total.Add(int64(len(drifts)))
			t.Logf("%d drifts", len(drifts))
		})
	}
	t.Cleanup(func() {
		if total.Load() < 200 {
			t.Errorf("%d drifts, and it should be 200", total.Load())
		}
	})
}

// TestStatusKnowsItsOwn: what wrap writes reads as wrapped, whatever the server's
// name and its own environment; what an earlier version wrote does, or does after
// wrap.
func TestStatusKnowsItsOwn(t *testing.T) {
	names := []string{"fs", "git hub", "-name", "--", "--server", "-", "--observe", "--help", "é", "a=b", "--server=x", "日本", "clawai", "proxy", "'", "0"}
	older := []string{
		"clawai proxy --server SELF --", "clawai proxy --", "/gone/bin/clawai proxy --server SELF --", "OTHER proxy --server SELF --",
		"BIN proxy --server before --", "BIN proxy --server=SELF --", "BIN proxy --server SELF --observe --",
	}
	for format, form := range wrapForms {
		t.Run(format, func(t *testing.T) {
			if format != "jsonc" {
				slow.Test(t) // where a client prints its file anew, each edit waits and looks again
			}
			t.Parallel()
			h := newWrapHome(t)
			other := filepath.Join(h.dir, "opt", "clawai") // of another installation
			exectest.Write(t, other, []byte("#!/bin/sh\n"))
			env := [][2]string{{"API_KEY", "example"}, {"PATH", "/opt/node/bin:/usr/bin"}, {"HOME", h.dir}, {"NODE_OPTIONS", "-x"}, {"https_proxy", "http://p"}}
			ours, bare, theirs := "", "", ""
			for i, name := range names {
				ours += form.entry(name, []string{"npx", "-y", "pkg"}[:1+i%3], env[:i%6])
			}
			for i, words := range older {
				name := fmt.Sprintf("old%d", i)
				words = strings.NewReplacer("SELF", name, "OTHER", other, "BIN", h.bin).Replace(words)
				bare += form.entry(name, append(strings.Fields(words), "npx", "-y"), nil)
				theirs += form.entry(name, []string{"npx", "-y"}, nil)
			}
			h.write(form.path, form.file(ours+bare))
			if out, errs, code := h.run("wrap", "--all", "--yes"); code != 0 {
				t.Fatalf("wrap exits %d: %s%s", code, out, errs)
			}
			servers, code := h.status()
			if code != 0 || len(servers) != len(names)+len(older) {
				t.Errorf("%d servers, exit code %d", len(servers), code)
			}
			for name, s := range servers {
				if s.State != "wrapped" || len(s.Differs) > 0 {
					t.Errorf("%q is %s: %s", name, s.State, s.Why)
				}
			}
			if format == "json" {
				h.startsAll(form)
			}
			for _, name := range []string{"--", "git hub"} {
				out, errs, code := h.run("unwrap", "--yes", "--file", form.path, "--", name)
				if code != 0 {
					t.Errorf("unwrap %q exits %d: %s%s", name, code, out, errs)
				}
				again := []string{"-c", strings.TrimPrefix(out[strings.LastIndex(out, "Undo: "):], "Undo: ")}
				cmd := exec.Command("sh", again...)
				if cmd.Env, cmd.Dir = h.env, h.dir; cmd.Run() != nil {
					t.Errorf("the way back does not work: %s", again)
				}
			}
			if out, errs, code := h.run("unwrap", "--all", "--yes"); code != 0 {
				t.Errorf("unwrap --all exits %d: %s%s", code, out, errs)
			}
			after, err := os.ReadFile(filepath.Join(h.dir, form.path))
			if want := form.file(ours + theirs); err != nil || string(after) != want {
				t.Errorf("%v\n%s\nwant\n%s", err, after, want)
			}
		})
	}
}

// startsAll starts every wrapped entry of a JSON file as its client would.
func (h *wrapHome) startsAll(form wrapForm) {
	h.t.Helper()
	exectest.Write(h.t, filepath.Join(filepath.Dir(h.bin), "npx"), []byte("#!/bin/sh\nexit 7\n"))
	src, err := os.ReadFile(filepath.Join(h.dir, form.path))
	if err != nil {
		h.t.Fatal(err)
	}
	var file struct {
		MCPServers map[string]struct{ Args []string }
	}
	if err := json.Unmarshal(src, &file); err != nil {
		h.t.Fatal(err)
	}
	for name, entry := range file.MCPServers {
		if out, errs, code := h.run(entry.Args...); code != 7 {
			h.t.Errorf("%q does not start: exit code %d: %s%s", name, code, out, errs)
		}
	}
	if len(file.MCPServers) == 0 {
		h.t.Error("nothing was started")
	}
}
