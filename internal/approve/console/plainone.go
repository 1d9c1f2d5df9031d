package console

import (
	"context"
	"errors"
	"strings"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/approve/screen"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
)

// one shows a request and takes the answer to it.
func (p *plain) one(ctx context.Context, id string) (Result, error) {
	r, err := p.o.Queue.Get(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if r.Status == queue.Pending {
		reply, answered, err := p.answer(ctx, &r)
		switch {
		case err == nil && answered:
			return p.give(ctx, &r, reply)
		case err == nil || !errors.Is(err, errChanged):
			return Result{}, err
		}
		if r, err = p.o.Queue.Get(ctx, id); err != nil {
			return Result{}, err
		}
	}
	p.say("%s", TooLateText(r))
	return Result{Request: r}, nil
}

// answer asks about a request until it does not wait any more, which is
// errChanged.
func (p *plain) answer(ctx context.Context, r *queue.Request) (reply gate.Reply, answered bool, err error) {
	f := FactsOf(r, p.o.View)
	page := asked(r, f).Page(func(width int) ([]string, int) { return f.rows(r, width, p.o.View.Home, "", false) })
	page.Choices = page.Choices[:3] // rules are written on the full screen
	page.Others = []screen.Choice{{Word: "skip", Label: "Leave it without an answer"}}
	l := p.lines(func() bool {
		now, err := p.o.Queue.Get(ctx, r.ID)
		return err != nil || now.Status != queue.Pending
	})
	word, err := l.Ask(ctx, &page)
	reply = screen.Reply(word)
	if err != nil || word == "skip" || !reply.Allows() || !f.Careful() {
		return reply, word != "skip", err
	}
	sure := screen.Page{
		Decision: "DANGEROUS: " + strings.Join(f.Dangers, "; ") + ". Type yes to allow it all the same.",
		Choices:  []screen.Choice{{Word: "no", Label: "Nothing is answered"}, {Word: "yes", Label: "Allow it all the same", Lets: true}},
	}
	l.Again = false
	word, err = l.Ask(ctx, &sure)
	if err == nil && word != "yes" {
		p.say("Nothing was answered.")
	}
	return reply, word == "yes", err
}

// give hands the answer to the queue and tells what came of it.
func (p *plain) give(ctx context.Context, r *queue.Request, reply gate.Reply) (Result, error) {
	now, err := SendAnswer(ctx, p.o.Queue, r.ID, queue.Answer{Reply: reply, Channel: channel, By: p.o.By})
	if settled, ok := errors.AsType[*queue.ResolvedError](err); ok {
		p.say("%s", TooLateText(settled.Request))
		return Result{Request: settled.Request}, nil
	}
	if err != nil {
		p.say("The answer could not be given: %s", term.Text(err.Error()))
		return Result{}, nil
	}
	p.say("%s", ResultText(now))
	return Result{Request: now, Answered: true}, nil
}
