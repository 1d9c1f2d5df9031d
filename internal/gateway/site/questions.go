package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/shown"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

// usePath ends the path of the request with which a laptop uses an approval.
const usePath = "/use"

// explainQuestion returns the refusal that a person or a laptop gets for an error of a question.
func explainQuestion(err error) error {
	for known, status := range map[error]int{
		centre.ErrBadQuestion: http.StatusBadRequest, centre.ErrManyWait: http.StatusTooManyRequests, centre.ErrMuchKept: http.StatusInsufficientStorage, centre.ErrNotYours: http.StatusForbidden,
		centre.ErrSelf: http.StatusForbidden, centre.ErrOnPage: http.StatusForbidden, centre.ErrRoleGone: http.StatusConflict, centre.ErrForAnother: http.StatusConflict,
		centre.ErrQuestionOver: http.StatusConflict, centre.ErrAnswered: http.StatusConflict,
	} {
		if errors.Is(err, known) {
			return refuse(status, strings.ToUpper(err.Error()[:1])+err.Error()[1:]+".")
		}
	}
	if errors.Is(err, store.ErrNone) {
		return notFound
	}
	return err
}

// stateOf returns the state of a question in the form that its laptop gets.
func (s *Site) stateOf(q *store.Question) enrolment.QuestionState {
	now := s.centre.Now()
	state := enrolment.QuestionState{ID: q.ID, State: q.StateAt(now), Until: int(max(q.Expires.Sub(now), 0) / time.Second)}
	for i := range q.Votes {
		v := &q.Votes[i]
		state.Votes = append(state.Votes, enrolment.Voice{Name: v.By.Name, Key: v.By.Key(), Allow: v.Allow, Words: v.Words})
	}
	return state
}

func (s *Site) takeQuestion(w http.ResponseWriter, r *http.Request, l store.Laptop) (*reply, error) {
	var asked enrolment.AskQuestion
	if err := readLongMessage(w, r, &asked, enrolment.MaxQuestion); err != nil {
		return nil, err
	}
	is, err := shown.NewQuestion(&asked)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "The question cannot be shown: "+err.Error()+".")
	}
	q, err := s.centre.Ask(r.Context(), l, asked, is.Headline(0))
	if err != nil {
		return nil, explainQuestion(err)
	}
	return &reply{http.StatusOK, s.stateOf(&q)}, nil
}

// serveQuestion answers a laptop's request about one of its questions.
func (s *Site) serveQuestion(r *http.Request, l store.Laptop) (*reply, error) {
	id, use := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, enrolment.QuestionsPath+"/"), usePath)
	if !enrolment.IsName(id) {
		return nil, notFound
	}
	var q store.Question
	var err error
	switch {
	case use:
		q, err = s.centre.UseApproval(r.Context(), l, id)
	case r.Method == http.MethodDelete:
		q, err = s.centre.CancelQuestion(r.Context(), l, id)
	default:
		seconds := 0
		if text := r.URL.Query().Get("wait"); text != "" {
			if seconds, err = strconv.Atoi(text); err != nil || seconds < 0 || seconds > enrolment.MaxWait {
				return nil, refuse(http.StatusBadRequest, fmt.Sprintf("wait must be a number of seconds from 0 to %d.", enrolment.MaxWait))
			}
		}
		if seconds > 0 {
			key := "wait " + l.ID
			if !s.beginWork(key, maxWaits) {
				return nil, refuse(http.StatusTooManyRequests, fmt.Sprintf("%d requests of this laptop wait for an answer.", maxWaits))
			}
			defer s.endWork(key)
		}
		q, err = s.centre.AwaitQuestion(r.Context(), l, id, time.Duration(seconds)*time.Second)
	}
	if err != nil {
		return nil, explainQuestion(err)
	}
	return &reply{http.StatusOK, s.stateOf(&q)}, nil
}

// questionRow is a question on a page.
type questionRow struct {
	ID, Title, Laptop, LaptopName, State, Look, Sign string
	Asked, Left                                      string
	Approvers, Given, Owner                          string
	Votes                                            []voteRow
	Waits, Held                                      bool
	Shown                                            bool // the person may see the row: they may answer the question, or read records

	Client, Digest, Hidden string
	Lines, Entire          []shownLine
	Allow, Deny            bool
	WhyNot                 string
}

type voteRow struct{ Who, Word, Look, Words, At, Way string }

// questionWords are the texts for people and the looks of the states.
var questionWords = map[string]struct {
	word string
	look view.Look
}{
	enrolment.QuestionPending:   {"waits", view.Asked},
	enrolment.QuestionApproved:  {"allowed, not used yet", view.Allowed},
	enrolment.QuestionUsed:      {"allowed", view.Allowed},
	enrolment.QuestionDenied:    {"denied", view.Refused},
	enrolment.QuestionExpired:   {"nobody answered in time", view.Refused},
	enrolment.QuestionCancelled: {"the call was withdrawn", view.Refused},
}

// newQuestionRow returns a question for a person. The content of the call is left out if the person may not
// read it. Lines and Entire are set only if entire is true, because computing them for a long call takes a
// second.
func (v *visit) newQuestionRow(q *store.Question, names map[string]string, entire bool) (questionRow, error) {
	now := v.s.centre.Now()
	rights, err := v.s.centre.RightsOf(v.r.Context(), v.who, centre.ByPage, q)
	if err != nil {
		return questionRow{}, err
	}
	state := q.StateAt(now)
	word := questionWords[state]
	if state == enrolment.QuestionExpired && !q.Decided.IsZero() {
		word.word = "allowed, and not used in time"
	}
	row := questionRow{
		ID: q.ID, Laptop: q.Laptop, LaptopName: names[q.Laptop], State: word.word, Look: word.look.Word(), Sign: word.look.Mark(),
		Asked: agoText(q.Created, now), Left: centre.SpanText(q.Expires.Sub(now)), Waits: state == enrolment.QuestionPending, Held: now.Before(q.Held),
		Approvers: strings.Join(shown.Approvers(&q.Asked), ", "), Given: fmt.Sprintf("%d of %d", q.Given(), q.Asked.Approvals),
		Title: "a call that only its approvers may read", Owner: "not known",
		Allow: rights.Allow == nil && state == enrolment.QuestionPending, Deny: rights.Deny && q.IsOpen(now), Shown: rights.Read || v.who.Has(readers...),
	}
	if q.Asked.NotSelf {
		row.Approvers += "; not the owner of the laptop"
	}
	if rights.Owner != nil {
		row.Owner = rights.Owner.String()
	}
	if rights.Allow != nil {
		row.WhyNot = rights.Allow.Error()
	}
	for i := range q.Votes {
		vote := &q.Votes[i]
		shown := voteRow{Who: vote.By.Name + " (" + vote.By.Key() + ")", Word: "denied", Look: view.Refused.Word(), At: vote.At.Format(time.DateTime) + " UTC", Way: vote.Way}
		if vote.Allow {
			shown.Word, shown.Look = "allowed", view.Allowed.Word()
		}
		if rights.Read {
			shown.Words = vote.Words // the words may quote the call
		}
		row.Votes = append(row.Votes, shown)
	}
	if !rights.Read {
		return row, nil
	}
	// The digest is only for people who may read the call: it would confirm a guess of its arguments.
	row.Client, row.Digest = term.VisibleText(q.Asked.Client), q.Asked.Digest
	row.Title = cmp.Or(q.Title, "a call")
	if q.Asked.Hidden > 0 {
		row.Hidden = fmt.Sprintf("%d secrets are not shown: each [redacted:KIND:LENGTH] stands for one", q.Asked.Hidden)
	}
	if !entire {
		return row, nil
	}
	is, err := shown.NewQuestion(&q.Asked)
	if err != nil {
		return row, err
	}
	for _, line := range is.Lines(0)[1:] {
		row.Lines = append(row.Lines, shownLine(line))
	}
	for _, line := range shown.EntireLines(&is) {
		row.Entire = append(row.Entire, shownLine(line))
	}
	return row, nil
}

// Limits of the list of questions.
const (
	mostQuestions = 100
	questionDays  = 7
	listAgain     = 5 // seconds after which the list is loaded again
)

// listQuestions passes questions to the function in the parameter show: first the pending ones, and then the
// recent ones that have ended. This function returns true if it shows the question. Only shown questions count
// towards mostQuestions: many questions for other people must not push a pending one out of the list.
func (s *Site) listQuestions(ctx context.Context, show func(q *store.Question, waits bool) (bool, error)) error {
	shown := 0
	for q, err := range s.centre.EachPending(ctx) {
		if err != nil {
			return err
		}
		is, err := show(&q, true)
		if err != nil {
			return err
		}
		if is {
			shown++
		}
		if shown == mostQuestions {
			break
		}
	}
	now := s.centre.Now()
	over, err := s.centre.Store.ListQuestions(ctx, now.Add(-questionDays*24*time.Hour), mostQuestions)
	for i := range over {
		if err == nil && over[i].StateAt(now) != enrolment.QuestionPending {
			_, err = show(&over[i], false)
		}
	}
	return err
}

func (v *visit) showQuestions(string) error {
	ctx := v.r.Context()
	names, _, err := v.nameLaptops()
	if err != nil {
		return err
	}
	var waiting, over []questionRow
	err = v.s.listQuestions(ctx, func(q *store.Question, waits bool) (bool, error) {
		row, err := v.newQuestionRow(q, names, false)
		switch {
		case err != nil || !row.Shown:
		case waits:
			waiting = append(waiting, row)
		default:
			over = append(over, row)
		}
		return row.Shown, err
	})
	if err != nil {
		return err
	}
	v.again = listAgain
	return v.show("questions", "Questions", questionsPage, struct{ Waiting, Over []questionRow }{waiting, over})
}

func (v *visit) showQuestion(id string) error {
	q, err := v.s.centre.Store.FindQuestion(v.r.Context(), id)
	if err != nil {
		return explainQuestion(err)
	}
	names, _, err := v.nameLaptops()
	if err != nil {
		return err
	}
	row, err := v.newQuestionRow(&q, names, true)
	if err != nil {
		return err
	}
	if !row.Shown {
		return notFound
	}
	return v.show("question", "Question", questionsPage, row)
}

// answerQuestion takes the answer of a person. beginVisit has checked that the form was made for this session.
func (v *visit) answerQuestion(string) error {
	id, answer := v.form.Get("question"), v.form.Get("answer")
	if answer != "allow" && answer != "deny" {
		return refuse(http.StatusBadRequest, "The answer is neither allow nor deny.")
	}
	if _, err := v.s.centre.Vote(v.r.Context(), centre.Ballot{By: v.who, Way: centre.ByPage, Question: id, Digest: v.form.Get("digest"), Allow: answer == "allow", Words: v.form.Get("words")}); err != nil {
		return explainQuestion(err)
	}
	return v.goTo(questionsPage + "/" + url.PathEscape(id))
}
