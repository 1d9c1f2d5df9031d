//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// way is one way for a client to reach the server: directly, through a relay, or through clawai.
type way struct {
	name   string
	prefix []string // the start of the command line; the server's command follows
	// hub is true if a hub carries the calls. A hub reads the server from the settings of the hub,
	// and the client must begin with initialize.
	hub bool
	manner
}

// manner describes how the client uses a way.
type manner struct {
	listed   bool // the client asks for the list of tools before its first call
	meta     bool // the calls have a _meta, like the calls of most clients
	lists    bool // the client asks for the list of tools instead of making calls
	argument int  // length of a text in the arguments, in bytes; 0 for none
	text     int  // length of the prose that a call asks for, in bytes; 0: the server chooses the size
	table    int  // length of the JSON rows that a call asks for, in bytes; 0 for none
}

// These are the names of the fixed ways. Another build of clawai has the name of its commit.
const (
	bare      = "bare"
	byteRelay = "byte relay"
	lineRelay = "line relay"
	clawai    = "clawai"            // with the policy that clawai init writes
	twoRules  = "clawai, two rules" // with policyText
	hub       = "hub"
)

// testbed is a folder with the built programs.
type testbed struct {
	dir     string
	self    string
	ways    []way
	commits map[string]string // the commit of each build of clawai, by the name of the way
}

// policyText is the small policy of two rules. The second rule allows the call.
const policyText = `
[[rule]]
action = "deny"
tool = "write_file"

[[rule]]
action = "allow"
tool = "read_*"
args.path = "/home/user/projects/**"
`

// newTestbed builds clawai from this tree. If against is set, newTestbed also builds that commit.
// If withHub is true, newTestbed also adds each build as a hub.
func newTestbed(ctx context.Context, against string, withHub bool) (bed *testbed, err error) {
	bed = &testbed{commits: map[string]string{}}
	if bed.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if bed.dir, err = os.MkdirTemp("", "clawai-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			bed.close()
		}
	}()
	if err = os.WriteFile(bed.path("policy.toml"), []byte(policyText), 0o600); err != nil {
		return bed, err
	}
	root, err := command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return bed, err
	}
	bed.ways = []way{
		{name: bare},
		{name: byteRelay, prefix: []string{bed.self, childArgument, "bytes"}},
		{name: lineRelay, prefix: []string{bed.self, childArgument, "lines"}},
	}
	if err = bed.addClawai(ctx, clawai, root); err != nil {
		return bed, err
	}
	if err = bed.writeInitPolicy(ctx); err != nil {
		return bed, err
	}
	if against != "" {
		err = bed.addCommit(ctx, root, against)
	}
	if withHub && err == nil {
		err = bed.addHubs()
	}
	return bed, err
}

// addHubs adds each build of clawai as a hub with ten servers. The client calls only the first
// server, so the hub does not start the others.
func (b *testbed) addHubs() error {
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, "[upstream.s%d]\ncommand = [%q, %q, \"echo\"]\nbare = %t\n", i, b.self, childArgument, i == 0)
	}
	if err := os.Mkdir(b.path("config"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.path("config"), "config.toml"), []byte(text.String()), 0o600); err != nil {
		return err
	}
	for _, plain := range slices.Clone(b.ways) {
		of, small := strings.CutSuffix(plain.name, strings.TrimPrefix(twoRules, clawai))
		if !small {
			continue
		}
		name := hub
		if of != clawai {
			name += " of " + of
		}
		prefix := slices.Clone(plain.prefix[:len(plain.prefix)-serverArguments])
		prefix[1] = "hub"
		b.commits[name] = b.commits[plain.name]
		b.ways = append(b.ways, way{name: name, prefix: prefix, hub: true})
	}
	return nil
}

func (b *testbed) close() { _ = os.RemoveAll(b.dir) }

func (b *testbed) path(name string) string { return filepath.Join(b.dir, name) }

// addCommit builds clawai of another commit in a temporary work tree.
func (b *testbed) addCommit(ctx context.Context, root, rev string) error {
	if _, err := command(ctx, root, "git", "rev-parse", "--verify", "--quiet", rev+"^{commit}"); err != nil {
		return fmt.Errorf("--against: this repository has no commit %q", rev)
	}
	tree := b.path("tree")
	if _, err := command(ctx, root, "git", "worktree", "add", "--detach", tree, rev); err != nil {
		return err
	}
	defer func() { // the tree must also be removed if ctx has ended
		_, _ = command(context.WithoutCancel(ctx), root, "git", "worktree", "remove", "--force", tree)
	}()
	return b.addClawai(ctx, rev, tree)
}

// addClawai adds one build of clawai as two ways, one for each policy. All its processes share one
// state folder, like the processes of one user. The build is like a release (.goreleaser.yaml), but
// it keeps the names of functions for cachegrind. These names are not loaded into memory.
func (b *testbed) addClawai(ctx context.Context, name, tree string) error {
	// clawai init accepts only a program with this name.
	binary := filepath.Join(b.path(fmt.Sprintf("clawai-%d", len(b.ways))), "clawai")
	if err := os.Mkdir(filepath.Dir(binary), 0o700); err != nil {
		return err
	}
	if _, err := command(ctx, tree, "go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-ldflags", "-w", "-o", binary, "./cmd/clawai"); err != nil {
		return err
	}
	commit, err := command(ctx, tree, "git", "describe", "--always", "--dirty", "--abbrev=10", "--match=")
	if err != nil {
		return err
	}
	for _, one := range []struct{ name, policy string }{{name, initPolicy}, {name + strings.TrimPrefix(twoRules, clawai), "policy.toml"}} {
		b.commits[one.name] = commit
		b.ways = append(b.ways, way{name: one.name, prefix: []string{binary, "proxy", "--policy", b.path(one.policy), "--state", binary + "-state", "--server", "filesystem", "--"}})
	}
	return nil
}

// serverArguments is the number of arguments at the end of a prefix that only clawai proxy takes:
// --server, a name, and --.
const serverArguments = 3

// initPolicy is the file of the policy that clawai init writes for the ten servers of initServers.
// The echo server has the name of one of them.
const initPolicy = "init.toml"

const initServers = `{"mcpServers": {
	"filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/user/projects"]},
	"git": {"command": "uvx", "args": ["mcp-server-git"]},
	"github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]},
	"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]},
	"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]},
	"sequential-thinking": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-sequential-thinking"]},
	"time": {"command": "uvx", "args": ["mcp-server-time"]},
	"playwright": {"command": "npx", "args": ["@playwright/mcp@latest"]},
	"context7": {"command": "npx", "args": ["-y", "@upstash/context7-mcp"]},
	"everything": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]}
}}`

// writeInitPolicy runs clawai init in a separate home folder, so that init writes that policy.
func (b *testbed) writeInitPolicy(ctx context.Context) error {
	home := b.path("home")
	for _, dir := range []string{filepath.Join(home, ".cursor"), filepath.Join(home, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".cursor", "mcp.json"), []byte(initServers), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.ways[len(b.ways)-1].prefix[0], "init", "--yes")
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(home, "tmp")}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("clawai init: %w\n%s", err, out)
	}
	return os.Rename(filepath.Join(home, ".config", "clawai", "policy.toml"), b.path(initPolicy))
}

// commandLine returns the command that starts a way to the echo server.
func (b *testbed) commandLine(w way) []string {
	if w.hub {
		return w.prefix
	}
	return append(slices.Clone(w.prefix), b.self, childArgument, "echo")
}

// command runs a program and returns its output.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
