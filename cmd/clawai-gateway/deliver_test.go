package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/slow"
)

// TestKillsWhileQuestionsAreTold: a gateway that is killed tells of what it had not told, and not again of what
// it had, also after the service was down.
func TestKillsWhileQuestionsAreTold(t *testing.T) {
	slow.Test(t) // it kills a centre many times
	t.Parallel()
	heard, down := make(chan string, 100), make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case <-down:
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			heard <- "down"
			return
		}
		var e struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(body, &e)
		heard <- e.ID
	}))
	defer hook.Close()
	dir := t.TempDir()
	_, public, err := bundle.NewKey("team.example")
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "hook.secret")
	settings := fmt.Sprintf("bundle_keys = [%q]\n[[webhook]]\nname = \"hook\"\nurl = %q\nsecret_file = %q\n", public, hook.URL, secret)
	for path, text := range map[string]string{secret: "s\n", filepath.Join(dir, centre.SettingsFile): settings} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grant := enrolDirectly(t, dir)
	ask := func(address, n string) string {
		t.Helper()
		src, _ := json.Marshal(enrolment.AskQuestion{
			Digest: strings.Repeat(n, 64), Server: "files", Approvers: []string{"role:oncall"}, Approvals: 1, Wait: 5,
			Calls: []enrolment.ShownCall{{Subject: "tool", Method: "tools/call", Names: []string{"write"}}},
		})
		r, err := http.NewRequestWithContext(t.Context(), "POST", address+enrolment.QuestionsPath, bytes.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+grant.Token)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var state enrolment.QuestionState
		if err := json.NewDecoder(resp.Body).Decode(&state); err != nil || state.ID == "" {
			t.Fatal(resp.Status, err)
		}
		return state.ID
	}
	over := time.After(5 * time.Minute)
	next := func() string {
		for {
			select {
			case text := <-heard:
				if text != "down" { // before it was killed, it may have tried more than once
					return text
				}
			case <-over:
				t.Fatal("nothing was told")
			}
		}
	}
	address, kill := startServing(t, dir)
	first := ask(address, "1")
	if got := <-heard; got != "down" {
		t.Fatal(got)
	}
	kill()
	endClaim(t, dir, first)
	close(down)
	address, kill = startServing(t, dir)
	if got := next(); got != first+"-pending-0" {
		t.Fatalf("after the kill: %q", got)
	}
	second := ask(address, "2")
	if got := next(); got != second+"-pending-0" {
		t.Fatalf("%q, want %s", got, second)
	}
	// When the third was told, the centre had noted both.
	third := ask(address, "3")
	if got := next(); got != third+"-pending-0" {
		t.Fatalf("%q, want %s", got, third)
	}
	kill()
	// The third may come again, if its note was killed; the others may not.
	address, kill = startServing(t, dir)
	defer kill()
	fourth := ask(address, "4")
	got := next()
	if got == third+"-pending-0" {
		got = next()
	}
	if got != fourth+"-pending-0" || len(heard) > 0 {
		t.Errorf("told again: %q, want %s", got, fourth)
	}
}

// endClaim lets the time pass that a killed centre's claim to the message about a question lasts.
func endClaim(t *testing.T, dir, question string) {
	t.Helper()
	c, err := centre.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	claimed, err := c.Store.FindDelivery(t.Context(), question, "webhook hook")
	if err != nil || !claimed.Open || !claimed.Next.After(time.Now()) {
		t.Fatalf("the centre has no claim: %+v, %v", claimed, err)
	}
	over := claimed
	over.Next = time.Now()
	if err := c.Store.ReplaceDelivery(t.Context(), claimed, over); err != nil {
		t.Fatal(err)
	}
}
