package console

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/clawai/clawai/internal/ask/dialog"
)

// makeLines returns Lines that read from the terminal. If the queue changes while a line is read,
// and stale() is then true, reading fails with errChanged.
func (p *plain) makeLines(stale func() bool) *dialog.Lines {
	in := func(ctx context.Context) (string, error) {
		for {
			line, err := p.readLine(ctx)
			if errors.Is(err, errChanged) && !stale() {
				continue
			}
			if err != nil {
				_, _ = io.WriteString(p.tty, "\n")
			}
			return strings.TrimSpace(line), err
		}
	}
	return &dialog.Lines{Out: p.tty, In: in, Flush: p.tty.Flush, Grace: p.o.Grace, Again: true}
}

// readLine reads one line. A change of the queue ends it early.
func (p *plain) readLine(ctx context.Context) (string, error) {
	reading, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-reading.Done():
		case _, open := <-p.changes:
			if !open { // the channel is closed: the queue sends no more changes
				p.changes = nil
				return
			}
			stop(errChanged)
		}
	}()
	line, err := p.tty.ReadLine(reading)
	cause := context.Cause(reading)
	stop(nil)
	<-watched
	if err != nil && cause != nil {
		err = cause
	}
	return line, err
}
