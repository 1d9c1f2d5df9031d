package console

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// grantList is the session answers in force, with a cursor bound to one of them.
type grantList struct {
	all []queue.Grant
	at  string
}

func (l *grantList) index() int {
	return slices.IndexFunc(l.all, func(g queue.Grant) bool { return g.ID == l.at })
}

func (l *grantList) set(next []queue.Grant) {
	l.all = next
	if l.index() < 0 {
		l.at = ""
	}
	if l.at == "" && len(next) > 0 {
		l.at = next[0].ID
	}
}

func (l *grantList) move(by int) {
	if n := len(l.all); n > 0 {
		l.at = l.all[max(0, min(l.index()+by, n-1))].ID
	}
}

func (l *grantList) current() *queue.Grant {
	if i := l.index(); i >= 0 {
		return &l.all[i]
	}
	return nil
}

// pressGrant takes a session answer back.
func (m *model) pressGrant(key string) {
	g := m.grants.current()
	if g == nil || key != "r" || m.grace.Early() {
		m.wait()
		return
	}
	id, what := g.ID, GrantTitle(g)
	q := &question{yes: func() {
		q := m.o.Queue
		m.do(func(ctx context.Context) tea.Msg {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
			defer cancel()
			return revokedMsg{what, q.Revoke(ctx, id)}
		})
		m.wait()
	}}
	q.Page = dialog.Confirm("Take this answer back? The next such call is asked about again.", "take it back", false)
	m.openQuestion(q)
}

func (m *model) revoked(msg revokedMsg) {
	if msg.err != nil {
		m.addNews("%s: it could not be taken back: %s", msg.what, term.Text(msg.err.Error()))
	} else {
		m.addNews("%s: taken back", msg.what)
	}
	m.load()
}

// grantQuestion is the call that a session answer was given to.
func grantQuestion(g *queue.Grant, home string) (view.Question, error) {
	return view.Of(g.Calls, view.Options{Server: g.Server, Rule: g.Rule, Project: g.Project, Home: home})
}

// GrantTitle names a session answer in few harmless words.
func GrantTitle(g *queue.Grant) string {
	if g.Reach != "" {
		return term.Text(g.Reach) + " on " + named(g.Server)
	}
	q, err := grantQuestion(g, "")
	if err != nil {
		return "a call of " + named(g.Server)
	}
	return q.Title
}

// GrantLine is a session answer on one line of at most n characters.
func GrantLine(g *queue.Grant, n int) string {
	q, err := grantQuestion(g, "")
	if g.Reach != "" || err != nil {
		return GrantTitle(g)
	}
	return q.Short(n)
}

// grantLines is everything about one.
func grantLines(g *queue.Grant, width int, home string) []string {
	q, err := grantQuestion(g, home)
	var rows []string
	if err != nil {
		rows = append(rows, "It cannot be shown: "+term.Text(err.Error()))
	}
	if g.Reach != "" {
		rows = append(rows, view.Wrap([]string{view.Label("reaches", term.Text(g.Reach)), "", "It was given for:"}, width)...)
	}
	rows = append(rows, q.Lines(width)...)
	rows = append(rows, view.Wrap([]string{
		view.Label("allowed", fmt.Sprintf("since %s, used %d times", g.Since.Local().Format(time.TimeOnly), g.Uses)),
		view.Label("session", term.Visible(g.Session)),
		view.Label("answer", term.Visible(g.ID)),
	}, width)...)
	return append(rows, q.Entire(width)...)
}
