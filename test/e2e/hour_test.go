//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clawai/clawai/internal/testing/postgrestest"
	"github.com/clawai/clawai/internal/testing/slacktest"
)

// teamRule is the rule that the team's bundle brings to every laptop.
const teamRule = `[[rule]]
action = "prompt"
tool = "write_file"
approvers = ["role:oncall"]
not_self = true
description = "Files are written when somebody on call allows it"
`

// TestTheHour is the hour of docs/team-hour.md with browsers and a client, no step by hand: a centre on PostgreSQL with a
// real identity provider and two roles, three laptops, a bundle that comes into force on all of them, a
// call that waits for somebody else and goes on after their click on the page, one that goes on after a click in Slack,
// their record, and what a stricter policy would have done with them. The times are logged; none is a condition.
func TestTheHour(t *testing.T) {
	t.Parallel()
	office := newSite(t, allowAll)
	origin, _, settings := office.beginPublicCentre()
	database := fmt.Sprintf("database = %q\n", postgrestest.Start(t).Address("postgres"))
	workspace := slacktest.Start(t, map[string]string{"UBOB": "bob@corp.example", "UPIA": "pia@corp.example", "UEVA": "eva@corp.example"})
	office.env = append(office.env, "SLACK_TOKEN="+slacktest.Token, "SLACK_SIGNING="+slacktest.Signing)
	office.write("centre/gateway.toml", database+settings+fmt.Sprintf(`
[slack]
team = %q
token_env = "SLACK_TOKEN"
signing_secret_env = "SLACK_SIGNING"
payload = true
url = %q

[[slack.channel]]
id = %q
approvers = ["role:oncall"]
`, slacktest.Team, workspace.URL, slacktest.Channel)+`
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

	// The same in Slack. Eva has signed in too, so the centre knows who she is there.
	eva := signInAt(t, origin, "eva", "/records?tool=write_file")
	office.askInSlack(origin, workspace, session, filepath.Join(a.projects(), "slack.md"))
	pia.do(nil, "goto", map[string]any{"url": origin + "/questions"})
	pia.do(nil, "click", map[string]any{"role": "link", "name": "slack.md"})
	for _, want := range []string{"pia@corp.example", "Slack"} {
		pia.wait("main", want)
	}
	if log := a.must(clawai, "log", "--json"); !strings.Contains(log, "pia@corp.example") {
		t.Errorf("the laptop's record does not name who allowed the calls:\n%s", log)
	}

	// They are found again, with their arguments only by whoever may read it.
	await(t, "the record of the calls", func() bool {
		eva.do(nil, "reload", nil)
		screen := eva.screen()
		return strings.Contains(screen, "hour.md") && strings.Contains(screen, "slack.md")
	})

	// What a stricter policy would have done.
	office.write("stricter.toml", "[[rule]]\naction = \"deny\"\ntool = [\"write_file\", \"move_file\"]\n")
	cmd := exec.CommandContext(t.Context(), gateway(), "simulate", "--dir", dir, filepath.Join(office.home, "stricter.toml"), "--since", "30d")
	cmd.Env = office.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("simulate: %v", err)
	}
	for _, want := range []string{"Would be denied\n  2 calls  write_file on files, bob", "prompt -> deny", origin + "/records/", "has not occurred in these records", "move_file"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("simulate does not say %q:\n%s", want, out)
		}
	}
	page := regexp.MustCompile(regexp.QuoteMeta(origin) + `/records/\d+`).FindString(string(out))
	eva.do(nil, "goto", map[string]any{"url": page})
	eva.wait("main", "write_file")

	// The same on the page of the bundles.
	eva.do(nil, "goto", map[string]any{"url": origin + "/bundles"})
	eva.do(nil, "choose", map[string]any{"label": "File", "path": filepath.Join(office.home, "stricter.toml")})
	eva.do(nil, "click", map[string]any{"role": "button", "name": "Judge"})
	for _, want := range []string{"Would be denied", "hour.md", "prompt → deny", "move_file"} {
		eva.wait("main", want)
	}
	for _, s := range []site{a, b, c} {
		s.must(clawai, "log", "verify")
		s.must(clawai, "unenroll")
	}
}

// askInSlack makes a call that writes a file, and has it allowed by a click in Slack. A click of whoever asks, of somebody
// without the role, and one that Slack has not signed release nothing.
func (s site) askInSlack(origin string, workspace *slacktest.Workspace, session *mcp.ClientSession, file string) {
	s.t.Helper()
	t := s.t
	answered := make(chan string, 1)
	go func() {
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": file, "content": "by Slack"}})
		answered <- fmt.Sprintf("%+v %v", got, err)
	}()
	posted := workspace.Await(t, "chat.postMessage", filepath.Base(file), "by Slack")
	button, ok := posted.FindButton("clawai_allow")
	if !ok {
		t.Fatalf("the message has no button: %s", posted.Text)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.read("tls/authority.pem"))
	slack := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, Timeout: time.Minute}
	t.Cleanup(slack.CloseIdleConnections)
	click := func(user string, change func(*http.Request)) int {
		r := workspace.Click(t, origin, user, "clawai_allow", button)
		change(r)
		resp, err := slack.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	asSigned := func(*http.Request) {}
	for user, want := range map[string]string{"UBOB": "your own laptop", "UEVA": "names others than you"} {
		if status := click(user, asSigned); status != http.StatusOK {
			t.Errorf("a click of %s: %d", user, status)
		}
		workspace.Await(t, "chat.postEphemeral", user, "Your click decided nothing", want)
	}
	if status := click("UPIA", func(r *http.Request) { slacktest.Sign(t, r, "another secret", time.Now()) }); status != http.StatusUnauthorized {
		t.Errorf("a click that Slack has not signed: %d", status)
	}
	select {
	case got := <-answered:
		t.Fatalf("the call went on before anybody allowed it: %s", got)
	default:
	}
	if _, err := os.Stat(file); err == nil {
		t.Fatal("the file is written before anybody answered")
	}
	clicked := time.Now()
	if status := click("UPIA", asSigned); status != http.StatusOK {
		t.Errorf("the click: %d", status)
	}
	got := <-answered
	t.Logf("released %v after the click in Slack began", time.Since(clicked).Round(time.Millisecond))
	if text, err := os.ReadFile(file); err != nil || string(text) != "by Slack" {
		t.Fatalf("the file: %q, %v; the call: %s", text, err, got)
	}
	updated := workspace.Await(t, "chat.update", fmt.Sprintf("%q:%q", "ts", posted.TS), "allowed by pia@corp.example")
	if _, ok := updated.FindButton("clawai_allow"); ok {
		t.Errorf("the message still has a button: %s", updated.Text)
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
