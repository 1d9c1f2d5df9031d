package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/text/term"
)

// Lines lists the methods of *term.Tty that the line-based console needs.
type Lines interface {
	io.Writer
	ReadLine(ctx context.Context) (string, error) // reads one line; at the end of the input it returns term.ErrHungUp or io.EOF
	Flush() error                                 // discards unread input
}

// plain is a console that prints line after line and never moves the cursor. It works on simple
// terminals, with screen readers, and with input that is no terminal.
type plain struct {
	o       Options
	tty     Lines
	changes <-chan struct{}
	number  map[string]int // number of each request that was listed; a number is never used again
	ids     []string       // ids[i] is the id of request number i+1
}

// errChanged ends the reading of a line when the queue has changed.
var errChanged = errors.New("changed")

// RunPlain shows the console line by line. It returns the same results as Run. At the end of the
// input it returns as if the person had left.
func RunPlain(ctx context.Context, tty Lines, o Options) (Result, error) {
	o.setDefaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &plain{o: o, tty: tty, changes: o.Queue.Watch(ctx), number: map[string]int{}}
	var r Result
	var err error
	if o.Only != "" {
		r, err = p.askRequest(ctx, o.Only)
	} else {
		r, err = p.runList(ctx)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, term.ErrHungUp) {
		err = nil
	}
	return r, err
}

// runList lists pending requests and lets the person choose one, until the person leaves.
func (p *plain) runList(ctx context.Context) (Result, error) {
	for first := true; ; first = false {
		waiting, err := p.o.Queue.Pending(ctx)
		if err != nil {
			return Result{}, err
		}
		changed := func() bool {
			now, err := p.o.Queue.Pending(ctx)
			return err == nil && !slices.EqualFunc(now, waiting, func(a, b queue.Request) bool { return a.ID == b.ID })
		}
		if p.listWaiting(waiting, first); p.o.Once && len(waiting) == 0 {
			return Result{}, nil
		}
		line, err := p.makeLines(changed).Read(ctx, "Number of the request, Return to look again, or q to leave: ")
		if errors.Is(err, errChanged) {
			continue
		}
		if err != nil || line == "q" {
			return Result{}, err
		}
		n, _ := strconv.Atoi(line)
		if n < 1 || n > len(p.ids) {
			if line != "" {
				p.writeLine("%s is not a number of a request.", term.VisibleValue(line))
			}
			continue
		}
		r, err := p.askRequest(ctx, p.ids[n-1])
		if err != nil || p.o.Once && r.Answered {
			return r, err
		}
	}
}

// listWaiting prints all pending requests if all is true or a request is new. Otherwise it prints
// only their number.
func (p *plain) listWaiting(waiting []queue.Request, all bool) {
	for i := range waiting {
		r := &waiting[i]
		_, known := p.number[r.ID]
		if !known {
			p.ids = append(p.ids, r.ID)
			p.number[r.ID] = len(p.ids)
			all = true
		}
	}
	if len(waiting) == 0 {
		p.writeLine("Nothing waits for an answer.")
		return
	}
	if !all {
		p.writeLine("%d still waiting.", len(waiting))
		return
	}
	p.writeLine("%d waiting:", len(waiting))
	waiting = CarefulFirst(waiting, p.o.View)
	for i := range waiting {
		r := &waiting[i]
		f := FactsOf(r, p.o.briefView())
		danger := ""
		if f.NeedsCare() {
			danger = "DANGEROUS  "
		}
		p.writeLine("%3d  %s left  %s%s", p.number[r.ID], strings.TrimSpace(TimeLeft(r, p.o.Now())), danger, f.RequestLine(200))
	}
}

func (p *plain) writeLine(format string, a ...any) { _, _ = fmt.Fprintf(p.tty, format+"\n", a...) }
