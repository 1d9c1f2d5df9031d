package audit

import (
	"crypto/sha256"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/escape"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/jsonscan"
	"github.com/clawai/clawai/internal/redact"
)

// format is the version of the line format, named in every segment's first line.
const format = 1

// encoder writes events as lines. The order of members is fixed.
type encoder struct {
	*redact.Redactor
	session  string
	unquoted []byte // scratch space
}

// event appends ev as a line without its closing members. Texts that are words
// of ours are escaped; all others are redacted too.
func (e *encoder) event(dst []byte, c *chain, ev *event.Event) []byte {
	dst = e.begin(dst, c, ev.Time, ev.Kind)
	dst = e.member(dst, "server", ev.Server)
	dst = e.member(dst, "server_guess", ev.ServerGuess)
	dst = word(dst, "direction", ev.Direction)
	dst = e.member(dst, "method", ev.Method)
	dst = e.id(dst, ev.ID)
	dst = word(dst, "subject", ev.Subject)
	dst = e.list(dst, "names", ev.Names)
	dst = e.args(dst, ev.Args)
	if len(ev.Extra) > 0 {
		dst, _ = e.AppendJSON(key(dst, "extra"), ev.Extra) // the digest of the frame says what was left out
	}
	if ev.Digest != [sha256.Size]byte{} {
		dst = append(dst, `,"digest":"`...)
		dst = append(e.AppendDigest(dst, &ev.Digest), '"')
	}
	dst = number(dst, "bytes", int64(ev.Bytes))
	dst = word(dst, "policy", ev.Policy)
	dst = word(dst, "decision", ev.Decision)
	dst = word(dst, "stage", ev.Stage)
	dst = word(dst, "code", ev.Code)
	dst = e.member(dst, "reason", ev.Reason)
	dst = word(dst, "rule_file", ev.RuleFile)
	dst = number(dst, "rule_line", int64(ev.RuleLine))
	dst = e.member(dst, "rule", ev.RuleText)
	dst = word(dst, "ref", ev.Ref)
	dst = word(dst, "rung", ev.Channel)
	dst = word(dst, "answer", ev.Answer)
	dst = e.member(dst, "by", ev.By)
	dst = e.member(dst, "words", ev.Words)
	dst = number(dst, "waited_ms", ev.Waited.Milliseconds())
	if ev.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	dst = e.list(dst, "declared", ev.Declared)
	return e.member(dst, "detail", ev.Detail)
}

// begin appends the members that every line of a segment has.
func (e *encoder) begin(dst []byte, c *chain, at time.Time, kind event.Kind) []byte {
	seq := c.next
	dst = c.open(dst, at)
	dst = append(dst, `,"session":"`...)
	dst = append(dst, e.session...)
	dst = append(dst, `","record":"`...)
	dst = e.record(dst, seq)
	dst = append(dst, `","kind":"`...)
	dst = escape.Append(dst, []byte(kind))
	return append(dst, '"')
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
	dst = e.begin(dst, c, at, event.Segment)
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
	dst = e.begin(dst, c, at, event.Recovery)
	dst = f.append(dst)
	return c.seal(dst, start)
}

func (e *encoder) member(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = key(dst, name)
	dst = append(dst, '"')
	dst = e.AppendString(dst, value)
	return append(dst, '"')
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

// list appends names. Beyond the cap one last element says how many there are
// and, with their digest, which.
func (e *encoder) list(dst []byte, name string, values []string) []byte {
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
		dst = e.AppendString(dst, v)
		dst = append(dst, '"')
	}
	return append(dst, ']')
}

// args appends the arguments. When members were left out, their whole length
// and digest follow.
func (e *encoder) args(dst, args []byte) []byte {
	if len(args) == 0 {
		return dst
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
