package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// gatewayInScript is what a script does with a running centre:
//
//	gateway keys DIR FILE...        writes gateway.toml with the public keys in files
//	gateway enrols DIR [ARGS...]    enrols this laptop, with the administrator's answer on the page
//	gateway denies DIR [ARGS...]    the same, denied
//	[!] gateway signs DIR COMMAND...    runs a command of clawai that asks for a sign-in, allowed (with !: denied) on the page
//	gateway waits DIR               waits for a question
//	[!] gateway answers DIR allow|deny WORDS   waits for a question, and answers it on its page
//	[!] gateway bundle DIR agree|reject   answers the bundle that waits, with the form on the page Bundles
//	[!] gateway shows DIR PATH REGEXP
func gatewayInScript(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: gateway keys|enrols|denies|shows DIR ...")
	}
	dir := ts.MkAbs(args[1])
	switch what := args[0]; what {
	case "keys":
		var keys []string
		for _, file := range args[2:] {
			keys = append(keys, fmt.Sprintf("%q", strings.TrimSpace(ts.ReadFile(file))))
		}
		ts.Check(os.MkdirAll(dir, 0o700))
		ts.Check(os.WriteFile(filepath.Join(dir, "gateway.toml"), []byte("bundle_keys = ["+strings.Join(keys, ", ")+"]\n"), 0o600))
	case "enrols", "denies":
		answer := map[string]string{"enrols": "allow", "denies": "deny"}[what]
		out, err := confirmAtCentre(ts, dir, "/enroll", answer, func(address string) []string { return append(append([]string{"enroll"}, args[2:]...), address) })
		ts.Logf("%s", out)
		if (err == nil) != (what == "enrols") {
			ts.Fatalf("clawai enroll: %v", err)
		}
	case "signs":
		answer := map[bool]string{false: "allow", true: "deny"}[neg]
		out, err := confirmAtCentre(ts, dir, "/command", answer, func(string) []string { return args[2:] })
		ts.Logf("%s", out)
		if (err == nil) == neg || neg && !strings.Contains(out, "it was denied at the centre") {
			ts.Fatalf("clawai %q: %v", args[2:], err)
		}
	case "waits":
		findQuestion(ts, newCentreBrowser(ts, dir))
	case "answers":
		if len(args) != 4 {
			ts.Fatalf("usage: gateway answers DIR allow|deny WORDS")
		}
		answerAtCentre(ts, neg, dir, args[2], args[3])
	case "bundle":
		if len(args) != 3 {
			ts.Fatalf("usage: gateway bundle DIR agree|reject")
		}
		answerBundleAtCentre(ts, neg, dir, args[2])
	case "shows":
		if len(args) != 4 {
			ts.Fatalf("usage: gateway shows DIR PATH REGEXP")
		}
		wanted, err := regexp.Compile(args[3])
		ts.Check(err)
		// What a laptop tells the centre at its end comes to the page when the centre has taken it.
		for browser, end := newCentreBrowser(ts, dir), time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			status, body := browser.get(args[2])
			if status != http.StatusOK {
				ts.Fatalf("%s: %d\n%s", args[2], status, body)
			}
			found := wanted.MatchString(body)
			if found != neg {
				return
			}
			if neg || time.Now().After(end) {
				ts.Fatalf("%s: %q shown: %v\n%s", args[2], args[3], found, body)
			}
		}
	default:
		ts.Fatalf("gateway does not know %q", what)
	}
}

// scriptCommand is a program of the script, with the script's environment and folder.
func scriptCommand(ts *testscript.TestScript, name string, args ...string) *exec.Cmd {
	var path string
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(filepath.ListSeparator)) {
		for _, end := range []string{"", ".exe"} {
			if info, err := os.Stat(filepath.Join(dir, name+end)); path == "" && err == nil && !info.IsDir() {
				path = filepath.Join(dir, name+end)
			}
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, variable := range []string{"HOME", "USERPROFILE", "PATH", "TMPDIR", "SystemRoot", "CLAWAI_KEYCHAIN"} {
		cmd.Env = append(cmd.Env, variable+"="+ts.Getenv(variable))
	}
	return cmd
}

// centreBrowser is the administrator's browser.
type centreBrowser struct {
	ts      *testscript.TestScript
	client  *http.Client
	address string
	form    string // what forms send along
}

// newCentreBrowser waits for the centre in a folder and signs in.
func newCentreBrowser(ts *testscript.TestScript, dir string) *centreBrowser {
	deadline := time.Now().Add(time.Minute)
	var link []byte
	for {
		var err error
		if link, err = scriptCommand(ts, "clawai-gateway", "link", "--dir", dir).Output(); err == nil {
			break
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no centre came up: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	u, err := url.Parse(strings.TrimSpace(string(link)))
	ts.Check(err)
	b := &centreBrowser{ts: ts, client: &http.Client{Jar: jar, Timeout: time.Minute}, address: u.Scheme + "://" + u.Host}
	if status, body := b.get(u.Path); status != http.StatusOK {
		ts.Fatalf("the link: %d\n%s", status, body)
	}
	_, body := b.post("/sign-in", url.Values{"token": {strings.TrimPrefix(u.Path, "/sign-in/")}})
	found := regexp.MustCompile(`name="form" value="([0-9a-f]+)"`).FindStringSubmatch(body)
	if found == nil {
		ts.Fatalf("signing in:\n%s", body)
	}
	b.form = found[1]
	return b
}

func (b *centreBrowser) do(r *http.Request, err error) (int, string) {
	b.ts.Check(err)
	resp, err := b.client.Do(r)
	b.ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	b.ts.Check(err)
	return resp.StatusCode, string(body)
}

func (b *centreBrowser) get(path string) (int, string) {
	return b.do(http.NewRequest(http.MethodGet, b.address+path, http.NoBody))
}

func (b *centreBrowser) post(path string, form url.Values) (int, string) {
	r, err := http.NewRequest(http.MethodPost, b.address+path, strings.NewReader(form.Encode()))
	b.ts.Check(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.address)
	return b.do(r, nil)
}

// confirmAtCentre runs a command of clawai and answers on a page with the code that it shows.
func confirmAtCentre(ts *testscript.TestScript, dir, page, answer string, words func(address string) []string) (string, error) {
	b := newCentreBrowser(ts, dir)
	cmd := scriptCommand(ts, "clawai", words(b.address)...)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	cmd.Stderr = cmd.Stdout
	ts.Check(cmd.Start())
	var said strings.Builder
	code := regexp.MustCompile(`code=([A-Z]{4}-[A-Z]{4})`)
	answered := false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if found := code.FindStringSubmatch(lines.Text()); found != nil && !answered {
			answered = true
			if status, body := b.post(page, url.Values{"form": {b.form}, "code": {found[1]}, "answer": {answer}}); status != http.StatusOK {
				ts.Fatalf("%d\n%s", status, body)
			}
		}
	}
	return said.String(), cmd.Wait()
}

// answerAtCentre waits until a question is pending and answers it with the form on its page. neg means
// that the centre must refuse the answer.
func answerAtCentre(ts *testscript.TestScript, neg bool, dir, answer, words string) {
	b := newCentreBrowser(ts, dir)
	id := findQuestion(ts, b)
	_, page := b.get("/questions/" + id)
	shown := regexp.MustCompile(`<dt>digest</dt><dd><code>([0-9a-f]{64})`).FindStringSubmatch(page)
	if shown == nil {
		ts.Fatalf("the question has no digest:\n%s", page)
	}
	status, body := b.post("/answer", url.Values{"form": {b.form}, "question": {id}, "digest": {shown[1]}, "answer": {answer}, "words": {words}})
	if (status == http.StatusOK) == neg {
		ts.Fatalf("%s: %d\n%s", answer, status, body)
	}
}

// answerBundleAtCentre answers the bundle that waits, with the values of the form that the page has. neg means that the
// page has no such button.
func answerBundleAtCentre(ts *testscript.TestScript, neg bool, dir, answer string) {
	b := newCentreBrowser(ts, dir)
	_, page := b.get("/bundles")
	form := regexp.MustCompile(`(?s)<form method="post" action="/answer-bundle">.*?</form>`).FindString(page)
	if strings.Contains(form, `name="answer" value="`+answer+`"`) == neg {
		ts.Fatalf("the page has the button %s: %v\n%s", answer, !neg, page)
	}
	if neg {
		return
	}
	values := url.Values{"answer": {answer}}
	for _, hidden := range regexp.MustCompile(`type="hidden" name="([a-z]+)" value="([0-9a-f]+)"`).FindAllStringSubmatch(form, -1) {
		values.Set(hidden[1], hidden[2])
	}
	if status, body := b.post("/answer-bundle", values); status != http.StatusOK {
		ts.Fatalf("%s: %d\n%s", answer, status, body)
	}
}

// findQuestion waits until a question is pending and returns its name.
func findQuestion(ts *testscript.TestScript, b *centreBrowser) string {
	link, waits := regexp.MustCompile(`href="/questions/([a-z0-9]+)"`), regexp.MustCompile(`(?s)Questions that wait.*?</section>`)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		_, list := b.get("/questions")
		if id := link.FindStringSubmatch(waits.FindString(list)); id != nil {
			return id[1]
		}
	}
	ts.Fatalf("no question came")
	return ""
}
