// Package message sends messages about the centre's questions: to Slack, to webhooks and by mail. A message
// decides nothing. A person's click in Slack comes back as an answer, which the centre checks.
package message

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/shown"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

// sendTime limits one exchange with a service.
const sendTime = 10 * time.Second

// Way is one destination of messages: a channel of Slack, a webhook or a mail address.
type Way interface {
	// Name identifies the way. It is the same as long as gateway.toml has the way.
	Name() string
	// Concerns reports whether questions with these approvers are sent on this way.
	Concerns(approvers []string) bool
	// Send sends a question. reference identifies the message for Update; "" if it cannot be changed.
	Send(ctx context.Context, n *Notice) (reference string, err error)
	// Update sends the present state of a question that was sent before. It does nothing if the way cannot
	// do that.
	Update(ctx context.Context, reference string, n *Notice) error
}

// LaterError means that a service accepts no further message before After has passed.
type LaterError struct {
	After time.Duration
	Err   error
}

func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap returns the service's error.
func (e *LaterError) Unwrap() error { return e.Err }

// Notice is the content of a message about a question. Texts from laptops are escaped in it.
type Notice struct {
	ID, Digest, Link   string
	State              string
	Laptop, Owner      string
	Approvers          []string
	Given, Wanted      int
	Votes              []string // each vote as a text for people
	Expires            time.Time
	Tool               string   // names of the tools and of the server, without arguments
	Dangers            []string // may quote arguments
	Lines              []string // everything that the page shows of the call; the dangers first
	NotSelf, Dangerous bool
}

// NewNotice returns the message content for a question. address is the address of the centre. owner is "" if
// it is not known.
func NewNotice(q *store.Question, state, laptop, owner, address string) (*Notice, error) {
	is, err := shown.NewQuestion(&q.Asked)
	if err != nil {
		return nil, err
	}
	n := &Notice{
		ID: q.ID, Digest: q.Asked.Digest, Link: address + "/questions/" + url.PathEscape(q.ID), State: state, Laptop: term.VisibleText(laptop), Owner: term.VisibleText(owner),
		Approvers: shown.Approvers(&q.Asked), Given: q.Given(), Wanted: q.Asked.Approvals, Expires: q.Expires, NotSelf: q.Asked.NotSelf,
		Tool: toolOf(&q.Asked), Dangers: is.Dangers, Dangerous: len(is.Dangers) > 0,
	}
	n.Lines = append(is.Lines(0), shown.EntireLines(&is)...)
	if q.Asked.Hidden > 0 {
		n.Lines = append(n.Lines, fmt.Sprintf("%d secrets are not shown: each [redacted:KIND:LENGTH] stands for one", q.Asked.Hidden))
	}
	for i := range q.Votes {
		word := "denied by "
		if q.Votes[i].Allow {
			word = "allowed by "
		}
		n.Votes = append(n.Votes, word+term.VisibleText(q.Votes[i].By.String()))
	}
	return n, nil
}

// toolOf returns the names of a question's tools and of their server, without arguments. The name of a
// resource counts as an argument, so for a resource it returns the method.
func toolOf(a *enrolment.AskQuestion) string {
	const most = 5
	var all []string
	for i, c := range a.Calls {
		if i == most {
			all = append(all, fmt.Sprintf("%d more", len(a.Calls)-most))
			break
		}
		name := c.Method
		if (c.Subject == "tool" || c.Subject == "prompt") && len(c.Names) == 1 {
			name = c.Names[0]
		}
		if r := []rune(name); len(r) > 80 {
			name = string(r[:80]) + "…"
		}
		all = append(all, term.VisibleLine(name))
	}
	server := []rune(a.Server)
	return strings.Join(all, ", ") + " on " + term.VisibleLine(string(server[:min(len(server), 80)]))
}

// stateWords are texts for people for the states of a question.
var stateWords = map[string]string{
	enrolment.QuestionPending:   "waits",
	enrolment.QuestionApproved:  "allowed, not used yet",
	enrolment.QuestionUsed:      "allowed",
	enrolment.QuestionDenied:    "denied",
	enrolment.QuestionExpired:   "over: nobody answered, or used it, in time",
	enrolment.QuestionCancelled: "over: the call was withdrawn",
}

// concerns reports whether a way for the approvers told gets a question for approvers. A way without
// approvers gets all questions.
func concerns(told, approvers []string) bool {
	return len(told) == 0 || slices.ContainsFunc(told, func(one string) bool { return slices.Contains(approvers, one) })
}

// checkAddress returns an error for an address to which nothing may be sent. It must have https, because others
// on the network could read the messages; http is only for this machine.
func checkAddress(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return err
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%q is not an address such as https://HOST", text)
	case u.Scheme == "https":
		return nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%q would send questions in clear; it begins with https://", text)
}

// Secret is the place of a secret: a file, or an environment variable. Of is its key in gateway.toml.
type Secret struct{ Of, File, Env string }

func (s Secret) check() error {
	if (s.File == "") == (s.Env == "") {
		return fmt.Errorf("%s_file or %s_env is needed, and only one of them", s.Of, s.Of)
	}
	return nil
}

// Read is a function that reads a secret.
type Read func(Secret) (string, error)

var errRedirect = errors.New("it was led to another address, which is not followed")
