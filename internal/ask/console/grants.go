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

// grantList holds the active session answers, with a cursor. The cursor stays on its answer when
// the list changes.
type grantList struct {
	all []queue.Grant
	at  string
}

func (l *grantList) cursorIndex() int {
	return slices.IndexFunc(l.all, func(g queue.Grant) bool { return g.ID == l.at })
}

func (l *grantList) setGrants(next []queue.Grant) {
	l.all = next
	if l.cursorIndex() < 0 {
		l.at = ""
	}
	if l.at == "" && len(next) > 0 {
		l.at = next[0].ID
	}
}

func (l *grantList) moveCursor(by int) {
	if n := len(l.all); n > 0 {
		l.at = l.all[max(0, min(l.cursorIndex()+by, n-1))].ID
	}
}

func (l *grantList) cursorGrant() *queue.Grant {
	if i := l.cursorIndex(); i >= 0 {
		return &l.all[i]
	}
	return nil
}

// pressGrant handles a key on the page of session answers. The key r revokes the answer under the
// cursor.
func (m *model) pressGrant(key string) {
	g := m.grants.cursorGrant()
	if g == nil || key != "r" || m.grace.IsEarly() {
		m.startGrace()
		return
	}
	id, what := g.ID, GrantTitle(g)
	q := &question{yes: func() {
		q := m.o.Queue
		m.runJob(func(ctx context.Context) tea.Msg {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
			defer cancel()
			return revokedMsg{what, q.Revoke(ctx, id)}
		})
		m.startGrace()
	}}
	q.Page = dialog.ConfirmPage("Take this answer back? The next such call is asked about again.", "take it back", false)
	m.openQuestion(q)
}

func (m *model) reportRevocation(msg revokedMsg) {
	if msg.err != nil {
		m.addNews("%s: it could not be taken back: %s", msg.what, term.VisibleText(msg.err.Error()))
	} else {
		m.addNews("%s: taken back", msg.what)
	}
	m.loadQueue()
}

// grantQuestion returns the call for which a person gave a session answer.
func grantQuestion(g *queue.Grant, home string) (view.Question, error) {
	return view.NewQuestion(g.Calls, view.Options{Server: g.Server, Rule: g.Rule, Project: g.Project, Home: home})
}

// GrantTitle returns a short harmless name of a session answer.
func GrantTitle(g *queue.Grant) string {
	if g.Reach != "" {
		return term.VisibleText(g.Reach) + " on " + serverName(g.Server)
	}
	q, err := grantQuestion(g, "")
	if err != nil {
		return "a call of " + serverName(g.Server)
	}
	return q.Title
}

// GrantLine returns one line about a session answer, of at most n characters.
func GrantLine(g *queue.Grant, n int) string {
	q, err := grantQuestion(g, "")
	if g.Reach != "" || err != nil {
		return GrantTitle(g)
	}
	return q.ShortLine(n)
}

// grantLines returns all facts about a session answer.
func grantLines(g *queue.Grant, width int, home string) []string {
	q, err := grantQuestion(g, home)
	var rows []string
	if err != nil {
		rows = append(rows, "It cannot be shown: "+term.VisibleText(err.Error()))
	}
	if g.Reach != "" {
		rows = append(rows, view.Wrap([]string{view.LabelLine("reaches", term.VisibleText(g.Reach)), "", "It was given for:"}, width)...)
	}
	rows = append(rows, q.Lines(width)...)
	rows = append(rows, view.Wrap([]string{
		view.LabelLine("allowed", fmt.Sprintf("since %s, used %d times", g.Since.Local().Format(time.TimeOnly), g.Uses)),
		view.LabelLine("session", term.VisibleLine(g.Session)),
		view.LabelLine("answer", term.VisibleLine(g.ID)),
	}, width)...)
	return append(rows, q.EntireLines(width)...)
}
