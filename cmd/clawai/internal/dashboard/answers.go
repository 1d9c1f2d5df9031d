package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
)

// mostAnswers is the maximum number of questions that the view shows.
const mostAnswers = 200

// answerWords are the results of questions that the filter accepts.
var answerWords = []string{"approved", "denied", "expired"}

// renderAnswers returns the view of the questions that no longer wait, with the time that each
// question waited.
func (v *Views) renderAnswers(ctx context.Context, f *filter) (*web.Element, error) {
	all, err := v.queue.History(ctx, mostAnswers)
	if err != nil {
		return nil, err
	}
	body := newNode("div", "view", newNode("div", "bar", newNode("h2", "", "Answers"), newAnswerChoice(f)))
	if len(all) == 0 {
		return body.Add(newNode("p", "empty", "No question has been asked yet. A rule asks with action = \"prompt\".")), nil
	}
	var waits []time.Duration
	expired := 0
	longest := time.Second
	for i := range all {
		longest = max(longest, waitOf(&all[i]))
		if all[i].Status == queue.Expired {
			expired++
		} else {
			waits = append(waits, waitOf(&all[i]))
		}
	}
	line := newNode("p", "total", newNode("strong", "", countText(len(all), "1 question", "questions")))
	if len(waits) > 0 {
		slices.Sort(waits)
		line.Add(newNode("span", "", newNode("strong", "", record.Duration(waits[len(waits)/2])), " to an answer (median)"))
	}
	if expired > 0 {
		line.Add(newMark(view.Refused, fmt.Sprintf("%d ended without one", expired)))
	}
	list := newNode("ol", "answers")
	for i := range all {
		if want := f.get("answer"); want == "" || want == string(all[i].Status) {
			list.Add(v.newAnswer(&all[i], longest))
		}
	}
	return body.Add(newNode("section", "panel", line, list)), nil
}

func newAnswerChoice(f *filter) *web.Element {
	line := newNode("p", "choice")
	for _, word := range append([]string{""}, answerWords...) {
		link := newLink(f.with("/answers", "answer", word), cmp.Or(word, "all"))
		if f.get("answer") == word {
			link.Set("aria-current", "true")
		}
		line.Add(link)
	}
	return line
}

func waitOf(r *queue.Request) time.Duration { return max(r.Decided.Sub(r.Created), 0) }

// newAnswer returns the row of one question: its subject, how long it waited, and its result.
// longest is the longest wait in the list.
func (v *Views) newAnswer(r *queue.Request, longest time.Duration) *web.Element {
	look := view.Refused
	if r.Status == queue.Approved {
		look = view.Allowed
	}
	who := r.Answer.Channel
	if r.Answer.By != "" {
		who += ", by " + r.Answer.By
	}
	bar := newSVG("portion", 1000, 10, "").Add(newRect(look.Word(), 0, 0, max(float64(waitOf(r))/float64(longest)*1000, 4), 10))
	return newNode("li", "", newTime(r.Created, v.now()), newMark(look, string(r.Status)), newNode("span", "name", v.requestTitle(r)),
		newNode("span", "number", record.Duration(waitOf(r))), bar, newNode("span", "quiet", cmp.Or(who, r.Outcome)))
}
