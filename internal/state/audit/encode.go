package audit

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// format is the version of the line format, named in every segment's first line.
const format = 1

// encoder writes events as lines. The order of members is fixed.
type encoder struct {
	*redact.Redactor
	session  string
	unquoted []byte // scratch space
	written  []byte // the next event's arguments, if Log.longArgs has already encoded them; otherwise nil
	caches   [2]lineCache
	last     *lineCache // the cache in use: caches[1] for events with a Ref, caches[0] for other events
}

// lineCache caches members of the last line that are often the same in the next line.
type lineCache struct {
	method, subject, name cachedText
	facts                 []cachedText // one text for each of policy.TextFacts
	sender                cachedGroup[sender]
	verdict               cachedGroup[verdict]
	assurances            cachedGroup[policy.Assurances]
	names                 cachedGroup[identityNames]
	looked                list
}

// list caches a list of our own words: the words, and the member as it was written.
type list struct {
	values []string
	text   []byte
}

// cachedGroup caches neighbouring members that change together: their values, and the text as it
// was written. The values must not point into a message, because the cache would keep the message
// in memory.
type cachedGroup[V comparable] struct {
	values V
	text   []byte
}

type identityNames struct{ who, roles, groups policy.NameSet }

type sender struct{ server, guess, invocation, direction string }

type verdict struct {
	policy, decision, stage, code, reason, ruleFile string
	ruleLine                                        int
	rule                                            string
}

// cachedText caches one member: its value, and the text as it was written.
type cachedText struct{ value, text []byte }

// shortText is the maximum size, in bytes, of a value or a group of members that is cached for the
// next line.
const shortText = 1 << 10

// appendEvent appends ev as a line without its last members, which sealLine appends.
func (e *encoder) appendEvent(dst []byte, c *chain, ev *event.Event) []byte {
	e.last = &e.caches[0]
	if ev.Ref != "" {
		e.last = &e.caches[1]
	}
	dst = e.appendCommon(dst, c, ev.Time, ev.Kind, ev.Record)
	dst = appendCached(dst, &e.last.sender, sender{ev.Server, ev.ServerGuess, ev.Invocation, ev.Direction}, e.appendSender)
	dst = e.appendTextMember(dst, &e.last.method, `,"method":"`, ev.Method, theirs)
	dst = e.appendID(dst, ev.ID)
	dst = e.appendTextMember(dst, &e.last.subject, `,"subject":"`, ev.Subject, ours)
	if len(ev.Names) == 1 && ev.Names[0] != "" {
		dst = append(e.appendTextMember(dst, &e.last.name, `,"names":["`, ev.Names[0], theirs), ']')
	} else {
		dst = e.appendList(dst, "names", ev.Names, 0)
	}
	dst = e.appendArgs(dst, ev.Args)
	dst = e.appendFacts(dst, &ev.Facts)
	if ev.Elsewhere {
		dst = append(dst, `,"elsewhere":true`...)
	}
	dst = appendCached(dst, &e.last.assurances, ev.Assurances, e.appendAssurances)
	dst = appendCached(dst, &e.last.names, identityNames{ev.Who, ev.Roles, ev.Groups}, appendIdentityNames)
	if len(ev.Extra) > 0 {
		dst, _ = e.AppendJSON(appendKey(dst, "extra"), ev.Extra) // a cut is not reported, because the digest of the message covers the whole text
	}
	dst = appendWord(dst, "traceparent", ev.Traceparent)
	if ev.Digest != [sha256.Size]byte{} {
		dst = append(dst, `,"digest":"`...)
		dst = append(e.AppendDigest(dst, &ev.Digest), '"')
	}
	dst = appendNumber(dst, "bytes", int64(ev.Bytes))
	dst = appendNumber(dst, "folded", int64(ev.Folded))
	if ev.Sent != [sha256.Size]byte{} {
		dst = append(dst, `,"sent":"`...)
		dst = append(e.AppendDigest(dst, &ev.Sent), '"')
	}
	dst = e.appendList(dst, "finds", ev.Finds, 2)
	dst = e.appendLooked(dst, ev.Looked)
	dst = e.appendList(dst, "altered", ev.Altered, 0)
	dst = appendWord(dst, "release", ev.Release)
	dst = appendCached(dst, &e.last.verdict, verdict{ev.Policy, ev.Decision, ev.Stage, ev.Code, ev.Reason, ev.RuleFile, ev.RuleLine, ev.RuleText}, e.appendVerdict)
	if ev.Labels != 0 {
		dst = e.appendList(dst, "labels", ev.Labels.LabelWords(), 1)
	}
	dst = appendWord(dst, "ref", ev.Ref)
	if ev.Waited != 0 || ev.Channel != "" || ev.Answer != "" || ev.By != "" || ev.Words != "" { // few events have any of these
		dst = e.appendAnswer(dst, ev)
	}
	if ev.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	dst = e.appendList(dst, "declared", ev.Declared, 0)
	dst = e.appendMember(dst, "client", ev.Client)
	return e.appendMember(dst, "detail", ev.Detail)
}

// appendAnswer appends what is known of a person's answer.
func (e *encoder) appendAnswer(dst []byte, ev *event.Event) []byte {
	dst = appendWord(dst, "rung", ev.Channel)
	dst = appendWord(dst, "answer", ev.Answer)
	dst = e.appendMember(dst, "by", ev.By)
	dst = e.appendMember(dst, "words", ev.Words)
	return appendNumber(dst, "waited_ms", ev.Waited.Milliseconds())
}

func (e *encoder) appendSender(dst []byte, s sender) []byte {
	dst = e.appendMember(dst, "server", s.server)
	dst = e.appendMember(dst, "server_guess", s.guess)
	dst = appendWord(dst, "invocation", s.invocation)
	return appendWord(dst, "direction", s.direction)
}

// factKeys holds, for each fact that is a plain text, the text with which its member begins.
var factKeys = func() (keys []string) {
	for _, f := range policy.TextFacts() {
		keys = append(keys, `,"`+f.Name+`":"`)
	}
	return keys
}()

// appendFacts appends the facts that are plain texts.
func (e *encoder) appendFacts(dst []byte, facts *policy.Facts) []byte {
	if e.last.facts == nil {
		e.last.facts = make([]cachedText, len(factKeys))
	}
	for i, f := range policy.TextFacts() {
		dst = e.appendTextMember(dst, &e.last.facts[i], factKeys[i], *f.Field(facts), theirs)
	}
	return dst
}

func (e *encoder) appendAssurances(dst []byte, a policy.Assurances) []byte {
	return e.appendList(dst, "annotations", a.AssuranceWords(), 1)
}

// appendIdentityNames appends the caller's known names, roles and groups. A set that is known to be
// empty is appended too. The texts are not redacted and not cut, because the owner of the centre
// has named them and NameSet limits their length.
func appendIdentityNames(dst []byte, names identityNames) []byte {
	for _, member := range []struct {
		name string
		set  policy.NameSet
	}{{"who", names.who}, {"roles", names.roles}, {"groups", names.groups}} {
		if !member.set.IsKnown() {
			continue
		}
		dst = append(appendKey(dst, member.name), '[')
		first := true
		for name := range member.set.All() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(dst, '"')
			dst = append(escape.AppendEscaped(dst, name), '"')
		}
		dst = append(dst, ']')
	}
	return dst
}

// appendLooked appends the kinds that were searched for. They rarely change, so the text is cached.
// The cache keeps the strings, but not the caller's slice, because the strings belong to the rules.
func (e *encoder) appendLooked(dst []byte, kinds []string) []byte {
	last := &e.last.looked
	if slices.Equal(kinds, last.values) {
		return append(dst, last.text...)
	}
	start := len(dst)
	dst = e.appendList(dst, "looked", kinds, 1)
	if len(dst)-start <= shortText {
		last.values, last.text = append(last.values[:0], kinds...), append(last.text[:0], dst[start:]...)
	}
	return dst
}

func (e *encoder) appendVerdict(dst []byte, v verdict) []byte {
	dst = appendWord(dst, "policy", v.policy)
	dst = appendWord(dst, "decision", v.decision)
	dst = appendWord(dst, "stage", v.stage)
	dst = appendWord(dst, "code", v.code)
	dst = e.appendMember(dst, "reason", v.reason)
	dst = appendWord(dst, "rule_file", v.ruleFile)
	dst = appendNumber(dst, "rule_line", int64(v.ruleLine))
	return e.appendMember(dst, "rule", v.rule)
}

// appendCached appends members. If their values equal the values that it has appended before, it
// copies the earlier text.
func appendCached[V comparable](dst []byte, last *cachedGroup[V], values V, write func([]byte, V) []byte) []byte {
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

// appendCommon appends the members that every line of a segment has; id is the record's id.
func (e *encoder) appendCommon(dst []byte, c *chain, at time.Time, kind event.Kind, id string) []byte {
	dst = c.beginLine(dst, at)
	dst = append(dst, `,"session":"`...)
	dst = append(dst, e.session...)
	dst = append(dst, `","record":"`...)
	dst = append(append(dst, id...), `","kind":"`...)
	return append(escape.AppendEscaped(dst, string(kind)), '"')
}

// appendRecordID appends the record id of line seq. A denial quotes this id.
func (e *encoder) appendRecordID(dst []byte, seq uint64) []byte {
	dst = append(dst, e.session...)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, seq, 10)
}

// appendHeader appends the first line of a segment. The line contains the name of its own file, so
// that Verify notices if somebody swaps two files.
func (e *encoder) appendHeader(dst []byte, c *chain, at time.Time, file string) []byte {
	start := len(dst)
	dst = e.appendCommon(dst, c, at, event.Segment, string(e.appendRecordID(nil, c.next)))
	dst = appendNumber(dst, "format", format)
	dst = append(dst, `,"file":"`...)
	dst = append(dst, file...)
	dst = append(dst, `","redaction":"`...)
	dst = append(dst, e.Mode().String()...)
	return c.sealLine(append(dst, '"'), start)
}

// appendRecovery appends the line that reports a failed write: the fragment that the write left in
// the file, if any, and the number of refused records.
func (e *encoder) appendRecovery(dst []byte, c *chain, at time.Time, f *failure) []byte {
	start := len(dst)
	dst = e.appendCommon(dst, c, at, event.Recovery, string(e.appendRecordID(nil, c.next)))
	dst = f.appendFailure(dst)
	return c.sealLine(dst, start)
}

// The origin of a text, for appendTextMember. Our own texts are escaped, but not redacted and not
// cut.
const ours, theirs = true, false

// appendTextMember appends a member unless its value is empty. If the value equals the value that
// it has appended before, it copies the earlier text. key is the beginning of the member, up to the
// quote before its value.
func (e *encoder) appendTextMember(dst []byte, last *cachedText, key, value string, our bool) []byte {
	if value == "" {
		return dst
	}
	if string(last.value) == value {
		return append(dst, last.text...)
	}
	start := len(dst)
	if dst = append(dst, key...); our {
		dst = escape.AppendEscaped(dst, value)
	} else {
		dst = e.AppendString(dst, value)
	}
	dst = append(dst, '"')
	if len(value) <= shortText {
		last.value, last.text = append(last.value[:0], value...), append(last.text[:0], dst[start:]...)
	}
	return dst
}

func (e *encoder) appendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(appendKey(dst, name), '"')
	return append(e.AppendString(dst, value), '"')
}

// appendID appends a JSON-RPC id token. A number and a string stay different.
func (e *encoder) appendID(dst, token []byte) []byte {
	if len(token) == 0 {
		return dst
	}
	dst = appendKey(dst, "id")
	if len(token) <= 64 && (jsonscan.IsNumber(token) || string(token) == "null") {
		return append(dst, token...)
	}
	if n := len(token); n >= 2 && token[0] == '"' && token[n-1] == '"' {
		e.unquoted = escape.UndoEscapes(e.unquoted[:0], token[1:n-1])
		token = e.unquoted
	}
	dst = append(dst, '"')
	dst = e.AppendText(dst, token, token)
	return append(dst, '"')
}

// appendList appends texts. The parameter own is the number of words at the beginning of each text
// that are ours. These words must not be redacted, because a kind of finding can look like a name
// with a secret value. If the list is too long, its last element gives the number of texts and a
// digest of all of them.
func (e *encoder) appendList(dst []byte, name string, values []string, own int) []byte {
	if len(values) == 0 {
		return dst
	}
	dst = append(appendKey(dst, name), '[')
	full := len(dst) + redact.MaxBlock
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		if len(dst) > full {
			dst = e.AppendCut(dst, len(values), joinValues(values))
			dst = append(dst, '"')
			break
		}
		plain := wordsLength(v, own)
		dst = e.AppendString(escape.AppendEscaped(dst, v[:plain]), v[plain:])
		dst = append(dst, '"')
	}
	return append(dst, ']')
}

// wordsLength returns the length of the first n words of a text, with the blank after each.
func wordsLength(s string, n int) int {
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

// appendArgs appends the arguments. If parts are left out, it also appends the length and the
// digest of the full arguments.
func (e *encoder) appendArgs(dst, args []byte) []byte {
	if len(args) == 0 {
		return dst
	}
	if e.written != nil {
		return append(dst, e.written...)
	}
	dst, cut := e.AppendJSON(appendKey(dst, "args"), args)
	if !cut {
		return dst
	}
	sum := sha256.Sum256(args)
	dst = appendNumber(dst, "args_bytes", int64(len(args)))
	dst = append(dst, `,"args_digest":"`...)
	return append(e.AppendDigest(dst, &sum), '"')
}

func appendKey(dst []byte, name string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

func appendNumber(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(appendKey(dst, name), n, 10)
}

// joinValues returns the text whose digest stands for a whole list.
func joinValues(values []string) []byte {
	var all []byte
	for _, v := range values {
		all = append(append(all, v...), 0)
	}
	return all
}

// appendWord appends a member whose value is one of our own words. The value is escaped, but not
// redacted and not cut.
func appendWord(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(appendKey(dst, name), '"')
	dst = escape.AppendEscaped(dst, value)
	return append(dst, '"')
}
