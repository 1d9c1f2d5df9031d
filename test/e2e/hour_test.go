//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clawai/clawai/internal/testing/postgrestest"
)

// teamRule is the rule that the team's bundle brings to every laptop.
const teamRule = `[[rule]]
action = "prompt"
tool = "write_file"
approvers = ["role:oncall"]
not_self = true
description = "Files are written when somebody on call allows it"
`

// TestTheHour is the hour of docs/team.md as one script, no step by hand: a centre on PostgreSQL with a
// real identity provider and two roles, three laptops, a bundle that comes into force on all of them, a
// call that waits for somebody else and goes on after their click, its record, and what a stricter policy
// would have done with it. The times are logged; none is a condition.
func TestTheHour(t *testing.T) {
	t.Parallel()
	office := newSite(t, allowAll)
	origin, _, settings := office.beginPublicCentre()
	database := fmt.Sprintf("database = %q\n", postgrestest.Start(t).Address("postgres"))
	office.write("centre/gateway.toml", database+settings+`
[[role]]
name = "admin"
groups = ["security"]

[[role]]
name = "enroll"
groups = ["engineering"]

[[role]]
name = "oncall"
people = ["pia@corp.example", "bob@corp.example"]

[[role]]
name = "auditor.payload"
groups = ["audit"]
`)
	dir := filepath.Join(office.home, "centre")
	office.servePublicCentre(origin)

	// Three laptops, two people. The first one has a client with a real server, and what init writes.
	a, b, c := newSite(t, ""), newSite(t, allowAll), newSite(t, allowAll)
	a.must("rm", "-r", filepath.Join(a.home, ".config"))
	a.env = append(a.env, "TMPDIR="+filepath.Join(a.home, "tmp")) // clawai itself lies in the folder for temporary files
	server, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"files": map[string]any{
		"command": "node", "args": []string{filepath.Join(here(t), "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"), a.projects()},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	a.write(".claude.json", string(server))
	a.must(clawai, "init", "--yes", "--client", "all")
	var bob *browser
	for _, laptop := range []struct {
		s         *site
		who, name string
	}{{&a, "bob", "laptop-a"}, {&b, "ana", "laptop-b"}, {&c, "bob", "laptop-c"}} {
		laptop.s.env = append(laptop.s.env, "SSL_CERT_FILE="+filepath.Join(office.home, "tls/authority.pem"))
		bob = laptop.s.enrolAs(origin, laptop.who, laptop.name)
	}
	session := a.openWrapped(t.Context(), "files")
	b.openSession(t.Context())
	c.openSession(t.Context())

	// The bundle is signed where the policy is kept, and comes into force on all laptops by itself.
	office.write("team/org.toml", teamRule)
	file := filepath.Join(office.home, "team/one.bundle")
	office.must(clawai, "policy", "bundle", "make", "--policy", filepath.Join(office.home, "team/org.toml"), "--counter", "1", "--output", file)
	office.must(clawai, "policy", "bundle", "sign", "--key", filepath.Join(office.home, "team.key"), file)
	office.must(gateway(), "publish", "--dir", dir, file)
	began := time.Now()
	inOrder := regexp.MustCompile(`laptop-[abc] +in order +1 `)
	await(t, "the bundle on three laptops", func() bool {
		return len(inOrder.FindAllString(office.must(gateway(), "laptops", "--dir", dir), -1)) == 3
	})
	t.Logf("the bundle is live on three laptops after %v", time.Since(began).Round(time.Second))

	// A call waits for somebody on call. Whoever asks has the role and cannot allow it.
	pia := signInAt(t, origin, "pia", "/questions")
	note := filepath.Join(a.projects(), "hour.md")
	answered := make(chan string, 1)
	go func() {
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": note, "content": "of the hour"}})
		answered <- fmt.Sprintf("%+v %v", got, err)
	}()
	pia.wait("main", "hour.md") // the page loads itself again
	if _, err := os.Stat(note); err == nil {
		t.Fatal("the file is written before anybody answered")
	}
	pia.do(nil, "click", map[string]any{"role": "link", "name": "hour.md"})
	pia.wait("main", "of the hour")
	var question string
	pia.do(&question, "url", nil)
	bob.do(nil, "goto", map[string]any{"url": question})
	bob.wait("main", "You cannot allow it")
	var allows int
	if bob.do(&allows, "count", map[string]any{"selector": `button[value="allow"]`}); allows != 0 {
		t.Error("whoever asks is offered to allow it")
	}
	select {
	case got := <-answered:
		t.Fatalf("the call went on before anybody allowed it: %s", got)
	default:
	}
	clicked := time.Now()
	pia.do(nil, "click", map[string]any{"role": "button", "name": "Allow this call once"})
	got := <-answered
	t.Logf("released %v after the click began", time.Since(clicked).Round(time.Millisecond))
	if text, err := os.ReadFile(note); err != nil || string(text) != "of the hour" {
		t.Fatalf("the file: %q, %v; the call: %s", text, err, got)
	}

	// It is found again, with its argument only by whoever may read it.
	eva := signInAt(t, origin, "eva", "/records?tool=write_file")
	await(t, "the record of the call", func() bool {
		eva.do(nil, "reload", nil)
		return strings.Contains(eva.screen(), "hour.md")
	})

	// What a stricter policy would have done.
	office.write("stricter.toml", "[[rule]]\naction = \"deny\"\ntool = [\"write_file\", \"move_file\"]\n")
	cmd := exec.CommandContext(t.Context(), gateway(), "simulate", "--dir", dir, filepath.Join(office.home, "stricter.toml"), "--since", "30d")
	cmd.Env = office.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("simulate: %v", err)
	}
	for _, want := range []string{"Would be denied\n  1 call  write_file on files, bob", "prompt -> deny", origin + "/records/", "has not occurred in these records", "move_file"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("simulate does not say %q:\n%s", want, out)
		}
	}
	page := regexp.MustCompile(regexp.QuoteMeta(origin) + `/records/\d+`).FindString(string(out))
	eva.do(nil, "goto", map[string]any{"url": page})
	eva.wait("main", "write_file")
	for _, s := range []site{a, b, c} {
		s.must(clawai, "log", "verify")
		s.must(clawai, "unenroll")
	}
}

// openWrapped opens a client with a server as the client's file starts it.
func (s site) openWrapped(ctx context.Context, name string) *mcp.ClientSession {
	s.t.Helper()
	var file struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(s.read(".claude.json"), &file); err != nil {
		s.t.Fatal(err)
	}
	start := file.MCPServers[name]
	cmd := exec.Command(start.Command, start.Args...)
	cmd.Env = s.env
	session, err := mcp.NewClient(&mcp.Implementation{Name: "team", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	return session
}
