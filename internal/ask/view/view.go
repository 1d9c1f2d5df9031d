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

// Limits of one question. A person does not read more before answering.
const (
	maxRequests = 100
	maxValues   = 1000 // names and argument values of all requests
)

// ErrTooMany means that the calls hold more than a person can be shown. It leads to a deny.
var ErrTooMany = fmt.Errorf("the call holds more than can be shown (%d requests, %d values)", maxRequests, maxValues)

// ErrUnreadable means that arguments are not JSON. No admitted frame has such arguments.
var ErrUnreadable = errors.New("the arguments cannot be read")

// Options are the inputs of NewQuestion besides the calls.
type Options struct {
	Server  string      // the name to show; "" takes the first call's
	Rule    policy.Rule // the rule that asked; the zero value shows none
	Digest  [32]byte    // digest of the frame; the zero value shows none
	Why     string      // reason for asking besides the rule; "" for none
	Reply   bool        // the calls were made, and the question is about their answer
	Project string      // absolute working folder; "" when unknown; / and Home, or a parent of Home, count as unknown
	Home    string      // the owner's home, for ~; "" when unknown
	Own     []string    // clawai's own folders: rules, record
	// Unseen means that an answer would also allow other calls, which no person sees. Then a call
	// that may write and that names a file that runs later counts as a call that writes this file.
	Unseen bool
	// Preview holds the result of a preview of the call's command (gate.Question.Preview). It is
	// nil if there was no preview. Brief leaves out the texts and the names of files, for people
	// who are not the owner.
	Preview []byte
	Brief   bool
	// ReadFile reads a file that a call would change; without it there is no Diff. It gets only
	// absolute, clean paths, which an attacker chooses. It must refuse everything but a regular
	// file, must not wait for one (O_NONBLOCK) or follow a link in the last name (O_NOFOLLOW),
	// must stop after MaxFile bytes with ErrTooLarge, and returns fs.ErrNotExist for a missing
	// file.
	ReadFile func(path string) ([]byte, error)
}

// Question is the shown question. All of it is harmless text.
type Question struct {
	Title    string    // the request in a few words: `"write_file" on "files"`
	Server   string    // in quotes; "not named" without one
	Rule     string    // file, line and description of the rule that asked; "" without one
	Why      string    // reason for asking besides the rule; "" for none
	Reply    bool      // the question is about the answer to the calls
	Digest   string    // the first 12 hex digits of the frame's SHA-256; "" without one
	Requests []Request // one for each call, in order
	Dangers  []string  // reasons for care in plain words, without repeats; nil when it is routine

	who name // the server
}

// Request is one call.
type Request struct {
	Server  string     // in quotes, as the call names it
	Method  string     // in quotes if it has characters that no method has, or is long
	Word    string     // kind of Names: "tool", "resource", "prompt", "text", "asks" or "method"
	Names   []string   // in quotes; long ones are folded
	Named   []Arg      // the names with their whole text
	Args    []Arg      // in wire order
	Extra   int        // number of Args, at the end, that stand in params outside the arguments
	Diff    []DiffLine // changes of a call that writes files; nil when unknown
	Dangers []string

	// Told are lines on what a command would do: what its words show, and what a preview found.
	Told []string

	deed    deed
	changed changed
}

// Arg is one value of a call's arguments: a string, a number, true, false, null, an empty object
// or an empty array.
type Arg struct {
	Path   string   // place: edits[0].newText; odd member names are in quotes
	Type   string   // "string", "number", "boolean", "null"; "object" or "array" when empty; "name": a long member name
	Value  string   // one line; strings are in quotes; a long one shows head, tail, length and digest
	Clean  string   // clean form, in quotes, of a path with .. or // in it; "" for none
	Whole  []string // the entire value, one element per line
	Folded bool     // Value does not show everything
	Hidden int      // number of characters that Whole leaves out; a line of Whole tells so
	Marks  []string // oddities of its text: "look-alike letters", "hidden characters", ...

	text string // set if Whole leaves something out
}

// Values returns the names and the arguments in display order.
func (r *Request) Values() []Arg { return slices.Concat(r.Named, r.Args) }

// DiffLine is one line of a change. Each file in Diff begins with a line of ours that names the
// file and counts all its lines. Removed and unchanged lines are the owner's text: do not show
// them to anybody else, such as the client that asked.
type DiffLine struct {
	Op   byte   // '+' added, '-' removed, ' ' unchanged, '@' neither (in a patch), '#' our own text
	Text string // without its line end; our own text only for '#'
}

// NewQuestion makes the question about calls. Its errors wrap ErrTooMany and ErrUnreadable; each
// error is a reason to deny.
func NewQuestion(calls []policy.Call, o Options) (Question, error) {
	if len(calls) == 0 {
		return Question{}, errors.New("a question without a call")
	}
	if len(calls) > maxRequests {
		return Question{}, ErrTooMany
	}
	if o.Reply {
		o.ReadFile = nil // the call has already changed the files
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
	if o.Preview != nil && len(q.Requests) == 1 && !o.Reply {
		q.Requests[0].Told = append(q.Requests[0].Told, previewLines(o.Preview, o)...)
	}
	if o.Reply {
		q.makeReply()
	}
	q.Title = questionTitle(q)
	return q, nil
}

// makeReply turns a question about calls into one about their answer: the calls are done, and
// only the answer needs care.
func (q *Question) makeReply() {
	for i := range q.Requests {
		q.Requests[i].deed.setPast()
		q.Requests[i].Dangers, q.Requests[i].Told = nil, nil
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
		r.Told = tellCommand(runWords(c.Names[0], w.leaves))
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

// TildePath replaces the home folder by ~ at the start of an owner's path; paths in a call are
// shown unchanged.
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
