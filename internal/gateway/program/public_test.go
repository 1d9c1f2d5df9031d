package program

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/testing/oidctest"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A renewed certificate is taken while the centre runs; one that cannot be used leaves the one before.
func TestCertificatesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	chain, key := filepath.Join(dir, "chain"), filepath.Join(dir, "key")
	authority := tlstest.NewAuthority(t, "team")
	renew := func(name string) {
		cert, private := authority.Issue(tlstest.Leaf{Names: []string{name}})
		write(t, chain, cert)
		write(t, key, private)
	}
	var told []error
	report := func(err error) { told = append(told, err) }
	if _, err := readCertificate(chain, key, report, clock(&now)); err == nil || !strings.Contains(err.Error(), "listen.certificate") {
		t.Errorf("no file: %v", err)
	}
	renew("one.example")
	c, err := readCertificate(chain, key, report, clock(&now))
	if err != nil {
		t.Fatal(err)
	}
	has := func(name string) {
		t.Helper()
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil || leaf.DNSNames[0] != name {
			t.Errorf("%v, want %s, %v", leaf.DNSNames, name, err)
		}
	}
	renew("two.example-with-a-longer-name")
	has("one.example") // it is not looked at for each connection
	now = now.Add(lookEvery)
	has("two.example-with-a-longer-name")
	write(t, chain, []byte("half"))
	now = now.Add(lookEvery)
	has("two.example-with-a-longer-name")
	if len(told) != 1 || !strings.Contains(told[0].Error(), "the one before stays") {
		t.Errorf("%v", told)
	}
	renew("three.example")
	now = now.Add(lookEvery)
	has("three.example")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readCertificate(chain, key, report, clock(&now)); err == nil || !strings.Contains(err.Error(), "listen.key") {
		t.Errorf("a key for all: %v", err)
	}
}

func clock(now *time.Time) func() time.Time { return func() time.Time { return *now } }

func TestSecretsOfTheClient(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	getenv := func(name string) string { return map[string]string{"SECRET": "s"}[name] }
	if got, err := readSecret("oidc.client_secret", "", "", getenv); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := readSecret("oidc.client_secret", "", "SECRET", getenv); got != "s" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range [][2]string{{file, ""}, {"", "OTHER"}} {
		if got, err := readSecret("oidc.client_secret", c[0], c[1], getenv); err == nil {
			t.Errorf("%q: %q", c, got)
		}
	}
	write(t, file, []byte("s\r\n"))
	if got, err := readSecret("oidc.client_secret", file, "", getenv); got != "s" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	write(t, file, []byte("\n"))
	if got, err := readSecret("oidc.client_secret", file, "", getenv); err == nil {
		t.Errorf("an empty file: %q", got)
	}
}

// Each fault of a public centre is one line that says what comes next.
func TestDoctorOfAPublicCentre(t *testing.T) {
	t.Parallel()
	idp := oidctest.Start(t)
	dir := t.TempDir()
	authority := tlstest.NewAuthority(t, "team")
	chain, key := filepath.Join(dir, "chain"), filepath.Join(dir, "key")
	issue := func(l tlstest.Leaf) {
		cert, private := authority.Issue(l)
		write(t, chain, cert)
		write(t, key, private)
	}
	issue(tlstest.Leaf{Names: []string{"localhost"}})
	settings := fmt.Sprintf("url = \"https://localhost:1\"\n[listen]\ncertificate = %q\nkey = %q\n[oidc]\nissuer = %q\nclient_id = \"x\"\n[[role]]\nname = \"admin\"\ngroups = [\"ops\"]\n", chain, key, idp.Issuer())
	doctor := func(src string) string {
		t.Helper()
		write(t, filepath.Join(dir, "gateway.toml"), []byte(src))
		var out, failed bytes.Buffer
		if code := Run([]string{"doctor", "--dir", dir}, "1", &out, &failed); code != exitFailed { // the address never answers
			t.Errorf("code %d: %s%s", code, out.String(), failed.String())
		}
		return out.String()
	}
	has := func(said string, all ...string) {
		t.Helper()
		for _, want := range all {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in\n%s", want, said)
			}
		}
	}
	// Before the first start there is no database, and all else is checked.
	has(doctor(settings), "make one with: clawai-gateway serve --dir ", "ok    certificate: until ", "ok    provider: "+idp.Issuer()+" answers")
	write(t, filepath.Join(dir, "gateway.key"), []byte(strings.Repeat("0", 64)+"\n"))
	has(doctor(settings), "ok    certificate: until ", "WRONG address: https://localhost:1 does not answer", "ok    provider: "+idp.Issuer()+" answers", "https://localhost:1/oidc/callback")
	// The page Health has the same lines, but for the settings and the whole database.
	is, err := centre.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range newHealth(is, dir)(t.Context()) {
		word := map[bool]string{true: "ok    ", false: "WRONG "}[c.OK]
		if !strings.HasPrefix(c.Text, "checkpoints: all") && c.Text != "database: it answers" {
			has(doctor(settings), word+c.Text)
		}
	}
	if err := is.Close(); err != nil {
		t.Error(err)
	}
	issue(tlstest.Leaf{Names: []string{"localhost"}, To: time.Now().Add(48 * time.Hour)})
	has(doctor(settings), "WRONG certificate: ", "ends on ")
	issue(tlstest.Leaf{Names: []string{"other.example"}})
	has(doctor(settings), "is not for the name in url")
	write(t, chain, nil)
	has(doctor(settings), "WRONG certificate: listen: ")
	has(doctor(strings.Replace(settings, "client_id", "client_secret_file = \"/nowhere\"\nclient_id", 1)), "WRONG provider: oidc.client_secret_file: /nowhere is not there")
	has(doctor(strings.Replace(settings, "[[role]]\nname = \"admin\"\ngroups = [\"ops\"]\n", "", 1)), "WRONG settings: no [[role]]")
	idp.Set(func(p *oidctest.Provider) { p.Metadata = map[string]any{"issuer": "https://other.example"} })
	has(doctor(settings), "WRONG provider: ", "issuer in gateway.toml must be")
	idp.Set(func(p *oidctest.Provider) { p.Down = true })
	has(doctor(settings), "WRONG provider: ", "503")
}

// A centre without --dev starts with whole settings alone, and says what is missing.
func TestServeSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"url is missing":      {"serve", "--dir", dir},
		"--port is for --dev": {"serve", "--dir", dir, "--port", "1"},
	} {
		var out, failed bytes.Buffer
		if code := Run(args, "1", &out, &failed); code != exitUsage || !strings.Contains(failed.String(), want) {
			t.Errorf("%v: %d, %s", args, code, failed.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "gateway.key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has begun to make a centre: %v", err)
	}
}
