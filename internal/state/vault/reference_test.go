package vault_test

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/vault"
)

var (
	command = []string{"npx", "-y", "server"}
	now     = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
)

func resolver(t *testing.T, s vault.Requester) *vault.Resolver {
	p := place(t)
	store := choose(t, p, vault.InKeychain)
	for name, value := range map[string]string{"key": "canary-1", "lines": "canary\n2", "old": "canary-3"} {
		must(t, store.Change(name, func(e *vault.Entry) error {
			e.Value, e.Set = []byte(value), now.Add(-time.Hour)
			if name == "old" {
				e.MaxAge = time.Minute
			}
			if gh := (vault.Requester{Name: "gh", Command: command}); !e.BindServer(gh) || e.BindServer(gh) {
				t.Error("bound twice")
			}
			return nil
		}))
	}
	return &vault.Resolver{Open: p.Open, Server: s, Now: now}
}

func TestEnv(t *testing.T) {
	gh := vault.Requester{Name: "gh", Command: command}
	for _, tt := range []struct {
		server     vault.Requester
		text, want string // a wanted error has a blank
		bind       bool
	}{
		{gh, "plain", "plain", false},
		{gh, "clawai-vault:key", "canary-1", false},
		{gh, "clawai-vault:lines", "canary\n2", false},
		{gh, "clawai-vault:old", "too old", false},
		{gh, "clawai-vault:gone", "clawai vault set gone", false},
		{gh, "Bearer clawai-vault:key", "whole value of a variable", false},
		{gh, "clawai-vault:key,clawai-vault:key", "whole value of a variable", false},
		{gh, "clawai-vault:", "whole value of a variable", false},
		{vault.Requester{Name: "gh", Command: []string{"npx", "-y server"}}, "clawai-vault:key", "as another command starts it", true},
		{vault.Requester{Name: "gh", Command: []string{"printenv"}}, "clawai-vault:key", "as another command starts it", true},
		{vault.Requester{Name: "other", Command: command}, "clawai-vault:key", `not for the server "other"`, true},
		{vault.Requester{Command: command}, "clawai-vault:key", "--server NAME", false},
	} {
		r := resolver(t, tt.server)
		given := []string{"A=b", "X=" + tt.text}
		got, err := r.FillEnv(given)
		if given[1] != "X="+tt.text {
			t.Errorf("%s: the environment that was given is changed", tt.text)
		}
		if strings.Contains(tt.want, " ") {
			refused, _ := errors.AsType[*vault.Refusal](err)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") || !strings.HasPrefix(err.Error(), "X: ") {
				t.Errorf("%s: %v", tt.text, err)
			}
			if (refused != nil && refused.Bind) != tt.bind {
				t.Errorf("%s: bind %v", tt.text, refused)
			}
			continue
		}
		if err != nil || !slices.Equal(got, []string{"A=b", "X=" + tt.want}) {
			t.Errorf("%s: %q, %v", tt.text, got, err)
		}
		if used := r.UsedValues(); (len(used) == 1) != (tt.want != tt.text) || len(used) == 1 && string(used[0]) != tt.want {
			t.Errorf("%s: used %q", tt.text, used)
		}
	}
}

func TestHeader(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                     "plain",
		"clawai-vault:key":          "canary-1",
		"Bearer clawai-vault:key":   "Bearer canary-1",
		"Bearer clawai-vault:key x": "a reference ends the value",
		"clawai-vault:lines":        "more than one line",
	} {
		h := http.Header{"X-Key": {"first", text}}
		err := resolver(t, vault.Requester{Name: "gh", Command: command}).FillHeader(h)
		if err == nil && h["X-Key"][1] != want || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v, %v", text, h, err)
		}
	}
}

// A vault that is not asked for anything is not opened, and one that is locked is an error.
func TestTheVaultIsOpenedWhenItIsNeeded(t *testing.T) {
	r := &vault.Resolver{Open: func() (vault.Store, error) { return nil, os.ErrPermission }, Server: vault.Requester{Name: "gh", Command: command}}
	if _, err := r.FillEnv([]string{"A=b"}); err != nil {
		t.Error(err)
	}
	if _, err := r.FillEnv([]string{"A=clawai-vault:b"}); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
}
