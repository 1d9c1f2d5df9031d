package audit

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// format is the version of the line format, named in every segment's first line.
const format = 1

// encoder writes events as lines. The order of members is fixed.
type encoder struct {
	*redact.Redactor
	session  string
	unquoted []byte // scratch space
	written  []byte // the next event's arguments, where they have been written already
	said     [2]lately
	last     *lately // of the two: that of replies, or that of all else
}

// lately is what the members of the last lines said that mostly say the same.
type lately struct {
	method, subject, name, cwd said
	sender                     together[sender]
	verdict                    together[verdict]
}

// together are members that stand side by side and change together: none of their values
// lies in a frame, which would be kept with it.
type together[of comparable] struct {
	values of
	text   []byte
}

type sender struct{ server, guess, invocation, direction string }

type verdict struct {
	policy, decision, stage, code, reason, ruleFile string
	ruleLine                                        int
	rule                                            string
}

// said is a value and the member as it was written.
type said struct{ value, text []byte }

// shortText is how long a value, or members together, may be, in bytes, to be kept for the
// next line.
const shortText = 1 << 10

// event appends ev as a line without its closing members.
func (e *encoder) event(dst []byte, c *chain, ev *event.Event) []byte {
	e.last = &e.said[0]
	if ev.Ref != "" {
		e.last = &e.said[1]
	}
	dst = e.begin(dst, c, ev.Time, ev.Kind, ev.Record)
	dst = again(dst, &e.last.sender, sender{ev.Server, ev.ServerGuess, ev.Invocation, ev.Direction}, e.sender)
	dst = e.text(dst, &e.last.method, `,"method":"`, ev.Method, theirs)
	dst = e.id(dst, ev.ID)
	dst = e.text(dst, &e.last.subject, `,"subject":"`, ev.Subject, ours)
	if len(ev.Names) == 1 && ev.Names[0] != "" {
		dst = append(e.text(dst, &e.last.name, `,"names":["`, ev.Names[0], theirs), ']')
	} else {
		dst = e.list(dst, "names", ev.Names, 0)
	}
	dst = e.args(dst, ev.Args)
	dst = e.text(dst, &e.last.cwd, `,"cwd":"`, ev.Cwd, theirs)
	dst = word(dst, "os", ev.OS)
	if ev.Elsewhere {
		dst = append(dst, `,"elsewhere":true`...)
	}
	dst = e.list(dst, "annotations", ev.Annotations, 0)
	if len(ev.Extra) > 0 {
		dst, _ = e.AppendJSON(key(dst, "extra"), ev.Extra) // the digest of the frame says what was left out
	}
	if ev.Digest != [sha256.Size]byte{} {
		dst = append(dst, `,"digest":"`...)
		dst = append(e.AppendDigest(dst, &ev.Digest), '"')
	}
	dst = number(dst, "bytes", int64(ev.Bytes))
	dst = number(dst, "folded", int64(ev.Folded))
	if ev.Sent != [sha256.Size]byte{} {
		dst = append(dst, `,"sent":"`...)
		dst = append(e.AppendDigest(dst, &ev.Sent), '"')
	}
	dst = e.list(dst, "finds", ev.Finds, 2)
	dst = e.list(dst, "looked", ev.Looked, 1)
	dst = e.list(dst, "altered", ev.Altered, 0)
	dst = again(dst, &e.last.verdict, verdict{ev.Policy, ev.Decision, ev.Stage, ev.Code, ev.Reason, ev.RuleFile, ev.RuleLine, ev.RuleText}, e.verdict)
	dst = word(dst, "ref", ev.Ref)
	dst = word(dst, "rung", ev.Channel)
	dst = word(dst, "answer", ev.Answer)
	dst = e.member(dst, "by", ev.By)
	dst = e.member(dst, "words", ev.Words)
	dst = number(dst, "waited_ms", ev.Waited.Milliseconds())
	if ev.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	dst = e.list(dst, "declared", ev.Declared, 0)
	return e.member(dst, "detail", ev.Detail)
}

func (e *encoder) sender(dst []byte, s sender) []byte {
	dst = e.member(dst, "server", s.server)
	dst = e.member(dst, "server_guess", s.guess)
	dst = word(dst, "invocation", s.invocation)
	return word(dst, "direction", s.direction)
}

func (e *encoder) verdict(dst []byte, v verdict) []byte {
	dst = word(dst, "policy", v.policy)
	dst = word(dst, "decision", v.decision)
	dst = word(dst, "stage", v.stage)
	dst = word(dst, "code", v.code)
	dst = e.member(dst, "reason", v.reason)
	dst = word(dst, "rule_file", v.ruleFile)
	dst = number(dst, "rule_line", int64(v.ruleLine))
	return e.member(dst, "rule", v.rule)
}

// again appends members, as they were written last if they say the same.
func again[of comparable](dst []byte, last *together[of], values of, write func([]byte, of) []byte) []byte {
	if values == last.values {
		return append(dst, last.text...)
	}
	start := len(dst)
	dst = write(dst, values)
	if len(dst)-start <= shortText {
		last.values, last.text = values, append(last.text[:0], dst[start:]...)
	}
	return dst
}

// begin appends the members that every line of a segment has; id is the record's.
func (e *encoder) begin(dst []byte, c *chain, at time.Time, of event.Kind, id string) []byte {
	dst = c.open(dst, at)
	dst = append(dst, `,"session":"`...)
	dst = append(dst, e.session...)
	dst = append(dst, `","record":"`...)
	dst = append(append(dst, id...), `","kind":"`...)
	return append(escape.Append(dst, string(of)), '"')
}

// record appends the id of a line: what a denial quotes to the owner.
func (e *encoder) record(dst []byte, seq uint64) []byte {
	dst = append(dst, e.session...)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, seq, 10)
}

// header appends the first line of a segment, which names its own file so that
// two cannot be swapped.
func (e *encoder) header(dst []byte, c *chain, at time.Time, file string) []byte {
	start := len(dst)
	dst = e.begin(dst, c, at, event.Segment, string(e.record(nil, c.next)))
	dst = number(dst, "format", format)
	dst = append(dst, `,"file":"`...)
	dst = append(dst, file...)
	dst = append(dst, `","redaction":"`...)
	dst = append(dst, e.Mode().String()...)
	return c.seal(append(dst, '"'), start)
}

// recovery appends the line that accounts for a failed write: the fragment it
// left behind, when there is one, and how many records were refused.
func (e *encoder) recovery(dst []byte, c *chain, at time.Time, f *failure) []byte {
	start := len(dst)
	dst = e.begin(dst, c, at, event.Recovery, string(e.record(nil, c.next)))
	dst = f.append(dst)
	return c.seal(dst, start)
}

// Whose words a text is: ours are escaped, but neither redacted nor cut.
const ours, theirs = true, false

// text appends a member that often says what it said last, unless it is empty; key is how
// it begins, up to the quote before its value.
func (e *encoder) text(dst []byte, last *said, key, value string, our bool) []byte {
	if value == "" {
		return dst
	}
	if string(last.value) == value {
		return append(dst, last.text...)
	}
	start := len(dst)
	if dst = append(dst, key...); our {
		dst = escape.Append(dst, value)
	} else {
		dst = e.AppendString(dst, value)
	}
	dst = append(dst, '"')
	if len(value) <= shortText {
		last.value, last.text = append(last.value[:0], value...), append(last.text[:0], dst[start:]...)
	}
	return dst
}

func (e *encoder) member(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(key(dst, name), '"')
	return append(e.AppendString(dst, value), '"')
}

// id appends a JSON-RPC id token, keeping whether it is a number or a string.
func (e *encoder) id(dst, token []byte) []byte {
	if len(token) == 0 {
		return dst
	}
	dst = key(dst, "id")
	if len(token) <= 64 && (jsonscan.IsNumber(token) || string(token) == "null") {
		return append(dst, token...)
	}
	if n := len(token); n >= 2 && token[0] == '"' && token[n-1] == '"' {
		e.unquoted = escape.Undo(e.unquoted[:0], token[1:n-1])
		token = e.unquoted
	}
	dst = append(dst, '"')
	dst = e.AppendText(dst, token, token)
	return append(dst, '"')
}

// list appends texts, of each of which the first own words are ours: kinds of findings look
// like a name with its value. Beyond the cap one last element says how many there are and,
// with their digest, which.
func (e *encoder) list(dst []byte, name string, values []string, own int) []byte {
	if len(values) == 0 {
		return dst
	}
	dst = append(key(dst, name), '[')
	full := len(dst) + redact.MaxBlock
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		if len(dst) > full {
			dst = e.AppendCut(dst, len(values), joined(values))
			dst = append(dst, '"')
			break
		}
		said := words(v, own)
		dst = e.AppendString(escape.Append(dst, v[:said]), v[said:])
		dst = append(dst, '"')
	}
	return append(dst, ']')
}

// words is how many bytes so many words of a text take, with the blank behind each.
func words(s string, n int) int {
	at := 0
	for range n {
		end := strings.IndexByte(s[at:], ' ')
		if end < 0 {
			return len(s)
		}
		at += end + 1
	}
	return at
}

// args appends the arguments. When members were left out, their whole length
// and digest follow.
func (e *encoder) args(dst, args []byte) []byte {
	if len(args) == 0 {
		return dst
	}
	if e.written != nil {
		return append(dst, e.written...)
	}
	dst, cut := e.AppendJSON(key(dst, "args"), args)
	if !cut {
		return dst
	}
	sum := sha256.Sum256(args)
	dst = number(dst, "args_bytes", int64(len(args)))
	dst = append(dst, `,"args_digest":"`...)
	return append(e.AppendDigest(dst, &sum), '"')
}

func key(dst []byte, name string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

func number(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(key(dst, name), n, 10)
}

// joined is the text whose digest stands for a whole list.
func joined(values []string) []byte {
	var all []byte
	for _, v := range values {
		all = append(append(all, v...), 0)
	}
	return all
}

// word appends a member whose value is ours: escaped, but neither redacted nor
// cut.
func word(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(key(dst, name), '"')
	dst = escape.Append(dst, value)
	return append(dst, '"')
}
