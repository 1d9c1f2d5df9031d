// Package channels finds the ways to ask a person that are open where the command runs. It asks no
// question and writes no file.
package channels

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
)

// Open returns the reason why the named channel cannot ask here now. It returns nil if the channel
// can ask, and for elicitation, which only a session can check.
func Open(ctx context.Context, folders config.Folders, name string) error {
	switch name {
	case "terminal":
		return tryTerminal(ctx, folders.State)
	case "console", "web":
		return ask.NewQueueChannel(name, func() ([]string, error) { return listAnswerers(folders.State) }).Open()
	}
	return nil
}

// listAnswerers returns who answers questions of the queue now. It does not create a queue.
func listAnswerers(state string) ([]string, error) {
	dir := filepath.Join(state, "queue")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = q.Close() }()
	return q.Answerers()
}

// tryTerminal opens the terminal as a question would.
func tryTerminal(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		if dir, err = os.MkdirTemp("", "clawai-terminal-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	tty, err := term.OpenTerminal(ctx, "/dev/tty", filepath.Join(dir, "terminal.lock"))
	if err != nil {
		return err
	}
	return tty.Close()
}
