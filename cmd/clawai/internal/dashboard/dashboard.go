// Package dashboard makes all views of the page except the questions: the overview with the calls
// by hour, calls, sessions, one session as a timeline, rules, servers, and answers. A view is a
// tree of texts. Package web makes the texts harmless, and the page turns the tree into elements.
// Package dashboard only reads. Package overview keeps the facts from the record in memory, so a
// long record does not make a view slower.
package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
)

// Start is the path of the first view of the dashboard.
const Start = "/overview"

// period is how far back calls are counted: today and the six days before today.
const period = 7 * 24 * time.Hour

// Views makes the views of the dashboard. It implements web.Views.
type Views struct {
	queue  *queue.Queue
	model  *overview.Overview
	latest overview.Latest
	home   string
	now    func() time.Time
}

// New returns views that follow the record until ctx ends. model reads the record.
func New(ctx context.Context, q *queue.Queue, model *overview.Overview) *Views {
	v := &Views{queue: q, model: model, home: model.Home, now: time.Now}
	// The counting starts when the latest calls have been read, because an earlier start would
	// delay the first view.
	go v.latest.Follow(ctx, model, func() { model.StartCounting(ctx) })
	return v
}

// Period returns how far back the model of New must count.
func Period() time.Duration { return period }

// Version returns a number that changes when the record changes.
func (v *Views) Version() uint64 { return v.model.Version() }

// tab is one view. filters are the names of the query parameters that its address may have.
type tab struct {
	title   string
	filters []string
	render  func(v *Views, ctx context.Context, f *filter) (*web.Element, error)
}

var tabs = map[string]tab{
	"overview": {"Overview", []string{"since", "server", "tool", "rule"}, (*Views).renderOverview},
	"calls":    {"Calls", []string{"decision", "server", "tool", "rule", "session", "hour", "text"}, (*Views).renderCalls},
	"sessions": {"Sessions", []string{"label"}, (*Views).renderSessions},
	"timeline": {"Session", []string{"session"}, (*Views).renderTimeline},
	"rules":    {"Rules", []string{"since", "server", "tool"}, (*Views).renderRules},
	"servers":  {"Servers", nil, (*Views).renderServers},
	"answers":  {"Answers", []string{"answer"}, (*Views).renderAnswers},
}

// Render implements web.Views.
func (v *Views) Render(ctx context.Context, name string, values url.Values) (web.View, error) {
	p, ok := tabs[name]
	if !ok {
		return web.View{}, fmt.Errorf("%w: there is no view %q", web.ErrFilter, name)
	}
	f, err := parseFilter(values, p.filters, v.now())
	if err != nil {
		return web.View{}, err
	}
	body, err := p.render(v, ctx, f)
	return web.View{Title: p.title, Body: body}, err
}

// newNode returns an element with a class. If class is "", the element has no class.
func newNode(tag, class string, children ...any) *web.Element {
	e := web.NewElement(tag, children...)
	if class != "" {
		e.Set("class", class)
	}
	return e
}

// newLink returns a link to a view.
func newLink(path string, children ...any) *web.Element {
	return web.NewElement("a", children...).Set("href", path)
}

// newMark returns the sign of a look and a word, in the color of the look.
func newMark(look view.Look, word string) *web.Element {
	return newNode("span", "mark "+look.Word(), newNode("span", "sign", look.Mark()).Set("aria-hidden", "true"), " ", newNode("span", "verdict", word))
}

// newFacts returns a list of pairs of a name and a value. It omits pairs with an empty value.
func newFacts(pairs ...[2]any) *web.Element {
	list := newNode("dl", "facts")
	for _, pair := range pairs {
		if text, ok := pair[1].(string); ok && text == "" {
			continue
		}
		list.Add(web.NewElement("dt", pair[0]), web.NewElement("dd", pair[1]))
	}
	return list
}

// newEmpty returns the text of a view that has nothing to show, and a command that helps the
// person.
func newEmpty(text, command string) *web.Element {
	return newNode("p", "empty", text+" ", newNode("code", "", command))
}
