package console

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// ask reads one line that was typed after the person could read what is asked.
// It ends with errChanged when a change of the queue has made the prompt stale.
func (p *plain) ask(ctx context.Context, prompt string, stale func() bool) (string, error) {
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-time.After(p.o.Grace):
	}
	if err := p.tty.Flush(); err != nil {
		return "", err
	}
	if _, err := io.WriteString(p.tty, prompt); err != nil {
		return "", err
	}
	for {
		line, err := p.read(ctx)
		if errors.Is(err, errChanged) && !stale() {
			continue
		}
		if err != nil {
			_, _ = io.WriteString(p.tty, "\n")
		}
		return strings.TrimSpace(line), err
	}
}

// read reads a line until the queue changes.
func (p *plain) read(ctx context.Context) (string, error) {
	reading, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-reading.Done():
		case _, open := <-p.changes:
			if !open { // and never changes again
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
