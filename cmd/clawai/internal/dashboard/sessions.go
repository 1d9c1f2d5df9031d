package dashboard

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// renderSessions returns the view of the agents' sessions, the last used first.
func (v *Views) renderSessions(ctx context.Context, f *filter) (*web.Element, error) {
	all, err := v.model.LoadSessions(ctx)
	if err != nil {
		return nil, err
	}
	body := newNode("div", "view", v.newPolicyFault(), newNode("div", "bar", newNode("h2", "", "Sessions"), newLabelChoice(f)))
	list := newNode("ol", "sessions")
	shown := 0
	for i := range all {
		s := &all[i]
		if want := f.get("label"); want != "" && !slices.Contains(s.Labels(), want) {
			continue
		}
		shown++
		list.Add(web.NewElement("li", v.newSession(s)))
	}
	switch {
	case len(all) == 0:
		return body.Add(newEmpty("No session of an agent is known yet. Sessions come here when an agent uses a server behind clawai, or has its hook. To start, run:", "clawai init")), nil
	case shown == 0:
		return body.Add(newNode("p", "empty", "No session has seen this.")), nil
	}
	return body.Add(list), nil
}

func newLabelChoice(f *filter) *web.Element {
	line := newNode("p", "choice")
	for _, word := range append([]string{""}, policy.SeenWords()...) {
		text := word
		if word == "" {
			text = "all"
		}
		link := newLink(f.with("/sessions", "label", word), text)
		if f.get("label") == word {
			link.Set("aria-current", "true")
		}
		line.Add(link)
	}
	return line
}

// newSession returns a short summary of a session.
func (v *Views) newSession(s *overview.Session) *web.Element {
	counts, folder, active := s.Activity()
	card := newNode("div", "session "+s.Look().Word(),
		newNode("div", "bar", newNode("h3", "", newLink(page.Address("/timeline", "session", s.Key), sessionTitle(s))), newTime(s.Used, v.now())))
	if labels := s.Labels(); len(labels) > 0 {
		card.Add(newNode("p", "", newNode("span", "quiet", "has seen "), newLabels(labels)))
	}
	card.Add(newFirstClosures(s)...)
	if active {
		card.Add(newNode("p", "", newCounts(counts, false)))
	}
	line := strings.Join(s.ServerNames(), ", ")
	if folder != "" {
		line += " · " + term.VisibleText(view.TildePath(folder, v.home))
	}
	return card.Add(newNode("p", "quiet", line))
}

// newFirstClosures returns the first two things that are forbidden to a session, and how many more
// there are.
func newFirstClosures(s *overview.Session) (lines []any) {
	const most = 2
	for _, c := range s.Closed[:min(len(s.Closed), most)] {
		lines = append(lines, newNode("p", "", newMark(closureLook(c), c.Text())))
	}
	if more := len(s.Closed) - most; more > 0 {
		lines = append(lines, newNode("p", "quiet", countText(more, "1 further thing is closed", "further things are closed")))
	}
	return lines
}

func closureLook(c overview.Closure) view.Look {
	if c.Refused {
		return view.Refused
	}
	return view.Asked
}

// mostSteps is the maximum number of calls in the view of one session.
const mostSteps = 300

// renderTimeline returns the view of one session with its latest calls, the oldest of them first.
// Once the session has seen a label, all later rows have the label's color.
func (v *Views) renderTimeline(ctx context.Context, f *filter) (*web.Element, error) {
	want := f.get("session")
	all, err := v.model.LoadSessions(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(s overview.Session) bool { return slices.Contains(s.Keys(), want) })
	if want == "" || at < 0 {
		return newNode("div", "view", newNode("h2", "", "Session"), newNode("p", "empty", "No such session is known any more. ", newLink("/sessions", "All sessions"))), nil
	}
	s := &all[at]
	keys := s.Keys()
	calls, more := v.latest.List(mostSteps, func(c *overview.Call) bool { return slices.Contains(keys, c.Session) })
	slices.Reverse(calls)
	t := newTimeline(s, calls)
	head := newNode("section", "panel", newNode("h2", "", sessionTitle(s)),
		newNode("p", "quiet", strings.Join(s.ServerNames(), ", ")), t.newPicture(), newClosures(s, v.home))
	steps := newNode("ol", "steps")
	if more > 0 {
		steps.Add(newNode("li", "quiet", numberText(more)+" earlier calls are not shown. ", newLink(page.Address("/calls", "session", want), "See them as a list")))
	}
	for _, step := range t.steps {
		steps.Add(v.newStep(t, step))
	}
	if len(t.steps) == 0 {
		steps = newNode("p", "empty", "None of the latest calls is of this session.")
	}
	return newNode("div", "view", newNode("p", "quiet", newLink("/sessions", "Sessions"), " / "+s.Name()), head, steps), nil
}

// newClosures returns the things that are forbidden to a session, each with its rule.
func newClosures(s *overview.Session, home string) *web.Element {
	if len(s.Closed) == 0 {
		return newNode("p", "quiet", "Nothing is forbidden to this session because of what it has seen.")
	}
	list := newNode("ul", "closures")
	for _, c := range s.Closed {
		list.Add(web.NewElement("li", newMark(closureLook(c), c.Text()), newNode("span", "quiet", " by "+view.TildePath(c.Rule, home))))
	}
	return list
}

// timeline is one session in the order of time. Its steps are the calls, and the first time that
// the session saw each label.
type timeline struct {
	lanes []string // labels of the session, in their order
	since map[string]time.Time
	steps []step
}

// step is a call, or the first time that the session saw a label.
type step struct {
	at    time.Time
	call  *overview.Call
	label string
	from  string // the source of the label, as a text from strangers
}

func newTimeline(s *overview.Session, calls []overview.Call) *timeline {
	t := &timeline{lanes: s.Labels(), since: map[string]time.Time{}}
	for _, word := range t.lanes {
		first := step{label: word}
		for _, seen := range s.Seen {
			if seen.Kind == word && (first.at.IsZero() || seen.At.Before(first.at)) {
				first.at, first.from = seen.At, overview.SourceText(seen.Source)
			}
		}
		t.since[word] = first.at
		t.steps = append(t.steps, first)
	}
	for i := range calls {
		t.steps = append(t.steps, step{at: calls[i].Time, call: &calls[i]})
	}
	slices.SortStableFunc(t.steps, func(a, b step) int { return a.at.Compare(b.at) })
	return t
}

// has reports whether the session had seen a label at a given time.
func (t *timeline) has(word string, at time.Time) bool { return !t.since[word].After(at) }

// isTrifecta reports whether at a given time the session had read both texts of strangers and
// private data. Such a session needs only a way out to send the private data to a stranger.
func (t *timeline) isTrifecta(at time.Time) bool {
	words := []string{}
	for _, word := range t.lanes {
		if t.has(word, at) {
			words = append(words, word)
		}
	}
	return slices.Contains(words, "untrusted") && (slices.Contains(words, "private") || slices.Contains(words, "secret"))
}

// newPicture returns a picture of the session. Each label has a lane that is filled from the time
// when the session first saw the label. Another lane has a bar for each call: low for an allowed
// call, high for a refused call.
func (t *timeline) newPicture() *web.Element {
	if len(t.steps) == 0 {
		return nil
	}
	picture := newNode("div", "lanes")
	width := 10 * len(t.steps)
	for _, word := range t.lanes {
		lane := newSVG("lane", width, 10, "")
		if from := slices.IndexFunc(t.steps, func(s step) bool { return s.label == word }); from >= 0 {
			lane.Add(newRect(word, float64(10*from), 0, float64(width-10*from), 10))
		}
		picture.Add(newNode("span", "name", newNode("span", "label "+word, word)), lane)
	}
	calls := newSVG("lane tall", width, 30, "The calls of the session in their order")
	for i, s := range t.steps {
		if s.call != nil {
			tall := map[view.Look]float64{view.Allowed: 10, view.Asked: 20, view.Refused: 30}[s.call.Look]
			calls.Add(newRect(s.call.Look.Word(), float64(10*i+2), 30-tall, 6, tall))
		}
	}
	return picture.Add(newNode("span", "name", "calls"), calls)
}

// newStep returns one row of the timeline. The lanes in the row show the labels that the session
// had seen at that time.
func (v *Views) newStep(t *timeline, s step) *web.Element {
	row := newNode("li", "step")
	gutter := newSVG("gutter", 10*max(len(t.lanes), 1), 10, "")
	for i, word := range t.lanes {
		if t.has(word, s.at) {
			gutter.Add(newRect(word, float64(10*i), 0, 7, 10))
		}
	}
	row.Add(gutter)
	if s.call != nil {
		return row.Add(v.newCall(s.call))
	}
	text := newNode("div", "turn", newTime(s.at, v.now()), " from here on ", newNode("span", "label "+s.label, s.label), newNode("span", "quiet", " read from "+s.from))
	if t.isTrifecta(s.at) {
		row.Set("class", "step trifecta")
		text.Add(newNode("p", "", newNode("strong", "", "It has read what strangers write and seen what is yours: "), "with a way out, a stranger could take it (the lethal trifecta)."))
	}
	return row.Add(text)
}
