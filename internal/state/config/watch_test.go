package config

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/state/filewatch"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// news is one call of onChange.
type news struct {
	text   string        // the new source; "" with an error
	action policy.Action // for the tool "write"
	note   string        // what is new of the layers
	err    error
}

// watched loads and watches path, with events only; next waits for the next
// news.
func watched(t *testing.T, path string) (next func() news) {
	t.Helper()
	return watchedFrom(t, func() (*Loaded, error) { return LoadPolicy(path, "") })
}

func watchedFrom(t *testing.T, load func() (*Loaded, error)) (next func() news) {
	t.Helper()
	from, err := load()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	told, done := make(chan news, 100), make(chan struct{})
	w := &watcher{good: from, pollWatched: time.Hour, pollUnwatched: time.Hour, tell: func(l *Loaded, err error) {
		n := news{err: err}
		if l != nil {
			n.text, n.note = string(l.Source), strings.Join(l.News, "\n")
			n.action = l.Policy.Decide(&policy.Call{Subject: policy.ToolSubject, Names: []string{"write"}}).Action
		}
		told <- n
	}}
	w.fs, err = filewatch.New()
	must(t, err)
	for w.pollFiles() == quietDelay { // all is seen now; from here on there are only events
	}
	go func() {
		defer close(done)
		defer w.fs.Close()
		w.run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		for len(told) > 0 {
			t.Errorf("also told: %+v", <-told)
		}
	})
	return func() news {
		t.Helper()
		select {
		case n := <-told:
			return n
		case <-time.After(20 * time.Second):
			t.Fatal("nothing was told")
			return news{}
		}
	}
}

func expect(t *testing.T, n news, text, fault string) {
	t.Helper()
	if fault == "" && (n.err != nil || n.text != text) || fault != "" && (n.err == nil || !strings.Contains(n.err.Error(), fault)) {
		t.Errorf("told %q, %v; want %q, %q", n.text, n.err, text, fault)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWatchTellsEachChangeOnce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := folder(t)
	path := filepath.Join(dir, "policy.toml")
	write(t, path, good)
	next := watched(t, path)

	write(t, path, better) // in place
	expect(t, next(), better, "")

	write(t, filepath.Join(dir, "tmp"), good) // as editors do
	must(t, os.Rename(filepath.Join(dir, "tmp"), path))
	expect(t, next(), good, "")

	write(t, path, bad)
	expect(t, next(), "", "clawai policy check")
	write(t, path, bad) // the same trouble is not told again
	write(t, path, good)
	expect(t, next(), good, "")

	must(t, os.Remove(path))
	expect(t, next(), "", "there is no policy")
	write(t, path, better)
	expect(t, next(), better, "")
}

func TestWatchSeesWhatWasChangedBeforeItBegan(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	path := filepath.Join(folder(t), "policy.toml")
	write(t, path, good)
	from, err := LoadPolicy(path, "")
	must(t, err)
	write(t, path, better)
	ctx, cancel := context.WithCancel(context.Background())
	Watch(ctx, from, nil, func(l *Loaded, err error) {
		if err != nil || string(l.Source) != better {
			t.Errorf("told %v, %v", l, err)
		}
		cancel()
	})
}

// A folder of versions and a link that is swapped is how clusters and dotfile
// managers deploy; no event names the file.
func TestWatchSeesASwappedLink(t *testing.T) {
	slow.Test(t)
	dir := folder(t)
	for name, text := range map[string]string{"v1": good, "v2": better} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "policy.toml"), text)
	}
	must(t, os.Symlink("v1", filepath.Join(dir, "current")))
	must(t, os.Mkdir(filepath.Join(dir, "conf"), 0o700))
	path := filepath.Join(dir, "conf", "policy.toml")
	must(t, os.Symlink("../current/policy.toml", path))
	next := watched(t, path)
	must(t, os.Symlink("v2", filepath.Join(dir, "new")))
	must(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "current")))
	expect(t, next(), better, "")
	write(t, filepath.Join(dir, "v2", "policy.toml"), good) // and follows it
	expect(t, next(), good, "")
}

func TestWatchSurvivesItsFolder(t *testing.T) {
	slow.Test(t)
	dir := folder(t)
	sub := filepath.Join(dir, "a", "b")
	path := filepath.Join(sub, "policy.toml")
	must(t, os.MkdirAll(sub, 0o700))
	write(t, path, good)
	next := watched(t, path)
	for _, text := range []string{better, good} {
		must(t, os.RemoveAll(filepath.Join(dir, "a")))
		expect(t, next(), "", "there is no policy")
		must(t, os.MkdirAll(sub, 0o700))
		write(t, path, text)
		expect(t, next(), text, "")
	}
	other := filepath.Join(dir, "other")
	must(t, os.Mkdir(other, 0o700))
	write(t, filepath.Join(other, "policy.toml"), better)
	must(t, os.Rename(sub, filepath.Join(dir, "old")))
	must(t, os.Rename(other, sub))
	n := next()
	if errors.Is(n.err, fs.ErrNotExist) { // seen between the two renames
		n = next()
	}
	expect(t, n, better, "")
	write(t, path, good)
	expect(t, next(), good, "")
}

// A crowded machine has no watches left to give; then the file is looked at.
func TestWatchWithoutNotifications(t *testing.T) {
	path := filepath.Join(folder(t), "policy.toml")
	write(t, path, good)
	from, err := LoadPolicy(path, "")
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		var told []news
		w := &watcher{good: from, pollUnwatched: pollUnwatched, tell: func(_ *Loaded, err error) { told = append(told, news{err: err}) }}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.run(ctx)
		synctest.Wait()
		write(t, path, better)
		time.Sleep(pollUnwatched + quietDelay + time.Millisecond)
		synctest.Wait()
		if len(told) != 1 || told[0].err != nil {
			t.Errorf("told %v", told)
		}
	})
}

// A rule of which the condition is not written yet must never be in force.
func TestWatchDoesNotBelieveAHalfWrittenFile(t *testing.T) {
	path := filepath.Join(folder(t), "policy.toml")
	write(t, path, good)
	from, err := LoadPolicy(path, "")
	must(t, err)
	var told []string
	w := &watcher{good: from, pollUnwatched: pollUnwatched, tell: func(l *Loaded, _ error) { told = append(told, string(l.Source)) }}
	w.pollFiles()
	for n := range len(better) {
		write(t, path, better[:n])
		if again := w.pollFiles(); again != quietDelay {
			t.Fatalf("half a file is looked at again in %s", again)
		}
	}
	write(t, path, better)
	w.pollFiles()
	if w.pollFiles() != pollUnwatched || len(told) != 1 || told[0] != better {
		t.Errorf("told %q", told)
	}
}

func TestTroubleIsToldOnce(t *testing.T) {
	path := filepath.Join(folder(t), "policy.toml")
	write(t, path, good)
	from, err := LoadPolicy(path, "")
	must(t, err)
	var told []news
	w := &watcher{good: from, tell: func(_ *Loaded, err error) { told = append(told, news{err: err}) }}
	for _, text := range []string{bad, bad + "# the same fault\n", good} {
		write(t, path, text)
		for range 3 {
			w.pollFiles()
		}
	}
	if len(told) != 2 || told[0].err == nil || told[1].err != nil {
		t.Errorf("told %v, want the trouble and its end", told)
	}
}

// What happened between the reading and the watching was seen by nobody.
func TestANewFolderIsLookedAtTwiceAndAnOldOneLeft(t *testing.T) {
	dir := folder(t)
	for _, name := range []string{"v1", "v2"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "policy.toml"), good)
	}
	link := filepath.Join(dir, "current")
	must(t, os.Symlink("v1", link))
	from, err := LoadPolicy(filepath.Join(link, "policy.toml"), "")
	must(t, err)
	w := &watcher{good: from, pollWatched: pollWatched, tell: func(*Loaded, error) { t.Error("nothing changed") }}
	w.fs, err = filewatch.New()
	must(t, err)
	defer w.fs.Close()
	for _, name := range []string{"v1", "v2"} {
		must(t, os.Remove(link))
		must(t, os.Symlink(name, link))
		if again := w.pollFiles(); again != quietDelay {
			t.Errorf("%s: looked at again in %s", name, again)
		}
		if again := w.pollFiles(); again != pollWatched {
			t.Errorf("%s: not believed: %s", name, again)
		}
		list := w.fs.WatchList()
		slices.Sort(list)
		if want := []string{dir, filepath.Join(dir, name)}; !slices.Equal(list, want) {
			t.Errorf("watched %v, want %v", list, want)
		}
	}
}
