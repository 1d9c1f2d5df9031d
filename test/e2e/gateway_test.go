//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/viewtest"
)

// TestGatewayInABrowser enrols a laptop in a real Chromium, by the keyboard alone, takes a bundle and
// ships a record, and looks at every page on a wide and on a narrow screen, light and dark.
func TestGatewayInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t, "[[rule]]\naction = \"allow\"\ntool = \"*\"\n")
	gateway := filepath.Join(filepath.Dir(clawai), "clawai-gateway")
	dir := filepath.Join(s.home, "centre")
	must := func(argv ...string) string {
		t.Helper()
		out, err := s.run(argv...)
		if err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
		return out
	}
	secret := filepath.Join(s.home, "team.key")
	must(clawai, "policy", "bundle", "key", "team.example", "--output", secret)
	public, err := os.ReadFile(secret + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	s.write("centre/gateway.toml", fmt.Sprintf("bundle_keys = [%q]\n", strings.TrimSpace(string(public))))
	s.write("team.toml", "[[rule]]\naction = \"deny\"\ntool = \"write_file\"\ndescription = \"<b>Not</b> here\"\n")
	served := s.starts(nil, gateway, "serve", "--dev", "--dir", dir, "--port", "0")
	line, err := served.ReadString('\n')
	link := strings.TrimSpace(strings.TrimPrefix(line, "Open "))
	if err != nil || !strings.HasPrefix(link, "http://127.0.0.1:") {
		t.Fatalf("%q, %v", line, err)
	}
	origin := link[:strings.Index(link, "/sign-in/")]

	b := newBrowser(t, 1200, 900)
	b.do(nil, "open", map[string]any{"url": link})
	b.tabTo("Tab", "Sign in")
	b.do(nil, "leave", map[string]any{"key": "Enter"})
	b.wait("main", "No laptop is enrolled")

	enroll := s.starts(nil, clawai, "enroll", "--name", "ana's <img src=x> laptop", origin)
	code := ""
	for found := regexp.MustCompile(`confirm the code ([A-Z-]+)`); code == ""; {
		line, err := enroll.ReadString('\n')
		if err != nil {
			t.Fatalf("clawai enroll: %v", err)
		}
		if m := found.FindStringSubmatch(line); m != nil {
			code = m[1]
		}
	}
	b.tabTo("Tab", "Enrol a laptop")
	b.do(nil, "leave", map[string]any{"key": "Enter"})
	b.wait("main", "Type the code")
	b.tabTo("Tab", "Code")
	b.do(nil, "type", map[string]any{"text": strings.ToLower(code)})
	b.do(nil, "leave", map[string]any{"key": "Enter"})
	b.wait("main", "ana's <img src=x> laptop")
	b.tabTo("Tab", "Allow")
	b.do(nil, "leave", map[string]any{"key": "Enter"})
	b.wait("main", "You allowed")
	for {
		line, err := enroll.ReadString('\n')
		if err != nil {
			t.Fatalf("clawai enroll: %v", err)
		}
		if strings.HasPrefix(line, "Enrolled at ") {
			break
		}
	}
	bundle := filepath.Join(s.home, "one.bundle")
	must(clawai, "policy", "bundle", "make", "--policy", filepath.Join(s.home, "team.toml"), "--counter", "1", "--key", secret, "--output", bundle)
	must(gateway, "publish", "--dir", dir, bundle)
	must(clawai, "enroll", "sync")
	s.write("calls", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"`+"\u202e"+`<img src=x onerror=alert(1)>"}}}
`)
	must("sh", "-c", `"$0" proxy --server files -- cat < "$1/calls"`, clawai, s.home)
	must(clawai, "enroll", "sync")

	paths := []string{"/", "/laptops", "/records", "/records?kind=all", "/bundles", "/enroll", "/records?decision=refused&tool=write_file"}
	laptop := regexp.MustCompile(`(?m)^(\w{12}) `).FindStringSubmatch(must(gateway, "laptops", "--dir", dir))
	if laptop == nil {
		t.Fatal("no laptop is listed")
	}
	paths = append(paths, "/laptops/"+laptop[1], "/records/1", "/records/2")
	for _, width := range []int{1200, 390} {
		b.do(nil, "size", map[string]any{"width": width, "height": 844})
		for _, scheme := range []string{"light", "dark"} {
			b.do(nil, "scheme", map[string]any{"scheme": scheme})
			for _, path := range paths {
				what := fmt.Sprintf("%s at %d, %s", path, width, scheme)
				b.do(nil, "goto", map[string]any{"url": origin + path})
				b.wait("main", "")
				b.do(nil, "run", map[string]any{"script": `document.querySelectorAll('main details').forEach((one) => { one.open = true })`})
				viewtest.CheckHarmless(t, viewtest.Case{Name: what}, strings.ReplaceAll(b.text("main"), "\t", " "))
				b.fits(what)
				var faint []string
				if b.do(&faint, "faint", nil); len(faint) > 0 {
					t.Errorf("%s: too faint: %q", what, faint)
				}
				var made int
				if b.do(&made, "count", map[string]any{"selector": "img, script, iframe, style, [onerror], [style], main b"}); made > 0 {
					t.Errorf("%s: %d elements were made of texts", what, made)
				}
			}
		}
	}
	b.do(nil, "goto", map[string]any{"url": origin + "/records?decision=refused"})
	if text := b.text("main"); !strings.Contains(text, "write_file") || !strings.Contains(text, "ana's") {
		t.Errorf("the refused call is not on the page:\n%s", text)
	}
	must(clawai, "unenroll")
	b.do(nil, "goto", map[string]any{"url": origin + "/laptops/" + laptop[1]})
	b.wait("main", "the enrolment was ended on the laptop")
	b.quiet(origin)
}
