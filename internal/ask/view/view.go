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

// Limits of one question, because a person does not read more before answering.
const (
	maxRequests = 100
	maxValues   = 1000 // names and argument values of all requests
)

// ErrTooMany means that the calls have more requests or values than a person can read. The question
// is denied.
var ErrTooMany = fmt.Errorf("the call holds more than can be shown (%d requests, %d values)", maxRequests, maxValues)

// ErrUnreadable means that the arguments of a call are not JSON. The frame reader admits no such
// call.
var ErrUnreadable = errors.New("the arguments cannot be read")

// Options are the inputs of NewQuestion besides the calls.
type Options struct {
	Server  string      // the server's name as shown; "" means the server of the first call
	Rule    policy.Rule // the rule that led to the question; the zero value shows none
	Digest  [32]byte    // digest of the frame; the zero value shows none
	Why     string      // a further reason for the question; "" for none
	Reply   bool        // the calls were already made, and the question is about their reply
	Project string      // absolute path of the working folder; "" if unknown; /, Home and a parent of Home count as unknown
	Home    string      // home folder of the owner, shown as ~; "" if unknown
	Own     []string    // folders of clawai itself: rules, record
	// Unseen means that the answer would also allow other calls, which no person sees. A call that
	// may write is then treated as a write to each file that it names, if the file runs later.
	Unseen bool
	// Preview is what a preview of the command found (gate.Question.Preview); nil if there was no
	// preview. Brief leaves out texts and file names, for people who are not the owner.
	Preview []byte
	Brief   bool
	// ReadFile reads a file that a call would change. Without it the question has no Diff. It gets
	// only absolute, clean paths, but an attacker can choose them. So it must refuse everything but
	// a regular file (O_NONBLOCK), must not follow a link in the last name (O_NOFOLLOW), and must
	// return ErrTooLarge for more than MaxFile bytes. For a missing file it returns fs.ErrNotExist.
	ReadFile func(path string) ([]byte, error)
}

// Question is a question as text. All its texts are harmless.
type Question struct {
	Title    string    // the request in a few words: `"write_file" on "files"`
	Server   string    // name of the server, in quotes; "not named" if it has none
	Rule     string    // file, line and description of the rule that led to the question; "" if there is none
	Why      string    // a further reason for the question; "" for none
	Reply    bool      // the question is about the reply to the calls
	Digest   string    // the first 12 hex digits of the frame's SHA-256; "" without one
	Requests []Request // one for each call, in order
	Dangers  []string  // reasons for care in plain words, each once; nil if the question is routine

	who name // the server's name for the headline
}

// Request is one call as text.
type Request struct {
	Server  string     // in quotes, as in the call
	Method  string     // in quotes if it is long or has a character that no method has
	Word    string     // kind of Names: "tool", "resource", "prompt", "text", "asks" or "method"
	Names   []string   // in quotes; long names are folded
	Named   []Arg      // Names in full
	Args    []Arg      // in wire order
	Extra   int        // number of values at the end of Args that are from params but not from the arguments
	Diff    []DiffLine // the changes that the call would make to files; nil if unknown
	Dangers []string

	// Told are lines about the effects of a command: what its words show, and what a preview found.
	Told []string

	deed    deed
	changed changed
}

// Arg is one value in the arguments of a call: a string, a number, true, false, null, an empty
// object or an empty array.
type Arg struct {
	Path   string   // path of the value in the arguments, such as edits[0].newText; unusual names are in quotes
	Type   string   // "string", "number", "boolean" or "null"; "object" or "array" if empty; "name" for a long member name
	Value  string   // one line; a string is in quotes; a long value is shown as its start, end, length and digest
	Clean  string   // clean form, in quotes, of a path that has .. or repeated slashes; "" for any other value
	Whole  []string // the entire value, one element per line
	Folded bool     // Value leaves something out
	Hidden int      // number of characters that Whole leaves out; a line of Whole tells the number
	Marks  []string // unusual things in the value: "look-alike letters", "hidden characters", ...

	text string // the whole value, if Whole leaves something out
}

// Values returns the names and the arguments, in the order in which they are shown.
func (r *Request) Values() []Arg { return slices.Concat(r.Named, r.Args) }

// DiffLine is one line of a change. For each file, Diff begins with our own line, which has the
// file's name and the number of changed lines. Removed and unchanged lines come from the owner's
// files: show them to the owner only, and not to the client that made the call.
type DiffLine struct {
	Op   byte   // '+' added, '-' removed, ' ' unchanged, '@' the position in a patch, '#' our own text
	Text string // the line without its line end
}

// NewQuestion makes the question about calls. Its errors wrap ErrTooMany or ErrUnreadable. The
// caller must deny after an error.
func NewQuestion(calls []policy.Call, o Options) (Question, error) {
	if len(calls) == 0 {
		return Question{}, errors.New("a question without a call")
	}
	if len(calls) > maxRequests {
		return Question{}, ErrTooMany
	}
	if o.Reply {
		o.ReadFile = nil // the calls have already changed the files
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

// makeReply turns a question about calls into a question about their reply. The calls cannot be
// stopped any more, so only the reply needs care.
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

// TildePath replaces the home folder at the start of a path by ~. It is for paths of the owner;
// paths in a call are shown unchanged.
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
