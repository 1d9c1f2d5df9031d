// Package deliver sends exported events to their receivers: to a file, to a receiver of syslog over
// TLS, or to a receiver of OTLP over HTTP.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/export"
)

// Sink delivers events to one receiver.
type Sink interface {
	// Deliver sends the events of some records to the receiver, in order. After a *Refused, the
	// receiver has taken all other events. After any other error it is not known which events the
	// receiver has taken.
	Deliver(ctx context.Context, entries []*event.Entry) error
	// Close ends the delivery. As far as the sink can find out, it waits until the receiver has
	// taken all events.
	Close() error
}

// Refused means that a receiver has taken some events and will never take the others.
type Refused struct {
	Many int
	Why  string // the receiver's reason
}

func (r *Refused) Error() string { return fmt.Sprintf("the receiver refused %d: %q", r.Many, r.Why) }

// Lines is a sink that writes each event as one line to To.
type Lines struct {
	To     io.Writer
	Append func(dst []byte, e *event.Entry, s export.Source) []byte
	Source export.Source
}

// Deliver implements Sink with one write.
func (l *Lines) Deliver(_ context.Context, entries []*event.Entry) error {
	var text []byte
	for _, e := range entries {
		text = append(l.Append(text, e, l.Source), '\n')
	}
	_, err := l.To.Write(text)
	return err
}

// Close implements Sink. It closes l.To if l.To is an io.Closer.
func (l *Lines) Close() error {
	if c, ok := l.To.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// attempts is the maximum number of attempts of retry.
const attempts = 5

// firstPause is the pause after the first failure. Each later pause is twice as long as the one
// before.
const firstPause = 500 * time.Millisecond

// lasting is an error that another attempt would give again.
type lasting struct{ error }

func (l lasting) Unwrap() error { return l.error }

// retry calls try until try succeeds, at most attempts times. try returns the waiting time that the
// receiver asks for; 0 if the receiver asks for none.
func retry(ctx context.Context, pause time.Duration, try func() (time.Duration, error)) error {
	for n := 1; ; n++ {
		asked, err := try()
		if err == nil {
			return nil
		}
		if final, ok := errors.AsType[lasting](err); ok {
			return final.error
		}
		if n == attempts {
			return fmt.Errorf("after %d attempts: %w", n, err)
		}
		timer := time.NewTimer(max(pause, asked))
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("stopped after %d attempts: %w", n, err)
		case <-timer.C:
		}
		pause *= 2
	}
}
