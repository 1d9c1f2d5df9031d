// Package message tells people elsewhere of the centre's questions: in Slack, by webhooks and by mail. What
// it sends decides nothing; a person's click in Slack comes back as an answer that the centre judges.
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

// Way is one way out of the centre.
type Way interface {
	// Name identifies the way for as long as gateway.toml names it.
	Name() string
	// Concerns reports whether the approvers of a question are told on this way.
	Concerns(approvers []string) bool
	// Send sends a question, and returns by what it is found again.
	Send(ctx context.Context, n *Notice) (reference string, err error)
	// Update says how a question stands now that was sent before. A way without that does nothing.
	Update(ctx context.Context, reference string, n *Notice) error
}

// LaterError is the error of a service that wants to be asked again later.
type LaterError struct {
	After time.Duration
	Err   error
}

func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap returns the service's error.
func (e *LaterError) Unwrap() error { return e.Err }

// Notice is a question as it is told. All texts of laptops in it are harmless.
type Notice struct {
	ID, Digest, Link   string
	State              string
	Laptop, Owner      string
	Approvers          []string
	Given, Wanted      int
	Votes              []string // in words
	Expires            time.Time
	Tool               string   // names alone, without arguments
	Dangers            []string // may quote arguments
	Lines              []string // everything that the page shows of the call; the dangers first
	NotSelf, Dangerous bool
}

// NewNotice returns what is told of a question. owner is "" if it is not known.
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

// toolOf returns which tools a question is about, without their arguments: a resource's name is one, so only
// its kind is told.
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

// stateWords are the states of a question in words.
var stateWords = map[string]string{
	enrolment.QuestionPending:   "waits",
	enrolment.QuestionApproved:  "allowed, not used yet",
	enrolment.QuestionUsed:      "allowed",
	enrolment.QuestionDenied:    "denied",
	enrolment.QuestionExpired:   "over: nobody answered, or used it, in time",
	enrolment.QuestionCancelled: "over: the call was withdrawn",
}

// concerns reports whether a way that tells some approvers tells those of a question; all if it names none.
func concerns(told, approvers []string) bool {
	return len(told) == 0 || slices.ContainsFunc(told, func(one string) bool { return slices.Contains(approvers, one) })
}

// checkAddress returns an error for an address to which nothing may be sent: others on the way could read it.
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

// Secret says where a secret is: in a file, or in a variable of the environment.
type Secret struct{ Of, File, Env string }

func (s Secret) check() error {
	if (s.File == "") == (s.Env == "") {
		return fmt.Errorf("%s_file or %s_env is needed, and only one of them", s.Of, s.Of)
	}
	return nil
}

// Read returns a secret.
type Read func(Secret) (string, error)

var errRedirect = errors.New("it was led to another address, which is not followed")
