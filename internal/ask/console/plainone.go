package console

import (
	"context"
	"errors"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// askRequest shows a request, reads the person's answer and sends it.
func (p *plain) askRequest(ctx context.Context, id string) (Result, error) {
	r, err := p.o.Queue.Get(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if r.Status == queue.Pending {
		a, answered, err := p.askAnswer(ctx, &r)
		switch {
		case err == nil && answered:
			return p.sendAnswer(ctx, &r, a)
		case err == nil || !errors.Is(err, errChanged):
			return Result{}, err
		}
		if r, err = p.o.Queue.Get(ctx, id); err != nil {
			return Result{}, err
		}
	}
	p.writeLine("%s", TooLateText(r))
	return Result{Request: r}, nil
}

// askAnswer asks for the answer to a request. It returns errChanged if the request is resolved in
// the meantime.
func (p *plain) askAnswer(ctx context.Context, r *queue.Request) (a queue.Answer, answered bool, err error) {
	f := FactsOf(r, p.o.View)
	page := requestAnswers(r, f).CallPage(func(width int) ([]string, int) { return f.detailRows(r, width, "", false) })
	page.Choices = page.Choices[:3] // leave out the choices that write rules: only the full screen has them
	page.Others = []dialog.Choice{{Word: "skip", Label: "Leave it without an answer"}}
	l := p.makeLines(func() bool {
		now, err := p.o.Queue.Get(ctx, r.ID)
		return err != nil || now.Status != queue.Pending
	})
	word, err := l.Ask(ctx, &page)
	a.Reply = dialog.ReplyForWord(word)
	if far := view.ForSession(r.Offers); err == nil && a.Reply == gate.AllowSession && len(far) > 1 {
		reaches := reachesPage(far)
		a.Scope, err = l.Ask(ctx, &reaches)
		if a.Scope == dialog.Deny {
			a = queue.Answer{}
		}
	}
	if err != nil || word == "skip" || !a.Reply.Allows() || !f.NeedsCare() {
		return a, word != "skip", err
	}
	what := dialog.SureOnce
	if a.Reply == gate.AllowSession {
		what = dialog.SureSession
	}
	sure := dialog.DangerPage(f.Headline(0), f.Dangers, what)
	l.Again = false
	word, err = l.Ask(ctx, &sure)
	if err == nil && word != dialog.Yes {
		p.writeLine("Nothing was answered.")
	}
	return a, word == dialog.Yes, err
}

// reachesPage returns the page that asks for the scope of a session answer.
func reachesPage(offers []view.Offer) dialog.Page {
	all := make([]dialog.Reach, len(offers))
	for i, o := range offers {
		all[i] = dialog.Reach{Word: term.VisibleLine(o.Scope), Label: term.VisibleText(o.Session), Title: term.VisibleText(o.Title)}
	}
	return dialog.ReachPage(all)
}

// sendAnswer sends the answer to the queue and reports the result.
func (p *plain) sendAnswer(ctx context.Context, r *queue.Request, a queue.Answer) (Result, error) {
	a.Channel, a.By = channel, p.o.By
	now, err := SendAnswer(ctx, p.o.Queue, r.ID, a)
	if settled, ok := errors.AsType[*queue.ResolvedError](err); ok {
		p.writeLine("%s", TooLateText(settled.Request))
		return Result{Request: settled.Request}, nil
	}
	if err != nil {
		p.writeLine("The answer could not be given: %s", term.VisibleText(err.Error()))
		return Result{}, nil
	}
	p.writeLine("%s", ResultText(now))
	return Result{Request: now, Answered: true}, nil
}
