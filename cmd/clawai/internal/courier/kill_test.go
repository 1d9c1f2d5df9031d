package courier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/centretest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// TestMain makes the test binary play a courier that puts one bundle after the other into force.
func TestMain(m *testing.M) {
	if state := os.Getenv("CLAWAI_TEST_ACTIVATE"); state != "" {
		activateAll(config.Folders{State: state, Config: state, Home: "/home/user"}, os.Getenv("CLAWAI_TEST_BUNDLES"), os.Getenv("CLAWAI_TEST_KEY"))
	}
	os.Exit(m.Run())
}

func activateAll(folders config.Folders, dir, key string) {
	for counter := 1; ; counter++ {
		src, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(counter)))
		if err != nil {
			os.Exit(0) // all are in force
		}
		p, err := enrolment.ReadProgress(folders.State)
		if err != nil {
			panic(err)
		}
		if _, _, err := restoreRules(folders.State, []string{key}); err != nil {
			panic(err)
		}
		if uint64(counter) <= p.Counter {
			continue
		}
		a, err := activate(folders, src, []string{key})
		if err == nil {
			err = enrolment.ChangeProgress(folders.State, func(p *enrolment.Progress) { p.Counter = a.Counter })
		} else if now, _ := readActive(folders.State, []string{key}); now.Counter > uint64(counter) {
			err = nil // a later one was in force when the process was killed, and its counter not kept
		}
		if err != nil {
			panic(err)
		}
	}
}

// However often a courier is killed while bundles come into force, what sessions read is one whole
// bundle's policy, it loads, and the counter never goes back.
func TestKillsWhileBundlesComeIntoForce(t *testing.T) {
	slow.Test(t)
	centre := centretest.Start(t)
	l := enrol(t, centre)
	state := l.folders.State
	dir := t.TempDir()
	bundles := slow.Rounds(120, 400)
	texts := map[string]bool{}
	for n := range bundles {
		text := fmt.Sprintf("packs = [\"words.toml\"]\n[[rule]]\naction = \"deny\"\ntool = \"tool_%d\"\n", n+1)
		texts[text] = true
		src := centre.Sign(t, uint64(n+1), text, bundle.File{Name: "words.toml", Text: []byte(pack + fmt.Sprintf("# %d\n", n))})
		l.must(os.WriteFile(filepath.Join(dir, fmt.Sprint(n+1)), src, 0o600))
	}
	l.must(os.WriteFile(l.folders.PolicyFile(), []byte("[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), 0o600))
	var last uint64
	kills := 0
	for done := false; !done; {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CLAWAI_TEST_ACTIVATE="+state, "CLAWAI_TEST_BUNDLES="+dir, "CLAWAI_TEST_KEY="+centre.Public)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		l.must(cmd.Start())
		timer := time.AfterFunc(time.Duration(5+5*kills+rand.IntN(40))*time.Millisecond, func() { _ = cmd.Process.Kill() }) //nolint:gosec // when does not matter; a slow machine gets on, too
		err := cmd.Wait()
		if timer.Stop() {
			l.must(err)
			done = true
		} else {
			kills++
		}
		if bytes.Contains(said.Bytes(), []byte("panic")) {
			t.Fatal(said.String())
		}
		rules, err := os.ReadFile(enrolment.PolicyFile(state))
		if os.IsNotExist(err) && last == 0 {
			continue
		}
		if l.must(err); !texts[string(rules)] {
			t.Fatalf("sessions read %q", rules)
		}
		if _, err := (base.Files{Packs: packs.Read}).Load(l.folders); err != nil {
			t.Fatalf("after a kill no session starts: %v", err)
		}
		a, _, err := restoreRules(state, []string{centre.Public})
		if l.must(err); a.Counter < last || a.Counter < l.progress().Counter {
			t.Fatalf("the counter is %d, and was %d", a.Counter, last)
		}
		last = a.Counter
		loaded, err := base.Files{Packs: packs.Read}.Load(l.folders)
		l.must(err)
		tool := fmt.Sprintf("tool_%d", a.Counter)
		if got := loaded.Policy.Decide(&policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}}).Action; got != policy.Deny {
			t.Fatalf("bundle %d is in force, and %s is %v", a.Counter, tool, got)
		}
	}
	if last != uint64(bundles) || kills < 5 {
		t.Errorf("bundle %d is in force at the end, after %d kills", last, kills)
	}
}
