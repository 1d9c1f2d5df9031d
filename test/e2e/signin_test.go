//go:build e2e

package e2e

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// visitor is a person's browser: it keeps cookies and sends every form as it is.
type visitor struct {
	t *testing.T
	*http.Client
}

func newVisitor(t *testing.T) visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return visitor{t, &http.Client{Jar: jar, Timeout: patience}}
}

var (
	formAddress = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	formInput   = regexp.MustCompile(`name="(\w+)" value="([^"]*)"`)
)

// opens opens a page, and sends its forms until there is none.
func (v visitor) opens(page string) {
	v.t.Helper()
	resp, err := v.Get(page)
	for range 5 {
		if err != nil {
			v.t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		form := formAddress.FindStringSubmatch(string(body))
		if form == nil {
			if resp.StatusCode != http.StatusOK {
				v.t.Errorf("%s: %s %s", resp.Request.URL, resp.Status, body)
			}
			return
		}
		values := url.Values{"confirm": {"yes"}}
		for _, input := range formInput.FindAllStringSubmatch(string(body), -1) {
			values.Set(input[1], input[2])
		}
		resp, err = v.PostForm(form[1], values)
	}
}

// logsIn runs "clawai auth login"; open gets the lines that it prints and opens the page when it
// sees it.
func (s site) logsIn(open func(line string), args ...string) {
	s.t.Helper()
	cmd := exec.Command(clawai, append([]string{"auth", "login"}, args...)...)
	cmd.Env = append(s.env, "CLAWAI_KEYCHAIN=off", "BROWSER=no-such-browser")
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	var failed strings.Builder
	cmd.Stderr = &failed
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		open(lines.Text())
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(strings.Join(said, "\n"), "Signed in at") {
		s.t.Errorf("auth login %q: %v %q %s", args, err, said, &failed)
	}
}

// TestSigningInAtARealProvider signs in at oidc-provider by each way that needs no desktop; a proxy
// then renews the token, which lives for seconds.
func TestSigningInAtARealProvider(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	public, err := json.Marshal(map[string]string{"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:])})
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("node", "oidc-server.mjs", string(public))
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	address := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address = lines.Text(); strings.HasPrefix(address, "http://127.0.0.1:") { // it warns of development keys before
			break
		}
	}
	for name, ways := range map[string][]string{
		"page": nil, "device": {"--device"}, "client": {"--client-credentials", "--client-id", "owned", "--scope", "use", "--client-key"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, allowAll)
			s.env = append(s.env, "CLAWAI_KEYCHAIN=off", "BROWSER=no-such-browser")
			if name == "client" {
				s.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
				ways = append(ways, filepath.Join(s.home, "key.pem"))
			}
			v, before := newVisitor(t), ""
			s.logsIn(func(line string) {
				if strings.HasPrefix(line, "http://") && (before == "Open this page to sign in:" || strings.Contains(line, "user_code=")) {
					v.opens(line)
				}
				before = line
			}, append(ways, address)...)
			time.Sleep(6 * time.Second)
			proxy := exec.Command(clawai, "proxy", "--server", "signed", "--", address)
			proxy.Env = s.env
			in, _ := proxy.StdinPipe()
			said, _ := proxy.StdoutPipe()
			if err := proxy.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`+"\n")
			answer, err := bufio.NewReader(said).ReadString('\n')
			if err != nil || !strings.Contains(answer, `"name":"signed"`) {
				t.Errorf("%v %s", err, answer)
			}
			_ = in.Close()
			_ = proxy.Wait()
		})
	}
}
