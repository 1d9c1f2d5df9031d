package console

import (
	"context"
	"errors"
	"strings"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/approve/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
)

// one shows a request and takes the answer to it.
func (p *plain) one(ctx context.Context, id string) (Result, error) {
	r, err := p.o.Queue.Get(ctx, id)
	if err != nil {
		return Result{}, err
	}
	f := FactsOf(&r, p.o.View)
	rest, need := f.arrange(nil, f.Lines(0), around(&r, p.o.View.Home), f.Entire(0))
	if f.Err != nil {
		rest = append(rest, "It cannot be shown: "+term.Text(f.Err.Error())+". It can only be denied.")
	}
	var sight view.Sight
	more := func() {
		was := len(rest)
		rest = p.some(rest)
		need -= was - len(rest)
		sight.See(0, need)
	}
	gone := func() bool {
		now, err := p.o.Queue.Get(ctx, id)
		return err != nil || now.Status != queue.Pending
	}
	p.say("")
	more()
	for {
		if r.Status != queue.Pending {
			p.say("%s", TooLate(r))
			return Result{Request: r}, nil
		}
		word, err := p.ask(ctx, choices(&r, f, len(rest) > 0), gone)
		switch {
		case errors.Is(err, errChanged):
			if r, err = p.o.Queue.Get(ctx, id); err != nil {
				return Result{}, err
			}
			continue
		case err != nil || word == "skip":
			return Result{}, err
		case word == "more":
			more()
			continue
		}
		reply, known := p.reply(word, &r, f)
		if !known {
			continue
		}
		if reply.Allows() && !sight.End() {
			p.say("Nothing was answered: read to the end first, then allow. Here are the next lines:")
			more()
			continue
		}
		sure, err := p.sure(ctx, reply, f, gone)
		if errors.Is(err, errChanged) {
			r, err = p.o.Queue.Get(ctx, id)
			if err == nil {
				continue
			}
		}
		if err != nil || !sure {
			return Result{}, err
		}
		return p.give(ctx, &r, reply)
	}
}

// some shows the next lines and gives those that are left.
func (p *plain) some(lines []string) []string {
	n := min(page, len(lines))
	for _, line := range lines[:n] {
		p.say("%s", line)
	}
	if n < len(lines) {
		p.say("%d more lines are not shown yet; type more for them.", len(lines)-n)
	}
	return lines[n:]
}

// choices is the prompt of a request.
func choices(r *queue.Request, f *Facts, more bool) string {
	words := "deny"
	if f.Err == nil {
		words += ", allow"
		if r.Lasting {
			words += ", session"
		}
	}
	words += ", skip"
	if more {
		words += ", more"
	}
	return "clawai asks: let this through? Type one of " + words + " (Return alone denies): "
}

// reply is what a typed word says.
func (p *plain) reply(word string, r *queue.Request, f *Facts) (reply gate.Reply, known bool) {
	switch {
	case word == "deny" || word == "":
		return gate.DenyOnce, true
	case f.Err != nil:
		p.say("It cannot be shown, so it can only be denied.")
	case word == "allow":
		return gate.AllowOnce, true
	case word == "session" && r.Lasting:
		return gate.AllowSession, true
	case word == "session":
		p.say("An answer for the session cannot hold for this call.")
	default:
		p.say("%s is no answer; nothing was answered.", term.Value(word))
	}
	return gate.DenyOnce, false
}

// sure asks again when a call that needs care is allowed.
func (p *plain) sure(ctx context.Context, reply gate.Reply, f *Facts, gone func() bool) (bool, error) {
	if !reply.Allows() || !f.Careful() {
		return true, nil
	}
	line, err := p.ask(ctx, "DANGEROUS: "+strings.Join(f.Dangers, "; ")+". Type yes to allow it all the same: ", gone)
	if err == nil && line != "yes" {
		p.say("Nothing was answered.")
	}
	return line == "yes", err
}

// give hands the answer to the queue and tells what came of it.
func (p *plain) give(ctx context.Context, r *queue.Request, reply gate.Reply) (Result, error) {
	now, err := Give(ctx, p.o.Queue, r.ID, queue.Answer{Reply: reply, Rung: rung, By: p.o.By})
	if settled, ok := errors.AsType[*queue.Settled](err); ok {
		p.say("%s", TooLate(settled.Request))
		return Result{Request: settled.Request}, nil
	}
	if err != nil {
		p.say("The answer could not be given: %s", term.Text(err.Error()))
		return Result{}, nil
	}
	p.say("%s", Told(now))
	return Result{Request: now, Answered: true}, nil
}
