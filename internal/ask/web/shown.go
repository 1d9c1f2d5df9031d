package web

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// Package view or term has made all texts below harmless. The page puts them into text nodes.

// row is a pending request as a row of the list.
type row struct {
	ID        string `json:"id"`
	Digest    string `json:"digest"` // hex digest; the answer must contain it
	Title     string `json:"title"`  // the sentence that says who wants what
	Short     string `json:"short"`  // the tool, the server and the arguments
	Server    string `json:"server"`
	Client    string `json:"client"`
	Project   string `json:"project"`
	Dangerous bool   `json:"dangerous"`
	Brief     bool   `json:"brief"`    // Short shows the whole call
	Created   int64  `json:"created"`  // time in ms
	Deadline  int64  `json:"deadline"` // time in ms; 0 for none
	care      care
}

const (
	shortLength = 160 // maximum number of characters of Short
	titleLength = 110 // maximum number of cells of Title
)

func (s *Server) requestRow(r *queue.Request) *row {
	out := &row{
		ID: r.ID, Digest: hex.EncodeToString(r.Digest[:]),
		Client: term.VisibleText(r.Client), Project: term.VisibleText(view.TildePath(r.Project, s.o.Home)),
		Created: r.Created.UnixMilli(),
	}
	if !r.Deadline.IsZero() {
		out.Deadline = r.Deadline.UnixMilli()
	}
	q, err := s.viewRequest(r, false)
	if err != nil {
		out.Title, out.Dangerous = "A call that cannot be shown", true
		out.Short = "deny it, or it denies by itself at its deadline"
		return out
	}
	out.Title, out.Server = q.Headline(titleLength), q.Server
	out.Short = strings.TrimPrefix(q.ShortLine(shortLength), "careful: ") // the page adds this word itself
	out.care = careOf(r, &q)
	out.Dangerous = out.care < routine
	if q.IsShortComplete(shortLength) {
		// The call was first rendered without changes of files. A row cannot show changes, so
		// render the call again with them.
		q, err = s.viewRequest(r, true)
		out.Brief = err == nil && q.IsShortComplete(shortLength)
	}
	return out
}

// careOf returns the care that a request needs. The result is routine if both the queue and the
// view have found no danger. Otherwise it is confirmed.
func careOf(r *queue.Request, q *view.Question) care {
	if r.Risk != "routine" || len(q.Dangers) > 0 {
		return confirmed
	}
	return routine
}

// viewRequest returns the request as harmless text. The error tells why this is impossible.
func (s *Server) viewRequest(r *queue.Request, changes bool) (view.Question, error) {
	if r.Damage != nil {
		return view.Question{}, r.Damage
	}
	return view.NewQuestion(r.Calls, s.viewOptions(r, changes))
}

func (s *Server) viewOptions(r *queue.Request, changes bool) view.Options {
	o := view.Options{Server: r.Server, Rule: r.Rule, Digest: r.Digest, Why: r.Reason, Reply: r.IsReply(), Project: r.Project, Home: s.o.Home, Own: s.o.Own, Preview: r.Preview}
	if changes {
		o.ReadFile = s.o.ReadFile
	}
	return o
}

// details are all facts about a request that a person needs for an answer.
type details struct {
	ID        string    `json:"id"`
	Digest    string    `json:"digest"`
	Broken    string    `json:"broken"` // why the request cannot be shown and can only be denied; "" if it can be shown
	Short     string    `json:"sum"`    // the first digits of the frame's digest
	Server    string    `json:"server"`
	Client    string    `json:"client"`
	Project   string    `json:"project"`
	Rule      string    `json:"rule"`
	Reason    string    `json:"reason"`
	Dangerous bool      `json:"dangerous"`
	Dangers   []string  `json:"dangers"`
	Requests  []request `json:"requests"`
	Lasting   bool      `json:"lasting"`
	Session   []reach   `json:"session"` // possible scopes of a session answer; the first is selected at the start
	Offers    []offer   `json:"offers"`
	NoOffer   string    `json:"noOffer"`
	care      care
}

type request struct {
	Server  string   `json:"server"`
	Method  string   `json:"method"`
	Word    string   `json:"word"`
	Names   []value  `json:"names"`
	Args    []value  `json:"args"`
	Extra   []value  `json:"extra"` // values from params that are not arguments
	Changes []change `json:"changes"`
	Told    []string `json:"told"` // what the command would do, if known
	Dangers []string `json:"dangers"`
}

type value struct {
	Path   string   `json:"path"`
	Type   string   `json:"type"`
	Value  string   `json:"value"`
	Clean  string   `json:"clean"`
	Whole  []string `json:"whole"` // lines of the entire value; null if Value shows it completely
	Folded bool     `json:"folded"`
	Marks  []string `json:"marks"`
}

type change struct {
	Op   string `json:"op"` // '+', '-', ' ' or '#', as in view.DiffLine
	Text string `json:"text"`
}

type offer struct {
	Scope   string   `json:"scope"`
	Title   string   `json:"title"`
	Allow   []string `json:"allow"` // lines of the rule that allows
	Deny    []string `json:"deny"`
	Example string   `json:"example"`
}

// reach is one possible scope of a session answer.
type reach struct {
	Scope string `json:"scope"`
	Lets  string `json:"lets"`  // what it allows, in a few words
	Title string `json:"title"` // what it allows, and everything that it leaves open
}

func (s *Server) requestDetails(r *queue.Request) *details {
	out := &details{
		ID: r.ID, Digest: hex.EncodeToString(r.Digest[:]), Client: term.VisibleText(r.Client), Project: term.VisibleText(view.TildePath(r.Project, s.o.Home)),
		Reason:  term.VisibleText(r.Reason),
		Lasting: r.Lasting, NoOffer: term.VisibleText(r.NoOffer), Offers: []offer{}, Session: []reach{}, Requests: []request{},
	}
	for _, o := range view.ForSession(r.Offers) {
		out.Session = append(out.Session, reach{o.Scope, term.VisibleText(o.Session), term.VisibleText(o.Title)})
	}
	for _, o := range r.Offers {
		out.Offers = append(out.Offers, offer{o.Scope, term.VisibleText(o.Title), textLines(o.Allow), textLines(o.Deny), term.VisibleText(o.Example)})
	}
	q, err := s.viewRequest(r, true)
	if err != nil {
		out.Broken, out.Dangerous = term.VisibleText(err.Error()), true
		return out
	}
	out.Server, out.Rule, out.Short, out.Dangers = q.Server, q.Rule, q.Digest, q.Dangers
	out.care = careOf(r, &q)
	out.Dangerous = out.care < routine
	for i := range q.Requests {
		out.Requests = append(out.Requests, requestOf(&q.Requests[i]))
	}
	return out
}

func requestOf(r *view.Request) request {
	own := len(r.Args) - r.Extra
	out := request{
		Server: r.Server, Method: r.Method, Word: r.Word, Dangers: r.Dangers,
		Names: argumentValues(r.Named), Args: argumentValues(r.Args[:own]), Extra: argumentValues(r.Args[own:]), Changes: []change{}, Told: append([]string{}, r.Told...),
	}
	for _, d := range r.Diff {
		out.Changes = append(out.Changes, change{string(d.Op), d.Text})
	}
	return out
}

func argumentValues(args []view.Arg) []value {
	out := make([]value, 0, len(args))
	for i := range args {
		a := &args[i]
		v := value{Path: a.Path, Type: a.Type, Value: a.Value, Clean: a.Clean, Folded: a.Folded, Marks: a.Marks}
		if a.Folded || len(a.Whole) > 1 {
			v.Whole = a.Whole
		}
		out = append(out, v)
	}
	return out
}

func textLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = term.VisibleText(strings.TrimRight(lines[i], "\r"))
	}
	return lines
}

// resolvedRow is a resolved request as a row of the history.
type resolvedRow struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
	Time   int64  `json:"time"` // time in ms
	Text   string `json:"text"`
	Note   string `json:"note"`
}

func (s *Server) resolvedRow(r *queue.Request) *resolvedRow {
	out := &resolvedRow{ID: r.ID, Status: string(r.Status), Time: r.Decided.UnixMilli(), Note: term.VisibleText(r.Answer.Words)}
	q, err := s.viewRequest(r, false)
	if err != nil {
		out.Title = "A call that cannot be shown"
		return out
	}
	out.Title = q.Headline(titleLength)
	return out
}

// endingSentence tells in one sentence how a request was resolved.
func endingSentence(r *queue.Request) string {
	at, outcome, undone := clockText(r.Decided), term.VisibleText(r.Outcome), queue.UndoneText(r.IsReply())
	switch r.Status {
	case queue.Approved, queue.Denied:
		return fmt.Sprintf("%s at %s %s%s.", answerText(r), at, answererText(r), outcomeText(r.Status, outcome, undone))
	case queue.Expired:
		why := strings.TrimSuffix(strings.TrimSuffix(outcome, undone), "; ")
		if why == "" || strings.HasPrefix(why, "expired") {
			return fmt.Sprintf("Expired at %s; %s.", at, undone)
		}
		return fmt.Sprintf("Ended at %s: %s; %s.", at, why, undone)
	case queue.Pending:
	}
	return "It still waits."
}

// outcomeText returns the end of endingSentence: what the proxy reports about the call after an
// answer.
func outcomeText(s queue.Status, outcome, undone string) string {
	switch {
	case s == queue.Denied && (outcome == "" || outcome == "denied"):
		return "; " + undone
	case outcome == "":
		return ""
	case strings.HasPrefix(outcome, "went on"):
		return "; it " + outcome
	case strings.HasPrefix(outcome, "denied"):
		return "; it was " + outcome
	}
	return "; " + outcome
}

// tooLate returns endingSentence for a person whose answer came too late.
func tooLate(r *queue.Request) string {
	s := endingSentence(r)
	return "Too late: " + strings.ToLower(s[:1]) + s[1:]
}

func clockText(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Local().Format(time.TimeOnly)
}

func answerText(r *queue.Request) string {
	switch r.Answer.Reply {
	case gate.AllowOnce:
		return "Allowed once"
	case gate.AllowSession:
		return "Allowed for the session" + scopeText(r.Answer.Scope)
	case gate.AllowAlways:
		return "Always allowed" + scopeText(r.Answer.Scope)
	case gate.DenyAlways:
		return "Always denied" + scopeText(r.Answer.Scope)
	}
	return "Denied"
}

func scopeText(scope string) string {
	if scope == "" {
		return ""
	}
	return " (" + term.VisibleLine(scope) + ")"
}

func answererText(r *queue.Request) string {
	where := "in the " + term.VisibleText(r.Answer.Channel)
	if r.Answer.Channel == Channel {
		where = "on the page"
	}
	if r.Answer.By == "" {
		return where
	}
	return where + ", by " + term.VisibleText(r.Answer.By)
}

type grantRow struct {
	ID      string `json:"id"`
	Client  string `json:"client"`
	Title   string `json:"title"`
	Project string `json:"project"`
	Since   int64  `json:"since"` // time in ms
	Uses    int    `json:"uses"`
}

func grantRows(list []queue.Grant, home string) []grantRow {
	out := make([]grantRow, 0, len(list))
	for i := range list {
		g := &list[i]
		title := "A call that cannot be shown"
		if g.Reach != "" {
			title = term.VisibleText(g.Reach)
		} else if q, err := view.NewQuestion(g.Calls, view.Options{Server: g.Server}); err == nil {
			title = q.ShortLine(shortLength)
		}
		out = append(out, grantRow{g.ID, term.VisibleText(g.Client), title, term.VisibleText(view.TildePath(g.Project, home)), g.Since.UnixMilli(), g.Uses})
	}
	return out
}
