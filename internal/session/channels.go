package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/ask/elicit"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
)

// channelRow is one way to ask a person.
type channelRow struct {
	name string // the channel's name in the settings and in the record
	make func(*asking) ask.Channel
	// try returns an error if this process could not ask a person through the channel now. try asks
	// no question and writes no file. It is nil if only a session can find this out. In this case
	// the field when tells people where the channel works.
	try    func(context.Context, config.Folders) error
	when   string
	queued bool // the person answers in the queue
}

// channels are all ways to ask a person, in the order in which they are tried.
var channels = []channelRow{
	{name: "terminal", make: func(a *asking) ask.Channel { return a.newTerminal() }, try: tryTerminal},
	queueRow("console"),
	{name: "elicitation", when: "where the client offers a form of its own", make: func(a *asking) ask.Channel {
		return elicit.New(elicit.Options{Project: a.view.Project, Home: a.folders.Home, Reach: a.listReach})
	}},
	queueRow("web"),
}

// queueRow returns the row for a kind of program that watches the queue and answers from it.
func queueRow(kind string) channelRow {
	return channelRow{
		name: kind, queued: true,
		make: func(a *asking) ask.Channel { return ask.NewQueueChannel(kind, a.listAnswerers) },
		try: func(_ context.Context, f config.Folders) error {
			return ask.NewQueueChannel(kind, func() ([]string, error) { return listAnswerers(queueDir(f)) }).Open()
		},
	}
}

func findChannel(name string) *channelRow {
	return &channels[slices.IndexFunc(channels, func(c channelRow) bool { return c.name == name })]
}

// ChannelNames returns the words of all ways to ask a person, in the order in which they are tried.
func ChannelNames() (names []string) {
	for _, c := range channels {
		names = append(names, c.name)
	}
	return names
}

// LoadAsk reads the settings for asking a person from their file and the environment.
func LoadAsk(f config.Folders) (config.Ask, error) {
	return config.LoadAsk(f.SettingsFile(), os.Getenv, ChannelNames())
}

// TryChannel returns an error if a channel of the settings does not work here now. known is false
// if only a session can find out; then the error tells where the channel works.
func TryChannel(ctx context.Context, f config.Folders, name string) (why error, known bool) {
	c := findChannel(name)
	if c.try == nil {
		return errors.New(c.when), false
	}
	return c.try(ctx, f), true
}

func queueDir(f config.Folders) string { return filepath.Join(f.State, "queue") }

// listAnswerers asks the queue which programs can answer. It does not create a queue.
func listAnswerers(dir string) ([]string, error) {
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

// tryTerminal opens the terminal in the same way as a question does.
func tryTerminal(ctx context.Context, f config.Folders) error {
	lock := terminalLock(f)
	if _, err := os.Stat(f.State); err != nil {
		dir, err := os.MkdirTemp("", "clawai-terminal-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		lock = filepath.Join(dir, filepath.Base(lock))
	}
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	tty, err := term.OpenTerminal(ctx, "/dev/tty", lock)
	if err != nil {
		return err
	}
	return tty.Close()
}
