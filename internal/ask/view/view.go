package view

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// The bounds of one question. Nobody reads more before they answer.
const (
	maxRequests = 100
	maxValues   = 1000 // names and argument values of all requests
)

// ErrTooMany says that the calls hold more than a person can be shown. It is a
// deny.
var ErrTooMany = fmt.Errorf("the call holds more than can be shown (%d requests, %d values)", maxRequests, maxValues)

// ErrUnreadable says that arguments are not JSON. No admitted frame has such.
var ErrUnreadable = errors.New("the arguments cannot be read")

// Options is what Of knows beside the calls.
type Options struct {
	Server  string      // the name to show; "" takes the first call's
	Rule    policy.Rule // the one that asked; the zero value shows none
	Digest  [32]byte    // of the frame; the zero value shows none
	Why     string      // why it is asked, beside the rule; "" for no other reason
	Reply   bool        // the calls were made: what came back is asked about
	Project string      // absolute folder the work is in; "" when unknown; / and Home, or what holds it, count as unknown
	Home    string      // the owner's home, for ~; "" when unknown
	Own     []string    // folders of clawai's own: rules, record
	// Unseen says that an answer would let other calls through which nobody sees: what
	// may write, or name, what runs later counts as what does.
	Unseen bool
	// ReadFile reads a file that a call would change; nil gives no Diff. It is
	// asked for absolute, clean paths only, which an attacker chooses: it must
	// refuse everything but a regular file, must not wait for one (O_NONBLOCK)
	// or follow a link in the last name (O_NOFOLLOW), must stop after MaxFile
	// bytes with ErrTooLarge, and gives an fs.ErrNotExist for a missing file.
	ReadFile func(path string) ([]byte, error)
}

// Question is what is shown. All of it is harmless text.
type Question struct {
	Title    string    // what is asked for, in a few words: `"write_file" on "files"`
	Server   string    // in quotes; "not named" without one
	Rule     string    // file, line and description of the rule that asked; "" without one
	Why      string    // why it is asked, beside the rule; "" for no other reason
	Reply    bool      // what came back is asked about
	Digest   string    // the first 12 hex digits of the frame's SHA-256; "" without one
	Requests []Request // one for each call, in their order
	Dangers  []string  // why it needs care, in plain words, each once; nil when it is routine

	who name // the server
}

// Request is one call.
type Request struct {
	Server  string     // in quotes, as the call names it
	Method  string     // in quotes when it has characters that no method has, or is long
	Word    string     // what Names are: "tool", "resource", "prompt", "text", "asks" or "method"
	Names   []string   // in quotes; long ones are folded
	Named   []Arg      // the same, with their whole text
	Args    []Arg      // in the order of the wire
	Extra   int        // how many of Args, the last ones, stand in params beside the arguments
	Diff    []DiffLine // what a call that writes files would change; nil when it cannot be known
	Dangers []string

	deed    deed
	changed changed
}

// Arg is one value of a call's arguments: a string, a number, true, false,
// null, an empty object or an empty array.
type Arg struct {
	Path   string   // where it stands: edits[0].newText; odd member names are in quotes
	Type   string   // "string", "number", "boolean", "null"; "object" or "array" when empty; "name": a long member name
	Value  string   // one line; strings are in quotes; a long one is head, tail, length and digest
	Clean  string   // in quotes, what a path with .. or // in it comes to; "" for none
	Whole  []string // the entire value, a line for each of its lines
	Folded bool     // Value is not all of it
	Hidden int      // characters of the value that Whole leaves out, where a line of it says so
	Marks  []string // what is odd about its text: "look-alike letters", "hidden characters", ...

	text string // of a value that Whole leaves something out of
}

// Values are the names and the arguments, in the order in which they are shown.
func (r *Request) Values() []Arg { return slices.Concat(r.Named, r.Args) }

// DiffLine is one line of a change. Diff begins with one of ours, which names the
// file and counts all its lines, and so does every further file in it. Those
// that go and stay are the owner's: show them to nobody else, like the client
// that asked.
type DiffLine struct {
	Op   byte   // '+' comes, '-' goes, ' ' stays, '@' is neither (of a patch), '#' a word of ours
	Text string // without its line end; '#' apart never ours
}

// NewQuestion makes the question about calls. Its errors wrap ErrTooMany and
// ErrUnreadable; each is a reason to deny.
func NewQuestion(calls []policy.Call, o Options) (Question, error) {
	if len(calls) == 0 {
		return Question{}, errors.New("a question without a call")
	}
	if len(calls) > maxRequests {
		return Question{}, ErrTooMany
	}
	if o.Reply {
		o.ReadFile = nil // the files are as the call has left them
	}
	if o.Server == "" {
		o.Server = calls[0].Server
	}
	q := Question{Server: serverName(o.Server), Rule: ruleText(o.Rule, o.Home), Why: term.VisibleText(o.Why), Reply: o.Reply, who: name{text: "a server without a name"}}
	if o.Server != "" {
		q.who = nameOf(o.Server)
	}
	if o.Digest != [32]byte{} {
		q.Digest = hex.EncodeToString(o.Digest[:6])
	}
	m := builder{diff: maxDiff}
	for i := range calls {
		r, err := m.makeRequest(&calls[i], o)
		if err != nil {
			return Question{}, err
		}
		q.Requests = append(q.Requests, r)
		for _, d := range r.Dangers {
			if !slices.Contains(q.Dangers, d) {
				q.Dangers = append(q.Dangers, d)
			}
		}
	}
	if o.Reply {
		q.makeReply()
	}
	q.Title = questionTitle(q)
	return q, nil
}

// makeReply turns a question about calls into one about what came back from them: what they
// would do is done, and what needs care is their answer.
func (q *Question) makeReply() {
	for i := range q.Requests {
		q.Requests[i].deed.setPast()
		q.Requests[i].Dangers = nil
	}
	q.Dangers, q.Why = []string{cmp.Or(q.Why, "its answer is held")}, ""
}

func (m *builder) makeRequest(c *policy.Call, o Options) (Request, error) {
	if c.Method == listedMethod && c.Subject == policy.NoSubject {
		return m.listedRequest(c)
	}
	r := Request{Server: serverName(c.Server), Method: methodText(c.Method), Word: subjectWord(c.Subject)}
	for _, name := range c.Names {
		a, err := m.makeValue(r.Word, "string", name)
		if err != nil {
			return r, err
		}
		r.Names, r.Named = append(r.Names, a.Value), append(r.Named, a)
	}
	w, err := walkJSON(c.Args, m)
	if err != nil {
		return r, err
	}
	x, unusual, err := walkExtra(c, m)
	if err != nil {
		return r, err
	}
	r.Args, r.Extra = append(slices.Clip(w.args), x.args...), len(x.args)
	both := walker{leaves: append(slices.Clip(w.leaves), x.leaves...), odd: append(w.odd, x.odd...)}
	r.Dangers = findDangers(c, &r, &both, unusual, o)
	if c.Subject == policy.ToolSubject && len(c.Names) == 1 {
		r.Diff, r.changed = diffFiles(textclass.SplitWords(c.Names[0]), w.leaves, o, &m.diff)
	}
	r.deed = deedOf(c, &r, w.leaves, o.Home)
	return r, nil
}

func methodText(s string) string {
	if len(s) <= maxBare && s != "" && strings.Trim(s, bareLetters+"/.$") == "" {
		return s
	}
	return term.VisibleValue(s)
}

func subjectWord(s policy.Subject) string {
	switch s {
	case policy.ToolSubject:
		return "tool"
	case policy.ResourceSubject:
		return "resource"
	case policy.PromptSubject:
		return "prompt"
	case policy.SamplingSubject:
		return "text"
	case policy.ElicitationSubject:
		return "asks"
	default:
		return "method"
	}
}

func serverName(s string) string {
	if s == "" {
		return "not named"
	}
	return term.VisibleValue(s)
}

func ruleText(r policy.Rule, home string) string {
	if r.Pos.Line == 0 {
		return ""
	}
	s := fmt.Sprintf("%s:%d", term.VisibleLine(TildePath(r.Pos.File, home)), r.Pos.Line)
	if r.Description != "" {
		s += " " + term.VisibleValue(r.Description)
	}
	return s
}

// TildePath writes the home folder as ~ at the beginning of a path of the owner's own;
// what a call holds is shown as it is.
func TildePath(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

func questionTitle(q Question) string {
	if n := len(q.Requests); n > 1 {
		return fmt.Sprintf("%d requests of %s", n, q.Server)
	}
	r := q.Requests[0]
	if (r.Word == "tool" || r.Word == "prompt" || r.Word == "resource") && len(r.Names) > 0 {
		return r.Names[0] + " on " + q.Server
	}
	return r.Method + " of " + q.Server
}
