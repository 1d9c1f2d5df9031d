// Package canvas is a terminal as bubbletea sees it: no file, and told nothing
// that outlives the picture.
package canvas

import (
	"context"
	"io"
	"regexp"
	"sync"
)

// chatter is what bubbletea writes beside the picture: questions to the
// terminal, whose answers would reach the program behind us when we end first,
// and keyboard modes that a killed process would leave behind.
var chatter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[(\?[0-9;]*\$p|\?u|[=>][0-9;]*[um])`)
})

// Screen is a terminal as bubbletea's output. It is no file to bubbletea, which
// would look up its size from a goroutine that nobody waits for.
type Screen struct{ W io.Writer }

func (s Screen) Write(p []byte) (int, error) {
	if _, err := s.W.Write(chatter().ReplaceAll(p, nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Keyboard is a terminal as bubbletea's input. It is not given as a file, for
// bubbletea's way of cancelling a read leaves a goroutine behind. When the
// terminal hangs up, bubbletea would wait on; End is called instead.
type Keyboard struct {
	From func(p []byte) (int, error) // ends with whatever is shown
	End  context.CancelCauseFunc

	reading sync.Mutex
}

func (k *Keyboard) Read(p []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	n, err := k.From(p)
	if err == nil {
		return n, nil
	}
	k.End(err)
	return 0, io.EOF
}

// Stop returns when nothing reads the terminal any more.
func (k *Keyboard) Stop() {
	k.End(nil)
	k.reading.Lock()
	defer k.reading.Unlock()
}
