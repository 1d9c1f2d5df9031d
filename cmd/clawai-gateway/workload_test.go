package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/testing/oidctest"
)

// platform is a platform of which docs/gateway.md shows settings, with the claims of its documentation.
type platform struct {
	rule, subject string
	claims        map[string]any
	change        map[string]any // makes it another one's token
	publishes     bool
}

var platforms = []platform{
	{"github-policy", "repo:team/policy:environment:production", map[string]any{
		"aud": "https://centre.example", "repository": "team/policy", "repository_id": "74", "repository_owner": "team", "repository_owner_id": "65", "repository_visibility": "private", "ref": "refs/heads/main",
		"ref_type": "branch", "ref_protected": "true", "environment": "production", "event_name": "push", "actor": "ana", "actor_id": "12", "workflow": "publish", "run_id": "1", "run_attempt": "1", "head_ref": "", "base_ref": "",
		"sha": "example", "runner_environment": "github-hosted", "job_workflow_ref": "team/policy/.github/workflows/publish.yml@refs/heads/main",
	}, map[string]any{"ref": "refs/pull/1/merge"}, true},
	{"gitlab-policy", "project_path:team/policy:ref_type:branch:ref:main", map[string]any{
		"aud": "https://centre.example", "namespace_id": "72", "namespace_path": "team", "project_id": "20", "project_path": "team/policy", "user_id": "1", "user_login": "ana", "user_email": "ana@example.com",
		"pipeline_id": "574", "pipeline_source": "push", "job_id": "302", "ref": "main", "ref_type": "branch", "ref_protected": "true", "runner_id": 1, "runner_environment": "self-hosted", "sha": "example",
	}, map[string]any{"ref_protected": "false"}, true},
	{"cluster-report", "system:serviceaccount:ci:report", map[string]any{
		"aud":           []any{"https://centre.example"},
		"kubernetes.io": map[string]any{"namespace": "ci", "pod": map[string]any{"name": "report-1", "uid": "u1"}, "serviceaccount": map[string]any{"name": "report", "uid": "u2"}},
	}, map[string]any{"sub": "system:serviceaccount:default:report"}, false},
}

// readShownWorkloads returns the settings of workloads that docs/gateway.md shows, for another issuer.
func readShownWorkloads(t *testing.T, issuer string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "..", "docs", "gateway.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```toml\n(.*?)^```$").FindAllStringSubmatch(string(src), -1) {
		if strings.HasPrefix(m[1], "[[workload]]") {
			all = append(all, m[1])
		}
	}
	if len(all) != len(platforms) {
		t.Fatalf("%d settings are shown, and %d platforms are known", len(all), len(platforms))
	}
	return regexp.MustCompile(`(?m)^issuer = .*$`).ReplaceAllLiteralString(strings.Join(all, "\n"), fmt.Sprintf("issuer = %q", issuer))
}

// runGateway runs the program and returns what it wrote.
func runGateway(t *testing.T, words ...string) (text string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], words...) //nolint:gosec // the test itself
	cmd.Env = append(os.Environ(), "CLAWAI_TEST_PLAY=gateway")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The settings that are shown let in the platforms for which they are shown, and a token that differs in what counts
// stays out; one that publishes counts once, also after the centre was killed.
func TestShownWorkloads(t *testing.T) {
	idp := oidctest.Start(t)
	dir := t.TempDir()
	secret, public, err := bundle.NewKey("team.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, centre.SettingsFile), fmt.Appendf(nil, "bundle_keys = [%q]\n%s", public, readShownWorkloads(t, idp.Issuer())), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := runGateway(t, "serve", "--dir", dir); err == nil || !strings.Contains(text, "url is missing") {
		t.Fatalf("%v\n%s", err, text)
	}
	address, kill := startServing(t, dir)
	defer func() { kill() }()
	send := func(method, path, token string, body []byte) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		src, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(src)
	}
	newToken := func(p platform, id string, change map[string]any) string {
		now := time.Now().Unix()
		claims := map[string]any{"iss": idp.Issuer(), "exp": now + 300, "iat": now, "nbf": now - 5, "jti": id, "sub": p.subject}
		for _, more := range []map[string]any{p.claims, change} {
			for name, value := range more {
				claims[name] = value
			}
		}
		return idp.SignToken(claims)
	}
	counter := uint64(0)
	for _, p := range platforms {
		counter++
		body := signBundle(t, counter, secret)
		token, other := newToken(p, p.rule, nil), newToken(p, "other", p.change)
		method, path, want := http.MethodGet, "/v1/machine/records", http.StatusForbidden
		if p.publishes {
			method, path, want = http.MethodPut, "/v1/machine/bundle", http.StatusUnauthorized
		}
		if status, text := send(method, path, other, body); status != http.StatusForbidden {
			t.Errorf("%s, as another one: %d %s", p.rule, status, text)
		}
		if status, text := send(method, path, token, body); status != http.StatusOK {
			t.Errorf("%s: %d %s", p.rule, status, text)
		}
		kill()
		address, kill = startServing(t, dir)
		if status, text := send(http.MethodPut, "/v1/machine/bundle", token, signBundle(t, counter+1, secret)); status != want {
			t.Errorf("%s, again: %d %s, want %d", p.rule, status, text, want)
		}
	}
	text, err := runGateway(t, "keys", "--dir", dir)
	for _, p := range platforms {
		if err != nil || !regexp.MustCompile(p.rule+` +`+regexp.QuoteMeta(idp.Issuer())+` .*`+p.subject).MatchString(text) {
			t.Errorf("%v, no %s in\n%s", err, p.rule, text)
		}
	}
	if text, _ := runGateway(t, "doctor", "--dir", dir); !strings.Contains(text, "ok    workloads: "+idp.Issuer()+" answers") {
		t.Errorf("doctor:\n%s", text)
	}
	idp.Set(func(p *oidctest.Provider) { p.Down = true })
	if text, err := runGateway(t, "doctor", "--dir", dir); err == nil || !strings.Contains(text, "WRONG workloads: "+idp.Issuer()+": 503") {
		t.Errorf("doctor, while the issuer is down: %v\n%s", err, text)
	}
}

func signBundle(t *testing.T, counter uint64, secret string) []byte {
	t.Helper()
	src, err := bundle.Write(bundle.Bundle{Counter: counter, Created: time.Now(), Files: []bundle.File{{Name: bundle.PolicyName, Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"*\"\n")}}})
	if err == nil {
		src, err = bundle.Sign(src, secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	return src
}
