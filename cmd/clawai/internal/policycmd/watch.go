package policycmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/filewatch"
)

// settled is how long the files must stay unchanged before a run, because an editor saves a change
// in several steps.
const settled = 100 * time.Millisecond

// watchTests runs the tests once. It runs them again after each change of the policy or of a
// fixture, until an interrupt. If the policy does not load, it reports this and waits for the next
// change.
func watchTests(c *cli.Context, once func() error) error {
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	notes, err := filewatch.New()
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	defer notes.Close()
	seen := testSources(c)
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return &cmdline.ExitError{Code: cmdline.ExitInterrupted}
		case ev := <-notes.Events():
			if ev.Err != nil {
				fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: %v\n", ev.Err)
			}
			if ev.Err != nil || !ev.Has(fsnotify.Chmod) && seen.isRelevant(ev.Name) {
				again.Reset(settled)
			}
		case <-again.C:
			// The watch must start before the run, so that it notices changes during the run.
			if err := seen.watchFolders(notes); err != nil {
				return cmdline.Usagef("--watch: %w", err)
			}
			var exit *cmdline.ExitError
			if err := once(); err != nil && (!errors.As(err, &exit) || exit.Err != nil) {
				fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: %v\n", err)
			}
			fmt.Fprintln(cmdline.ProseWriter(c.App.ErrWriter), "watching for changes; Ctrl-C ends")
		}
	}
}

// sources are the files that a test run reads.
type sources struct {
	files []string // the policy file and the fixture files
	trees []string // the folders with fixtures
	not   string   // the file that the run writes; its change must not start a run
}

func testSources(c *cli.Context) sources {
	s := sources{files: []string{filepath.Clean(c.String("policy"))}}
	if real, err := filepath.EvalSymlinks(s.files[0]); err == nil {
		s.files = append(s.files, real)
	}
	for _, file := range c.StringSlice("fixture") {
		s.files = append(s.files, filepath.Clean(file))
	}
	for _, dir := range c.StringSlice("fixture-dir") {
		s.trees = append(s.trees, filepath.Clean(dir))
	}
	if out := c.Path("output"); out != "" {
		s.not = filepath.Clean(out)
	}
	return s
}

// isRelevant reports whether a run reads the changed file. A run reads the named files, and
// fixtures and folders in one of the trees.
func (s sources) isRelevant(name string) bool {
	name = filepath.Clean(name)
	if name == s.not {
		return false
	}
	if slices.Contains(s.files, name) {
		return true
	}
	if filepath.Ext(name) != ".json" && !isFolder(name) {
		return false
	}
	return slices.ContainsFunc(s.trees, func(tree string) bool {
		below, err := filepath.Rel(tree, name)
		return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator))
	})
}

// watchFolders watches all folders with relevant files, also new folders. A second call for the
// same folder has no effect.
func (s sources) watchFolders(notes *filewatch.Watcher) error {
	for _, file := range s.files {
		if err := notes.Add(filepath.Dir(file)); err != nil {
			return fmt.Errorf("%s: %w", filepath.Dir(file), err)
		}
	}
	for _, tree := range s.trees {
		// Errors are ignored, because the run itself reports a folder that is missing or
		// unreadable.
		_ = filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				_ = notes.Add(path)
			}
			return nil
		})
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
