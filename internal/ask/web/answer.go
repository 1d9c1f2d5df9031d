package web

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// answerBody is the JSON that the page sends to answer one request.
type answerBody struct {
	ID        string `json:"id"`
	Digest    string `json:"digest"` // hex digest of the frame that the page showed
	Reply     string `json:"reply"`  // a key of replies
	Scope     string `json:"scope"`  // scope of the offer, for a lasting answer or a session answer
	Words     string `json:"words"`  // a note for the agent
	Read      bool   `json:"read"`   // the page has shown the end of the question (view.Sight)
	Confirmed bool   `json:"confirmed"`
	Bulk      bool   `json:"bulk"` // the person answers several requests at once, and this is one of them
}

// replies are the answers by the page's words.
var replies = map[string]gate.Reply{
	"deny": gate.DenyOnce, "allow": gate.AllowOnce, "session": gate.AllowSession,
	"always": gate.AllowAlways, "never": gate.DenyAlways,
}

const maxWords = 500 // maximum number of characters of a note

// wholeID matches an id of the queue. The server looks up no other text as an id.
var wholeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-zA-Z-]{8,64}$`) })

func conflictRefusal(text string) *refusal { return &refusal{Status: http.StatusConflict, Text: text} }

var (
	unknownReply = &refusal{Status: http.StatusBadRequest, Text: "This is not an answer that clawai knows. Nothing was answered."}
	unknownScope = &refusal{Status: http.StatusBadRequest, Text: "No such rule was offered. Nothing was answered."}
	unknownReach = &refusal{Status: http.StatusBadRequest, Text: "No answer for the session was offered that reaches so far. Nothing was answered."}
	longNote     = &refusal{Status: http.StatusBadRequest, Text: "The note is longer than 500 characters. Nothing was answered."}
	otherBytes   = conflictRefusal("The question is not the one that the page showed. Nothing was answered; load the page again.")
	tooEarly     = &refusal{Status: http.StatusTooEarly, Text: "That was sooner than anybody reads. Nothing was answered; look, and answer again."}
	unread       = conflictRefusal("Read the question to its end first, then allow. Nothing was answered.")
	unconfirmed  = conflictRefusal("This one is dangerous, or lasts: it needs to be confirmed. Nothing was answered.")
	notShown     = conflictRefusal("This call cannot be shown, so it can only be denied. Nothing was answered.")
	notInBulk    = conflictRefusal("Several at once can only be denied or allowed once, and a dangerous one only denied. Nothing was answered.")
	notLasting   = conflictRefusal("An answer for the session cannot hold for this call. Nothing was answered.")
	goneAlready  = conflictRefusal("Too late: it is no longer in the queue; nothing was executed.")
)

// serveRequest sends the details of a pending request, or how the request ended. If the request
// ends before the page opens it, the status is still 200, because a browser reports other statuses
// as errors on its console.
func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request, in *session) error {
	q, err := s.findPending(r.Context(), strings.TrimPrefix(r.URL.Path, requestPath))
	if late, ok := errors.AsType[*refusal](err); ok && late.Status == http.StatusConflict {
		return writeReply(w, map[string]string{"ended": late.Text})
	}
	if err != nil {
		return err
	}
	d := s.requestDetails(&q)
	in.addDetails(q.ID, d.care)
	return writeReply(w, d)
}

// findPending returns the pending request with this id. A prefix of the id is not enough.
func (s *Server) findPending(ctx context.Context, id string) (queue.Request, error) {
	if !wholeID().MatchString(id) {
		return queue.Request{}, notFound
	}
	q, err := s.o.Queue.Get(ctx, id)
	switch {
	case errors.Is(err, queue.ErrUnknown), errors.Is(err, queue.ErrAmbiguous), err == nil && q.ID != id:
		return queue.Request{}, goneAlready
	case err != nil:
		return queue.Request{}, unreachableRefusal(err)
	case q.Status != queue.Pending:
		return queue.Request{}, conflictRefusal(tooLate(&q))
	}
	return q, nil
}

func unreachableRefusal(err error) *refusal {
	return &refusal{Status: http.StatusServiceUnavailable, Text: "The queue could not be asked, and nothing was answered: " + term.VisibleText(err.Error())}
}

// serveAnswer checks one answer and sends it to the queue.
func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, in *session) error {
	var body answerBody
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	q, err := s.findPending(r.Context(), body.ID)
	if err != nil {
		return err
	}
	a, err := s.checkAnswer(&body, &q, in)
	if err != nil {
		return err
	}
	// The queue must store or refuse the answer even if the page closes the connection.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.limits.write/2)
	defer cancel()
	now, err := s.o.Queue.Decide(ctx, q.ID, a)
	if first, ok := errors.AsType[*queue.ResolvedError](err); ok {
		return conflictRefusal(tooLate(&first.Request))
	}
	if err != nil {
		return unreachableRefusal(err)
	}
	if !body.Bulk { // wait for the outcome of a single answer; after a bulk answer, the history shows the outcomes
		now = s.awaitOutcome(r.Context(), now)
	}
	return writeReply(w, map[string]string{"text": endingSentence(&now)})
}

// checkAnswer returns the queue's form of an answer from the page. It returns an error if the
// request q must not get this answer.
func (s *Server) checkAnswer(body *answerBody, q *queue.Request, in *session) (queue.Answer, error) {
	said, ok := replies[body.Reply]
	a := queue.Answer{Reply: said, Channel: Channel, By: s.o.By, Words: strings.TrimSpace(body.Words)}
	if !ok {
		return a, unknownReply
	}
	if body.Digest != hex.EncodeToString(q.Digest[:]) {
		return a, otherBytes
	}
	if utf8.RuneCountInString(a.Words) > maxWords {
		return a, longNote
	}
	lasts := said == gate.AllowAlways || said == gate.DenyAlways
	far := said == gate.AllowSession && body.Scope != ""
	was := in.sentOf(q.ID)
	dangerous := said.Allows() && was.care < routine
	switch {
	case was.at.IsZero() || time.Since(was.at) < s.grace:
		return a, tooEarly
	case said.Allows() && was.care == denyOnly:
		return a, notShown
	case q.Reserved != "" && said != gate.DenyOnce:
		return a, conflictRefusal(term.VisibleText("Nothing was answered: " + q.DenyOnly().Error() + "."))
	case body.Bulk && (dangerous || said != gate.DenyOnce && said != gate.AllowOnce):
		return a, notInBulk
	case said == gate.AllowSession && !q.Lasting:
		return a, notLasting
	case said == gate.AllowSession && !offersReach(q, body.Scope):
		return a, unknownReach
	case said.Allows() && (!was.whole || !body.Read):
		return a, unread
	case (lasts || far || dangerous) && !body.Confirmed:
		return a, unconfirmed
	case lasts && !offersRule(q, said, body.Scope):
		return a, unknownScope
	}
	if lasts || far {
		a.Scope = body.Scope
	}
	return a, nil
}

// offersReach reports whether the request offers a session answer with this scope.
func offersReach(q *queue.Request, scope string) bool {
	return scope == "" || slices.ContainsFunc(view.ForSession(q.Offers), func(o view.Offer) bool { return o.Scope == scope })
}

// offersRule reports whether the request offers the rule of this scope for a lasting answer.
func offersRule(q *queue.Request, said gate.Reply, scope string) bool {
	return slices.ContainsFunc(q.Offers, func(o view.Offer) bool {
		return o.Scope == scope && (said == gate.AllowAlways && o.Allow != "" || said == gate.DenyAlways && o.Deny != "")
	})
}

// awaitOutcome waits a short time for the outcome of the call, and returns the request.
func (s *Server) awaitOutcome(ctx context.Context, now queue.Request) queue.Request {
	ctx, cancel := context.WithTimeout(ctx, s.limits.outcome)
	defer cancel()
	if later, err := s.o.Queue.Await(ctx, now.ID); err == nil {
		return later
	}
	return now
}

// serveRevoke revokes a session answer. It needs no confirmation, because a revoked answer allows
// less.
func (s *Server) serveRevoke(w http.ResponseWriter, r *http.Request, _ *session) error {
	var body struct {
		ID string `json:"id"`
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	if body.ID == "" || len(body.ID) > 200 {
		return notFound
	}
	err := s.o.Queue.Revoke(r.Context(), body.ID)
	switch {
	case errors.Is(err, queue.ErrUnknown):
		return conflictRefusal("It no longer held.")
	case err != nil:
		return &refusal{Status: http.StatusServiceUnavailable, Text: "It could not be revoked and may still hold: " + term.VisibleText(err.Error())}
	}
	return writeReply(w, map[string]string{"text": "Revoked: the next such call asks again."})
}
