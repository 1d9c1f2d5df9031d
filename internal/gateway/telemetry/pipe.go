package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/receiver"
)

// Limits of a pipe.
const (
	maxWaiting = 16 << 20 // bytes of the lines of waiting records; about 25,000 calls with their outcomes
	maxBatch   = 512      // items in one request
	maxBytes   = 4 << 20  // bytes of texts in one request
	gatherTime = time.Second
	firstWait  = time.Second // pause before a request is sent for the second time
	lastWait   = 30 * time.Second
	maxHold    = 10 * time.Minute // time after which a request is given up, because the receiver probably cannot take it
)

// item is a log record or a span that is to be sent, with the size of its texts in bytes.
type item[T any] struct {
	is   T
	size int
}

// pipe sends the data of one signal. It has a queue of parts, and a goroutine that sends them.
type pipe[T any] struct {
	signal string
	counts func(*event.Entry) bool // reports whether a record becomes an item
	render func(context.Context, Part) []item[T]
	export func(context.Context, []T) error
	stop   func(context.Context) error // stops the exporter
	count  func(outcome string, n int)
	report func(error)

	mu      sync.Mutex
	waiting []Part
	size    int
	over    bool // the pipe takes no more parts

	wake   chan struct{}
	ending chan struct{} // closed when the pipe must end; a failed request is then sent only once more
	ended  chan struct{}
	ctx    context.Context //nolint:containedctx // the context of the goroutine, which lives as long as the pipe
	cancel context.CancelFunc
}

func newPipe[T any](signal string, o *Options, counts func(*event.Entry) bool, render func(context.Context, Part) []item[T], export func(context.Context, []T) error, stop func(context.Context) error) *pipe[T] {
	p := &pipe[T]{
		signal: signal, counts: counts, render: render, export: export, stop: stop,
		count: func(outcome string, n int) { o.Count(signal, outcome, n) }, report: o.Report,
		wake: make(chan struct{}, 1), ending: make(chan struct{}), ended: make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background()) //nolint:gosec // the method end calls cancel
	go p.run()
	return p
}

// add puts a part into the queue. If the queue is full or the pipe has ended, add drops the part.
func (p *pipe[T]) add(part Part) {
	size := 0
	for _, e := range part.Records {
		size += len(e.Raw)
	}
	p.mu.Lock()
	fits := !p.over && p.size+size <= maxWaiting
	if fits {
		p.waiting = append(p.waiting, part)
		p.size += size
	}
	p.mu.Unlock()
	if !fits {
		p.drop([]Part{part})
		p.report(fmt.Errorf("telemetry: the receiver takes %s too slowly or does not answer, and %d MiB of records wait for it: what comes now is not sent (clawai_centre_telemetry_total counts it)", p.signal, maxWaiting>>20))
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// drop counts the items of parts that are not sent. It returns the number of these items.
func (p *pipe[T]) drop(parts []Part) (n int) {
	for _, part := range parts {
		for _, e := range part.Records {
			if p.counts(e) {
				n++
			}
		}
	}
	if n > 0 {
		p.count(Dropped, n)
	}
	return n
}

// take removes the oldest parts from the queue and returns them. It takes only as many as one request
// needs. The other parts stay in the queue meanwhile, so they still count towards maxWaiting.
func (p *pipe[T]) take() (parts []Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, records := 0, 0
	for n < len(p.waiting) && records < maxBatch {
		for _, e := range p.waiting[n].Records {
			p.size -= len(e.Raw)
		}
		records += len(p.waiting[n].Records)
		n++
	}
	parts = slices.Clone(p.waiting[:n])
	clear(p.waiting[:n]) // otherwise parts that were sent would stay in memory
	p.waiting = p.waiting[n:]
	return parts
}

// run sends the parts in the queue, until the pipe must end and the queue is empty.
func (p *pipe[T]) run() {
	defer close(p.ended)
	for {
		select {
		case <-p.wake:
		case <-p.ending:
		}
		isEnding := p.pause(gatherTime)
		for parts := p.take(); len(parts) > 0; parts = p.take() {
			if p.ctx.Err() != nil {
				p.drop(parts)
				continue
			}
			p.send(parts)
		}
		if isEnding {
			return
		}
	}
}

// pause waits for the time d, or until the pipe must end. It reports whether the pipe must end.
func (p *pipe[T]) pause(d time.Duration) (isEnding bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		select {
		case <-p.ending:
			return true
		default:
			return false
		}
	case <-p.ending:
		return true
	}
}

// send sends parts in requests of limited size.
func (p *pipe[T]) send(parts []Part) {
	var batch []T
	size := 0
	for _, part := range parts {
		for _, i := range p.render(p.ctx, part) {
			if len(batch) >= maxBatch || len(batch) > 0 && size+i.size > maxBytes {
				p.deliver(batch)
				batch, size = nil, 0
			}
			batch, size = append(batch, i.is), size+i.size
		}
	}
	if len(batch) > 0 {
		p.deliver(batch)
	}
}

// deliver sends one request. It sends the request again if no answer comes or the receiver is busy, but not
// for longer than maxHold.
func (p *pipe[T]) deliver(batch []T) {
	giveUp := time.Now().Add(maxHold)
	isLast := false // the pipe must end, so this is the last try
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := p.export(p.ctx, batch)
		if err == nil {
			p.count(Sent, len(batch))
			return
		}
		if p.ctx.Err() != nil {
			p.count(Dropped, len(batch))
			return
		}
		p.report(fmt.Errorf("telemetry: %s: %s", p.signal, receiver.Describe(err)))
		if n, ok := receiver.CountRejected(err); ok {
			n = min(n, len(batch))
			p.count(Sent, len(batch)-n)
			p.count(Refused, n)
			return
		}
		if !receiver.IsUnreached(err) || time.Now().After(giveUp) {
			p.count(Refused, len(batch))
			return
		}
		if isLast {
			p.count(Dropped, len(batch))
			return
		}
		pause := wait
		if answer, ok := errors.AsType[*receiver.AnswerError](err); ok {
			pause = max(pause, min(answer.After, maxHold))
		}
		isLast = p.pause(pause)
	}
}

// end sends the parts in the queue until ctx ends, and drops the rest.
func (p *pipe[T]) end(ctx context.Context) error {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	close(p.ending)
	select {
	case <-p.ended:
	case <-ctx.Done():
	}
	isLate := ctx.Err() != nil
	p.cancel()
	<-p.ended
	// The exporter must be stopped even if ctx has ended.
	err := p.stop(context.WithoutCancel(ctx))
	if isLate {
		err = errors.Join(err, fmt.Errorf("the receiver did not take the last %s in time", p.signal))
	}
	return err
}
