//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// team is a centre that runs, with its administrator in a browser.
type team struct {
	t       *testing.T
	dir     string
	address string
	browser *http.Client
	program *exec.Cmd
}

// gateway is the centre's program, beside clawai.
func gateway() string { return filepath.Join(filepath.Dir(clawai), "clawai-gateway") }

// startTeam makes a key of bundles, starts a centre that knows it, and signs its administrator in. more is text for
// gateway.toml.
func startTeam(t *testing.T, s site, more ...string) *team {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &team{t: t, dir: filepath.Join(s.home, "centre"), browser: &http.Client{Jar: jar, Timeout: time.Minute}}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.run(clawai, "policy", "bundle", "key", "team.example", "--output", c.dir+"/team.key"); err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(c.dir + "/team.key.pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.dir+"/gateway.toml", fmt.Appendf(nil, "bundle_keys = [%q]\n%s", strings.TrimSpace(string(public)), strings.Join(more, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	said := c.start(s)
	link := regexp.MustCompile(`http://\S+/sign-in/(\S+)`).FindStringSubmatch(said)
	if link == nil {
		t.Fatalf("no link in %q", said)
	}
	c.post("/sign-in", url.Values{"token": {link[1]}})
	return c
}

// start starts the program on the centre's folder, and returns what it says until it serves.
func (c *team) start(s site) (said string) {
	c.t.Helper()
	c.program = exec.Command(gateway(), "serve", "--dev", "--dir", c.dir, "--port", "0")
	c.program.Env, c.program.Stderr = s.env, os.Stderr
	out, err := c.program.StdoutPipe()
	if err == nil {
		err = c.program.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = c.program.Process.Kill(); _ = c.program.Wait() })
	address := regexp.MustCompile(`clawai enroll (\S+)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if found := address.FindStringSubmatch(said); found != nil {
			c.address = found[1]
			return said
		}
	}
	c.t.Fatalf("the centre does not start: %q", said)
	return ""
}

// post sends a form as the browser of the administrator does, and returns the page.
func (c *team) post(path string, form url.Values) string {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", c.address)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return c.read(r)
}

func (c *team) get(path string) string {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.address+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.read(r)
}

func (c *team) read(r *http.Request) string {
	c.t.Helper()
	resp, err := c.browser.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var page strings.Builder
	if _, err := bufio.NewReader(resp.Body).WriteTo(&page); err != nil || resp.StatusCode != http.StatusOK {
		c.t.Fatalf("%s %s: %d, %v\n%s", r.Method, r.URL, resp.StatusCode, err, page.String())
	}
	return page.String()
}

// enrol enrols a laptop: its owner runs the command, and the administrator confirms the code.
func (c *team) enrol(s site, name string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), clawai, "enroll", c.address, "--name", name)
	cmd.Env = s.env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	said, confirmed := "", false
	code := regexp.MustCompile(`confirm the code (\S+):`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if found := code.FindStringSubmatch(said); found != nil && !confirmed {
			confirmed = true
			page := c.get("/enroll?code=" + found[1])
			form := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(page)
			if form == nil || !strings.Contains(page, name) {
				c.t.Fatalf("the page of the code: %s", page)
			}
			c.post("/enroll", url.Values{"form": {form[1]}, "code": {found[1]}, "answer": {"allow"}})
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said, "Enrolled at "+c.address) {
		c.t.Fatalf("%s: %v\n%s", name, err, said)
	}
}

// publish makes a bundle of a policy and gives it to the centre.
func (c *team) publish(s site, counter, policy string) {
	c.t.Helper()
	s.write("team/org.toml", policy)
	file := filepath.Join(s.home, "team", counter+".bundle")
	for _, argv := range [][]string{
		{clawai, "policy", "bundle", "make", "--policy", filepath.Join(s.home, "team/org.toml"), "--counter", counter, "--key", c.dir + "/team.key", "--output", file},
		{gateway(), "publish", "--dir", c.dir, file},
	} {
		if out, err := s.run(argv...); err != nil {
			c.t.Fatalf("%v: %s", err, out)
		}
	}
}

// openSession opens a client with a server behind the proxy, for as long as the test wants.
func (s site) openSession(ctx context.Context) *mcp.ClientSession {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(clawai, "proxy", "--server", "notes", "--", self, "go-server")
	cmd.Env = s.env
	client := mcp.NewClient(&mcp.Implementation{Name: "team", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	return session
}

// call returns the text of a tool's answer.
func call(t *testing.T, session *mcp.ClientSession, tool string) string {
	t.Helper()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"note": "of " + tool}})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, c := range got.Content {
		if one, ok := c.(*mcp.TextContent); ok {
			text += one.Text
		}
	}
	return text
}

const (
	refused  = "Refused by the owner's policy"
	noWrites = "[[rule]]\naction = \"deny\"\ntool = \"arguments\"\ndescription = \"The team said no\"\n\n[[rule]]\naction = \"deny\"\ntool = \"Bash\"\nargs.command = \"**deploy**\"\ndescription = \"The team said no\"\n"
)

// TestABundleWaits: a bundle that was published reaches no session of a laptop that polls until a person agreed to it on
// the page, and then it does by itself.
func TestABundleWaits(t *testing.T) {
	t.Parallel()
	office := newSite(t, allowAll)
	centre := startTeam(t, office, "[bundles]\npeople = 1\n")
	a := newSite(t, allowAll)
	centre.enrol(a, "laptop")
	session := a.openSession(t.Context())
	inForce := func(number string) {
		t.Helper()
		await(t, "the laptop's report of bundle "+number, func() bool {
			laptops, err := office.run(gateway(), "laptops", "--dir", centre.dir)
			if err != nil {
				t.Fatal(err)
			}
			return regexp.MustCompile(`laptop +in order +` + number + ` `).MatchString(laptops)
		})
	}
	agree := func() {
		t.Helper()
		form := regexp.MustCompile(`(?s)action="/answer-bundle">(.*?)</form>`).FindString(centre.get("/bundles"))
		values := url.Values{"answer": {"agree"}}
		for _, hidden := range regexp.MustCompile(`name="([a-z]+)" value="([0-9a-f]+)"`).FindAllStringSubmatch(form, -1) {
			values.Set(hidden[1], hidden[2])
		}
		centre.post("/answer-bundle", values)
	}
	centre.publish(office, "1", noWrites)
	inForce("0")
	for _, what := range []string{centre.get("/laptops"), call(t, session, "arguments")} {
		if strings.Contains(what, "The team said no") || strings.Contains(what, "has bundle 0") {
			t.Errorf("a bundle that waits shows: %s", what)
		}
	}
	if out, err := a.run(clawai, "enroll", "sync"); err != nil || !strings.Contains(out, "No bundle of the centre is in force yet") {
		t.Errorf("%v: %s", err, out)
	}
	agree()
	began := time.Now()
	await(t, "the bundle in the session", func() bool { return strings.Contains(call(t, session, "arguments"), "The team said no") })
	t.Logf("the bundle holds %v after somebody agreed", time.Since(began).Round(time.Second))
	inForce("1")

	// One that waits takes nothing away from the one in force.
	centre.publish(office, "2", "[[rule]]\naction = \"deny\"\ntool = \"progress\"\n")
	if out, err := a.run(clawai, "enroll", "sync"); err != nil || !strings.Contains(out, "bundle 1 is in force") {
		t.Errorf("%v: %s", err, out)
	}
	if got := call(t, session, "progress"); strings.Contains(got, refused) {
		t.Error(got)
	}
	out, err := office.run(gateway(), "bundles", "--dir", centre.dir)
	if err != nil || !regexp.MustCompile(`(?m)^2 +waits, 0 of 1 agreed .*\n1 +in force .*administrator \(local#administrator\)`).MatchString(out) {
		t.Errorf("%v: %s", err, out)
	}
	agree()
	await(t, "bundle 2", func() bool { return strings.Contains(call(t, session, "progress"), refused) })
	if got := call(t, session, "arguments"); strings.Contains(got, refused) {
		t.Error(got)
	}
	if out, err := a.run(clawai, "unenroll"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	await(t, "the end of the bundle", func() bool { return !strings.Contains(call(t, session, "progress"), refused) })
}

// TestTwoLaptops: a centre, two laptops with sessions that run, one of them from before the enrolment,
// and an agent's hook. Rules come down by themselves, records go up, a centre that is gone slows
// nothing, and leaving gives everything back.
func TestTwoLaptops(t *testing.T) {
	t.Parallel()
	office := newSite(t, allowAll)
	centre := startTeam(t, office)
	a, b := newSite(t, allowAll), newSite(t, allowAll)
	early := a.openSession(t.Context())
	if got := call(t, early, "arguments"); strings.Contains(got, refused) {
		t.Fatal(got)
	}
	centre.enrol(a, "laptop-a")
	centre.enrol(b, "laptop-b")
	late, other := a.openSession(t.Context()), b.openSession(t.Context())
	for _, session := range []*mcp.ClientSession{late, other} {
		if got := call(t, session, "arguments"); strings.Contains(got, refused) {
			t.Fatal(got)
		}
	}

	// Rules come down, into sessions that run.
	centre.publish(office, "1", noWrites)
	began := time.Now()
	for name, session := range map[string]*mcp.ClientSession{"a session from before the enrolment": early, "one from after it": late, "the other laptop": other} {
		await(t, "the bundle in "+name, func() bool { return strings.Contains(call(t, session, "arguments"), "The team said no") })
		t.Logf("%s: the bundle holds after %v", name, time.Since(began).Round(time.Second))
		if got := call(t, session, "progress"); strings.Contains(got, refused) {
			t.Errorf("%s: a call that the bundle does not name is refused: %s", name, got)
		}
	}
	hook := exec.CommandContext(t.Context(), clawai+"-hook", "claude-code")
	hook.Env, hook.Dir = a.env, a.home
	hook.Stdin = strings.NewReader(`{"session_id":"s1","transcript_path":"/t","cwd":"` + a.home + `","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"make deploy"},"tool_use_id":"toolu_1"}`)
	if out, err := hook.CombinedOutput(); !strings.Contains(string(out), "The team said no") {
		t.Errorf("the hook: %v, %s", err, out)
	}

	// Fewer rules than before come down, too.
	centre.publish(office, "2", "[[rule]]\naction = \"deny\"\ntool = \"progress\"\ndescription = \"Another no\"\n")
	for _, s := range []site{a, b} {
		if out, err := s.run(clawai, "enroll", "sync"); err != nil || !strings.Contains(out, "bundle 2 is in force") {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, session := range []*mcp.ClientSession{early, late, other} {
		await(t, "bundle 2", func() bool { return !strings.Contains(call(t, session, "arguments"), refused) })
		if got := call(t, session, "progress"); !strings.Contains(got, "Another no") {
			t.Error(got)
		}
	}

	// Records go up: those of sessions from after the enrolment, and the hook's.
	await(t, "the copy of the record", func() bool {
		page := centre.get("/records")
		return strings.Count(page, "Another no")+strings.Count(page, "progress") >= 2 && strings.Contains(page, "deploy")
	})
	var laptops string
	await(t, "two laptops in order", func() bool {
		var err error
		if laptops, err = office.run(gateway(), "laptops", "--dir", centre.dir); err != nil {
			t.Fatal(err)
		}
		return strings.Count(laptops, "in order") == 2
	})
	t.Log(laptops)
	for _, s := range []site{a, b} {
		if out, err := s.run(clawai, "log", "verify"); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}

	// The centre is gone: nothing is slower or looser. It comes back: what was recorded meanwhile follows.
	_ = centre.program.Process.Kill()
	_ = centre.program.Wait()
	if got := call(t, late, "progress"); !strings.Contains(got, "Another no") {
		t.Error(got)
	}
	if out, err := a.run(clawai, "enroll", "sync"); err == nil {
		t.Errorf("a centre that is gone was reached: %s", out)
	}
	if out, err := a.run(clawai, "status"); err != nil || !strings.Contains(out, "cannot be reached") {
		t.Errorf("%v: %s", err, out)
	}

	// Leaving gives everything back, in sessions that run.
	for _, s := range []site{a, b} {
		out, err := s.run(clawai, "unenroll")
		if err != nil || !strings.Contains(out, "has left") || !strings.Contains(out, "does not know it yet") {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := os.Stat(filepath.Join(s.home, ".local/state/clawai/enrolment")); err == nil {
			t.Error("files of the enrolment are left")
		}
	}
	for _, session := range []*mcp.ClientSession{early, late, other} {
		await(t, "the end of the bundle", func() bool { return !strings.Contains(call(t, session, "progress"), refused) })
	}
}
