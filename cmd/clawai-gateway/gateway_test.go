package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/slow"
)

// TestMain makes the test binary play the program.
func TestMain(m *testing.M) {
	if os.Getenv("CLAWAI_TEST_PLAY") == "gateway" {
		main()
		return
	}
	os.Exit(m.Run())
}

// served is the program while it serves a folder with --dev.
type served struct {
	address string
	process *os.Process
	said    *bytes.Buffer // not before it has ended
	ended   chan struct{}
}

// end ends the program by a signal, waits for its end, however often it is called, and returns what it wrote.
func (s *served) end(by os.Signal) string {
	_ = s.process.Signal(by)
	<-s.ended
	return s.said.String()
}

// startServing starts the program on a folder and returns its address and a function that kills it and
// waits for its end, however often it is called.
func startServing(t *testing.T, dir string) (address string, kill func()) {
	t.Helper()
	s := serve(t, dir)
	return s.address, func() { s.end(os.Kill) }
}

// serve starts the program on a folder.
func serve(t *testing.T, dir string) *served {
	t.Helper()
	_ = os.Remove(filepath.Join(dir, "gateway.address"))
	cmd := exec.Command(os.Args[0], "serve", "--dev", "--dir", dir, "--port", "0")
	cmd.Env = append(os.Environ(), "CLAWAI_TEST_PLAY=gateway")
	s := &served{said: &bytes.Buffer{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = s.said, s.said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = cmd.Process
	go func() { _ = cmd.Wait(); close(s.ended) }()
	for {
		select {
		case <-s.ended:
			t.Fatalf("the gateway ended: %v\n%s", cmd.ProcessState, s.said.String())
		case <-time.After(10 * time.Millisecond):
		}
		if src, err := os.ReadFile(filepath.Join(dir, "gateway.address")); err == nil && len(src) > 0 {
			s.address = strings.TrimSpace(string(src))
			return s
		}
	}
}

// runServeOnce starts the program on a folder where it cannot serve, and returns its exit code and what it wrote.
func runServeOnce(t *testing.T, dir string) (code int, said string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--dev", "--dir", dir, "--port", "0")
	cmd.Env = append(os.Environ(), "CLAWAI_TEST_PLAY=gateway")
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// However often the gateway is killed while a laptop ships its record, the laptop goes on where it
// was, and no byte and no record is lost or there twice.
func TestKillsWhileALaptopShips(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := t.TempDir()
	_, public, err := bundle.NewKey("team.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, centre.SettingsFile), fmt.Appendf(nil, "bundle_keys = [%q]\n", public), 0o600); err != nil {
		t.Fatal(err)
	}
	grant := enrolDirectly(t, dir)
	const calls = 600
	name, text := recordCalls(t, calls)
	session, _ := audit.SplitSegmentName(name)
	client := &http.Client{Timeout: 10 * time.Second}
	ask := func(method, address, query string, body []byte) (held enrolment.Held, ok bool) {
		r, err := http.NewRequestWithContext(t.Context(), method, address+enrolment.RecordsPath+session+"/"+name+query, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+grant.Token)
		resp, err := client.Do(r)
		if err != nil {
			return held, false // the gateway was killed
		}
		defer resp.Body.Close()
		src, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 && resp.StatusCode != 409 {
			return held, false
		}
		return held, json.Unmarshal(src, &held) == nil
	}
	kills := 0
	for done := false; !done && kills < 200; {
		address, kill := startServing(t, dir)
		timer := time.AfterFunc(time.Duration(rand.IntN(120)+20*kills)*time.Millisecond, kill) //nolint:gosec // when does not matter; a slow machine gets on, too
		held, ok := ask("GET", address, "", nil)
		acknowledged := held.Size
		for ok && !done {
			end := min(held.Size+int64(500+rand.IntN(3000)), int64(len(text))) //nolint:gosec // how much does not matter
			query := fmt.Sprintf("?at=%d", held.Size)
			if end == int64(len(text)) {
				query += "&complete=1"
			}
			if held, ok = ask("PUT", address, query, text[held.Size:end]); ok {
				if held.Size < acknowledged {
					t.Fatalf("%d bytes are held, and %d were acknowledged", held.Size, acknowledged)
				}
				acknowledged, done = held.Size, held.Complete
			}
		}
		if !timer.Stop() {
			kills++
		}
		kill() // also waits for the end, which the timer has only begun
	}
	if kills == 0 {
		t.Fatal("the gateway was never killed")
	}
	c, err := centre.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	kept, err := c.Store.ReadSegment(t.Context(), grant.Laptop, name, 0, len(text)+1)
	if err != nil || !bytes.Equal(kept, text) {
		t.Errorf("%d bytes are kept of %d, after %d kills: %v", len(kept), len(text), kills, err)
	}
	records, err := c.Store.ListRecords(t.Context(), store.Query{Most: 10 * calls})
	seen := map[uint64]bool{}
	for _, r := range records {
		seen[r.Seq] = true
	}
	sums, err2 := c.Store.CountHours(t.Context(), time.Now().Add(-48*time.Hour))
	total := 0
	for _, s := range sums {
		total += s.N
	}
	if err != nil || err2 != nil || len(records) != calls || len(seen) != calls || total != calls {
		t.Errorf("%d records with %d numbers, %d counted, of %d, after %d kills; %v %v", len(records), len(seen), total, calls, kills, err, err2)
	}
	if found, err := c.Store.ListFindings(t.Context(), "", "", 10); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	t.Logf("%d kills", kills)
}

// enrolDirectly enrols a laptop without a page.
func enrolDirectly(t testing.TB, dir string) enrolment.Grant {
	t.Helper()
	ctx := context.Background()
	c, err := centre.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	code, err := c.BeginEnrolment(ctx, enrolment.AskEnrolment{Name: "laptop"}, "here")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.DecideWish(ctx, code.UserCode, true, principal.Principal{Issuer: principal.Local, Subject: "admin", Name: "admin"}); err != nil {
		t.Fatal(err)
	}
	grant, refusal, err := c.PollToken(ctx, code.DeviceCode)
	if err != nil || refusal != nil {
		t.Fatal(refusal, err)
	}
	return grant
}

// recordCalls records calls as a session does and returns the segment.
func recordCalls(t *testing.T, n int) (name string, text []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		err := log.Record(&event.Event{
			Kind: event.Decision, Time: time.Now(), Server: "files", Direction: "client", Method: "tools/call", Subject: "tool", Names: []string{"read_file"},
			Args: fmt.Appendf(nil, `{"path":"/srv/%d"}`, i), Policy: "allow", Decision: "allow", Stage: "policy", Code: "rule",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*-*.ndjson"))
	if len(paths) != 1 {
		t.Fatalf("%d segments", len(paths))
	}
	text, err = os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(paths[0]), text
}
