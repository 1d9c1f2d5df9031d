package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// brought is a pack whose text is what it finds.
type brought []byte

func (brought) Kind() string   { return "pack:own" }
func (b brought) Text() []byte { return b }

func bring(x policy.PackFile) (policy.Pack, error) {
	path, err := ReferencePath(x.Pos.File, x.File)
	if err != nil {
		return nil, err
	}
	src, err := ReadFile(path)
	if err == nil && strings.HasPrefix(string(src), "broken") {
		err = errors.New(x.File + ":1: an example says otherwise")
	}
	return brought(src), err
}

// A pack that changes is another policy; one that is gone, broken, or that others can write
// leaves the last good one in force.
func TestPacksAreWatched(t *testing.T) {
	slow.Test(t)
	h := newHouse(t)
	pack, orgPack := filepath.Join(filepath.Dir(h.policy), "own.toml"), filepath.Join(filepath.Dir(h.org), "org.toml")
	write(t, h.policy, "packs = ['own.toml']\n"+allow)
	write(t, h.org, "packs = ['org.toml']\n"+deny)
	write(t, pack, "first")
	write(t, orgPack, "org")
	load := func() (*Loaded, error) { return h.layers.Load(h.policy, policy.Options{Pack: bring}) }
	from, err := load()
	must(t, err)
	must(t, os.Chmod(pack, 0o666))
	if _, err := load(); err == nil {
		t.Error("a pack that others can write was read")
	}
	must(t, os.Chmod(pack, 0o600))
	synctest.Test(t, func(t *testing.T) {
		var told []string
		now := from
		w := &watcher{good: from, widenDelay: widenDelay, pollUnwatched: 20 * time.Millisecond, tell: func(l *Loaded, err error) {
			if err != nil {
				told = append(told, err.Error())
				return
			}
			now = l
			var texts []string
			for _, p := range l.Policy.Packs() {
				texts = append(texts, string(p.Text()))
			}
			told = append(told, strings.Join(texts, " "))
		}}
		settle := func(want string) {
			t.Helper()
			told = nil
			for at := time.Now(); time.Since(at) < 3*late; time.Sleep(w.pollFiles()) { // nothing else runs
			}
			if got := strings.Join(told, "; "); !strings.Contains(got, want) || want == "" && got != "" || len(told) > 1 {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		settle("")
		was := now.Policy.Revision()
		write(t, pack, "second")
		settle("second org")
		if now.Policy.Revision() == was {
			t.Error("the revision is the same")
		}
		write(t, orgPack, "org2")
		settle("second org2")
		write(t, pack, "broken")
		settle("own.toml:1: an example says otherwise")
		must(t, os.Remove(pack))
		settle("own.toml")
		write(t, pack, "second")
		settle("second org2")
		must(t, os.Remove(orgPack))
		settle("org.toml")
	})
}

// What a project brings along was not looked at when it was trusted.
func TestAProjectHasNoPacks(t *testing.T) {
	l := layer{name: project, path: "p.toml", src: []byte("packs = ['own.toml']\n")}
	if err := l.compileRules(policy.Options{Pack: bring}); err == nil || !strings.Contains(err.Error(), "packs cannot be read here") {
		t.Error(err)
	}
}
