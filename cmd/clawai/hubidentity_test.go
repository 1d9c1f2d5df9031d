package main

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/authcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/proxycmd"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/oauth"
)

// What a server is opened with tells its kept lists from others.
func TestHubIdentity(t *testing.T) {
	t.Setenv("CLAWAI_KEYCHAIN", "off")
	t.Setenv("XDG_SESSION_ID", "1")
	dir := t.TempDir()
	folders := config.Folders{State: filepath.Join(dir, "state")}
	program, script := filepath.Join(dir, "program.exe"), filepath.Join(dir, "server.js")
	for _, path := range []string{program, script} {
		if err := os.WriteFile(path, []byte("1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	local := config.Upstream{ID: "a", Command: []string{program, "server.js"}, Dir: dir, Env: map[string]string{"A": "1"}}
	remote := config.Upstream{ID: "a", URL: "https://host.example/mcp", Header: map[string]string{"X-Key": "1"}}
	const address = "https://host.example/mcp"
	signIn := func(since time.Time) {
		u, err := url.Parse(address)
		if err == nil {
			err = authcmd.SignInOptions(folders, u, nil).Store.Save(oauth.StoredSignIn{Server: oauth.ServerKey(u), AccessToken: since.String(), Since: since})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		of     config.Upstream
		change func(*config.Upstream)
		same   bool
	}{
		"nothing":         {local, func(*config.Upstream) {}, true},
		"another log-in":  {local, func(*config.Upstream) { t.Setenv("XDG_SESSION_ID", "2") }, true},
		"a variable":      {local, func(s *config.Upstream) { s.Env = map[string]string{"A": "2"} }, false},
		"one of ours":     {local, func(*config.Upstream) { t.Setenv("LANG", "xx") }, false},
		"an argument":     {local, func(s *config.Upstream) { s.Command = append(s.Command, "x") }, false},
		"the folder":      {local, func(s *config.Upstream) { s.Dir = t.TempDir() }, false},
		"the program":     {local, func(*config.Upstream) { write(t, program, "22") }, false},
		"what it runs":    {local, func(*config.Upstream) { write(t, script, "333") }, false},
		"nothing, remote": {remote, func(*config.Upstream) {}, true},
		"the address":     {remote, func(s *config.Upstream) { s.URL += "2" }, false},
		"a header":        {remote, func(s *config.Upstream) { s.Header = map[string]string{"X-Key": "2"} }, false},
		"a sign-in":       {remote, func(*config.Upstream) { signIn(time.Now()) }, false},
		"signed in anew":  {remote, func(*config.Upstream) { signIn(time.Now().Add(time.Hour)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			before, _, err := proxycmd.ServerIdentity(folders, c.of)
			if err != nil {
				t.Fatal(err)
			}
			c.change(&c.of)
			after, _, err := proxycmd.ServerIdentity(folders, c.of)
			if err != nil || (string(before) == string(after)) != c.same {
				t.Errorf("%s, then %s, %v", before, after, err)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
