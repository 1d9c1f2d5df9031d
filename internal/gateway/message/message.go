// Package message sends messages about the centre's questions to Slack, to webhooks and by mail. A
// message does not answer a question. A person's click in Slack comes back as an answer, and the centre
// checks the answer.
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
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/text/term"
)

// sendTime limits the duration of one exchange with a service.
const sendTime = 10 * time.Second

// Way is one destination of messages: a Slack channel, a webhook or a mail address.
type Way interface {
	// Name identifies the way. The name stays the same while gateway.toml contains the way.
	Name() string
	// Concerns reports whether the way gets questions to these approvers.
	Concerns(approvers []string) bool
	// Send sends a question. reference identifies the sent message for Update; it is "" if the message
	// cannot change.
	Send(ctx context.Context, n *Notice) (reference string, err error)
	// Update sends the present state of an earlier question. It does nothing if the service cannot
	// change messages.
	Update(ctx context.Context, reference string, n *Notice) error
}

// LaterError means that a service accepts the next message only after the time in the field After.
type LaterError struct {
	After time.Duration
	Err   error
}

func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap returns the service's error.
func (e *LaterError) Unwrap() error { return e.Err }

// Notice is the content of a message about a question. Texts from laptops are already escaped.
type Notice struct {
	ID, Digest, Link   string
	State              string
	Laptop, Owner      string
	Approvers          []string
	Given, Wanted      int
	Votes              []string // each vote as a sentence for people
	Expires            time.Time
	Tool               string   // names of the tools and of the server, without arguments
	Dangers            []string // reasons for care; a reason may quote arguments
	Lines              []string // all lines that the page shows about the call; the dangers come first
	NotSelf, Dangerous bool
}

// NewNotice returns the content of the message about a question. address is the address of the centre.
// owner is "" if the owner is unknown.
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

// toolOf returns the names of a question's tools and of the server, without arguments. For a resource
// it returns the method, because the name of a resource counts as an argument.
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

// stateWords are the texts with which messages show the state of a question.
var stateWords = map[string]string{
	enrolment.QuestionPending:   "waits",
	enrolment.QuestionApproved:  "allowed, not used yet",
	enrolment.QuestionUsed:      "allowed",
	enrolment.QuestionDenied:    "denied",
	enrolment.QuestionExpired:   "over: nobody answered, or used it, in time",
	enrolment.QuestionCancelled: "over: the call was withdrawn",
}

// concerns reports whether a way gets a question. The parameter told has the approvers of the way, and
// the parameter approvers has those of the question. A way without approvers gets all questions.
func concerns(told, approvers []string) bool {
	return len(told) == 0 || slices.ContainsFunc(told, func(one string) bool { return slices.Contains(approvers, one) })
}

// checkAddress returns an error if messages must not go to an address. The address must have https,
// because others on the network can read http. Only addresses of this machine may have http.
func checkAddress(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%q is not an address such as https://HOST", redact.MaskAddress(text))
	case u.Scheme == "https":
		return nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%q would send questions in clear; it begins with https://", redact.MaskAddress(text))
}

// Secret says where a secret is: in a file, or in an environment variable. Of is the secret's key in
// gateway.toml without _file or _env.
type Secret struct{ Of, File, Env string }

func (s Secret) check() error {
	if (s.File == "") == (s.Env == "") {
		return fmt.Errorf("%s_file or %s_env is needed, and only one of them", s.Of, s.Of)
	}
	return nil
}

// Read reads a secret from its file or environment variable.
type Read func(Secret) (string, error)

var errRedirect = errors.New("it was led to another address, which is not followed")
