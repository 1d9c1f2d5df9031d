package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// personMethods returns the methods of a path for a person's command line; "" if it is no such path.
func personMethods(path string) string {
	switch {
	case path == enrolment.SignInPath:
		return "POST, DELETE"
	case path == enrolment.SignInTokenPath:
		return "POST"
	case path == enrolment.AnswersPath:
		return "GET"
	case strings.HasPrefix(path, enrolment.AnswersPath+"/"):
		return "GET, POST"
	}
	return ""
}

// answerPerson answers a person's command line. A laptop's token is not valid here.
func (s *Site) answerPerson(w http.ResponseWriter, r *http.Request) (*reply, error) {
	switch {
	case r.URL.Path == enrolment.SignInPath && r.Method == http.MethodPost:
		return s.beginCommand(w, r)
	case r.URL.Path == enrolment.SignInTokenPath:
		return s.answerSignIn(w, r)
	}
	token := bearerOf(r)
	p, err := s.centre.CheckPerson(r.Context(), token)
	if errors.Is(err, centre.ErrNoAccess) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="clawai"`)
		return nil, refuse(http.StatusUnauthorized, "You are not signed in here, or your sign-in has ended.")
	}
	if err != nil {
		return nil, err
	}
	id, one := strings.CutPrefix(r.URL.Path, enrolment.AnswersPath+"/")
	switch {
	case r.URL.Path == enrolment.SignInPath:
		err = s.centre.EndPerson(r.Context(), token)
		return &reply{http.StatusOK, struct{}{}}, err
	case !one:
		return s.listAsked(r, p)
	case !enrolment.IsName(id):
		return nil, notFound
	case r.Method == http.MethodPost:
		return s.takeAnswer(w, r, p, id)
	}
	q, err := s.centre.Store.FindQuestion(r.Context(), id)
	if err != nil {
		return nil, explainQuestion(err)
	}
	return s.answerAsked(r, p, &q)
}

// beginCommand begins the sign-in of a command line.
func (s *Site) beginCommand(w http.ResponseWriter, r *http.Request) (*reply, error) {
	var ask enrolment.AskEnrolment
	if err := readMessage(w, r, &ask); err != nil {
		return nil, err
	}
	code, err := s.centre.BeginSignIn(r.Context(), ask, s.addressOf(r))
	if errors.Is(err, centre.ErrTooOften) {
		return nil, refuse(http.StatusTooManyRequests, "Too many ask for a code; wait some minutes and try again.")
	}
	if err != nil {
		return nil, err
	}
	return s.newCodeReply(code, commandPage), nil
}

// newCodeReply returns a reply with a code, and the address of the page on which a person confirms it.
func (s *Site) newCodeReply(code enrolment.DeviceCode, page string) *reply {
	code.VerificationURI = s.Address() + page
	code.Complete = code.VerificationURI + "?code=" + code.UserCode
	return &reply{http.StatusOK, code}
}

func (s *Site) answerSignIn(w http.ResponseWriter, r *http.Request) (*reply, error) {
	var ask enrolment.AskToken
	if err := readMessage(w, r, &ask); err != nil {
		return nil, err
	}
	signIn, refusal, err := s.centre.PollSignIn(r.Context(), ask.DeviceCode)
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return &reply{http.StatusBadRequest, refusal}, nil
	}
	return &reply{http.StatusOK, signIn}, nil
}

// listAsked returns the pending and recent questions that a person may answer, or could have answered.
func (s *Site) listAsked(r *http.Request, p principal.Principal) (*reply, error) {
	list := enrolment.AskedList{Waiting: []enrolment.AskedState{}, Over: []enrolment.AskedState{}}
	err := s.listQuestions(r.Context(), func(q *store.Question, waits bool) (bool, error) {
		rights, err := s.centre.RightsOf(r.Context(), p, centre.ByCommand, q)
		switch {
		case err != nil || !rights.Deny:
		case waits:
			list.Waiting = append(list.Waiting, s.askedStateOf(q, &rights))
		default:
			list.Over = append(list.Over, s.askedStateOf(q, &rights))
		}
		return rights.Deny, err
	})
	return &reply{http.StatusOK, list}, err
}

// answerAsked returns a reply with a question. The person must have the right to answer it.
func (s *Site) answerAsked(r *http.Request, p principal.Principal, q *store.Question) (*reply, error) {
	rights, err := s.centre.RightsOf(r.Context(), p, centre.ByCommand, q)
	if err != nil {
		return nil, err
	}
	if !rights.Deny {
		return nil, explainQuestion(centre.ErrNotYours)
	}
	l, _, err := s.centre.Store.FindLaptop(r.Context(), q.Laptop)
	if err != nil {
		return nil, err
	}
	asked := enrolment.Asked{AskedState: s.askedStateOf(q, &rights), AskQuestion: q.Asked, Laptop: l.Name}
	if rights.Owner != nil {
		asked.Owner = rights.Owner.String()
	}
	return &reply{http.StatusOK, asked}, nil
}

// askedStateOf returns the state of a question for a person with these rights.
func (s *Site) askedStateOf(q *store.Question, rights *centre.Rights) enrolment.AskedState {
	state := enrolment.AskedState{
		QuestionState: s.stateOf(q), Created: q.Created, Decided: q.Decided,
		Held: int(max(q.Held.Sub(s.centre.Now()), 0) / time.Second),
	}
	if rights.Allow != nil {
		state.WhyNot = rights.Allow.Error()
	}
	return state
}

func (s *Site) takeAnswer(w http.ResponseWriter, r *http.Request, p principal.Principal, id string) (*reply, error) {
	var a enrolment.Answer
	if err := readMessage(w, r, &a); err != nil {
		return nil, err
	}
	q, err := s.centre.Vote(r.Context(), centre.Ballot{By: p, Way: centre.ByCommand, Question: id, Digest: a.Digest, Allow: a.Allow, Words: a.Words})
	if err != nil {
		return nil, explainQuestion(err)
	}
	return s.answerAsked(r, p, &q)
}

// commandData is the data of the page on which a person confirms a command line.
type commandData struct {
	enrollData
	Until string
}

func (v *visit) newCommandData(d enrollData) commandData {
	return commandData{d, fmt.Sprintf("at most %s, and until your session here ends", centre.SpanText(time.Hour))}
}

func (v *visit) showCommand(string) error {
	d, err := v.readCode(v.s.centre.FindSignIn)
	if err != nil {
		return err
	}
	return v.show("command", "Sign in a command line", commandPage, v.newCommandData(d))
}

func (v *visit) decideCommand(string) error {
	d, err := v.decideCode(func(ctx context.Context, typed string, allow bool) (store.Enrolment, error) {
		return v.s.centre.DecideSignIn(ctx, typed, allow, v.session)
	})
	if err != nil {
		return err
	}
	return v.show("command", "Sign in a command line", commandPage, v.newCommandData(d))
}
