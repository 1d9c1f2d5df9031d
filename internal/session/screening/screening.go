// Package screening inspects messages for a gate. internal/mcp/reply makes findings, and screening
// asks the rules about them. Then internal/mcp/reply makes the changes that the rules demand.
package screening

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unsafe"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/session/carried"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// inspector is the gate.Inspector of one session.
type inspector struct {
	server string                     // name in our marks for a server that has no name in rules
	at     func(server string) string // returns the URL of a server by its name in rules; may be nil
	pins   *pinning.ClientPins        // nil if approvals are not kept
	mu     sync.Mutex                 // guards same and promises
	same   *reply.Numbers             // gives equal withheld values the same number in our marks

	promises promises
	searches searches
}

// New returns the Inspector of one session. If rules have no name for a server, our marks use the
// name in the parameter server. The parameter at is a function, or nil. It takes the name that
// rules use for a server, and returns the server's URL, or "" if the server has no URL. The
// parameter pins compares lists with the approved entries; it is nil if approvals are not kept.
func New(server string, at func(string) string, pins *pinning.ClientPins) gate.Inspector {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &inspector{server: server, at: at, pins: pins, same: reply.NewNumbers(func(value string) (sum [32]byte) {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(value))
		h.Sum(sum[:0])
		return sum
	})}
}

// frameLimits returns the limits that every transport has for frames. It also allows batches.
func frameLimits() frame.Limits {
	l := frame.DefaultLimits()
	l.AllowBatch = true
	return l
}

// Inspect inspects a reply, or each reply of a batch.
func (in *inspector) Inspect(x *gate.Exchange, p gate.Policy) (gate.Inspection, error) {
	if x.Unread {
		return judgeUnread(x, p), nil
	}
	if raw := x.OriginalRaw(); x.Frame.Kind == frame.Response && isSame(x.Frame.Raw, raw) {
		return in.inspectMessage(&x.Frame, x, p)
	}
	return in.inspectLine(x, p)
}

// judgeUnread judges an upload that clawai could not read. The upload may hold every kind that a rule
// looks for, and may be the result of any call.
func judgeUnread(x *gate.Exchange, p gate.Policy) (i gate.Inspection) {
	kinds, _ := p.Screens(policy.OnUpload)
	i.Decision = p.DecideReply(policy.OnUpload, answeredCalls(x, p), append(slices.Clone(kinds), string(inspect.Unscreened)))
	if alters := i.Decision.Alters; len(alters) > 0 {
		i.Decision, i.Why = policy.Decision{Rule: alters[0].Rule}, "what cannot be read cannot be taken out"
	}
	return i
}

// isSame reports whether two texts are the same bytes in memory.
func isSame(a, b []byte) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// inspectLine parses the received bytes as a frame, and inspects the frame.
func (in *inspector) inspectLine(x *gate.Exchange, p gate.Policy) (gate.Inspection, error) {
	var f frame.Frame
	if err := f.Parse(x.OriginalRaw(), frameLimits()); err != nil {
		return gate.Inspection{}, err
	}
	if f.Kind != frame.Batch {
		return in.inspectMessage(&f, x, p)
	}
	if len(f.Elements) != len(x.Replies) {
		return gate.Inspection{}, errors.New("an array of which not every part answers a call")
	}
	all := gate.Inspection{Decision: policy.Decision{Action: policy.Allow}}
	with, altered := make([][]byte, len(f.Elements)), false
	for i := range f.Elements {
		one, err := in.inspectMessage(&f.Elements[i], x.Replies[i], p)
		if err != nil {
			return gate.Inspection{}, err
		}
		with[i], altered = one.Sent, altered || one.Sent != nil
		mergeInspection(&all, &one)
	}
	if all.Decision.Action == policy.Deny || !altered {
		return all, nil
	}
	var err error
	all.Sent, err = reply.ReplaceMessages(&f, with, frameLimits())
	return all, err
}

// mergeInspection adds the inspection of one message to the inspection of its whole batch. The
// strictest decision wins.
func mergeInspection(all, one *gate.Inspection) {
	alters := append(all.Decision.Alters, one.Decision.Alters...)
	if one.Decision.Action < all.Decision.Action || all.Decision.Rule == nil && one.Decision.Action == all.Decision.Action {
		all.Decision = one.Decision
	}
	if all.Why == "" {
		all.Why = one.Why
	}
	all.Decision.Alters = alters
	all.Found = append(all.Found, one.Found...)
	all.Altered = append(all.Altered, one.Altered...)
}

func (in *inspector) inspectMessage(f *frame.Frame, x *gate.Exchange, p gate.Policy) (gate.Inspection, error) {
	on, method := policy.OnReply, x.Event.Method
	switch {
	case x.Upload:
		on = policy.OnUpload
	case reply.IsList(method) && f.Result != nil:
		on = policy.OnList
	}
	pass := gate.Inspection{Decision: policy.Decision{Action: policy.Allow}}
	_, ruled := p.Screens(on)
	introduces := f.Result != nil && (method == "initialize" || method == "server/discover") && p.Pin(x.Event.Server) > policy.PinOff
	claims := x.Event.Direction != clientSays && reply.HasClaim(f)
	if !ruled && !introduces && !claims {
		in.learnPromises(f, x, p, &pass)
		return pass, nil
	}
	l := looks.Get().(*look)
	l.change = reply.Change{Server: cmp.Or(x.Event.Server, in.server), Call: x.Event.Ref, Claims: claims}
	i, err := in.judgeMessage(f, x, p, on, introduces, l)
	*l = look{}
	looks.Put(l)
	if err == nil && !x.Upload {
		in.learnPromises(f, x, p, &i)
	}
	return i, err
}

// look is the memory for the inspection of one message. It is reused, because new memory for each
// message would cost allocations. The result of an inspection does not refer to this memory.
type look struct {
	message reply.Message
	change  reply.Change
}

var looks = sync.Pool{New: func() any { return new(look) }}

// judgeMessage inspects a message for at least one of three reasons:
//   - Rules judge the message.
//   - The message has a server's instructions, which must be compared with the approved ones
//     (introduces).
//   - The message has members of _meta that only clawai may write (l.change.Claims).
func (in *inspector) judgeMessage(f *frame.Frame, x *gate.Exchange, p gate.Policy, on policy.On, introduces bool, l *look) (gate.Inspection, error) {
	m, c := &l.message, &l.change
	method := x.Event.Method
	search := in.searches.forRules(on, p)
	if search.err != nil {
		return gate.Inspection{}, search.err
	}
	wanted := search.wanted
	if wanted.Link && in.at != nil {
		wanted.Server = in.at(x.Event.Server)
	}
	err := m.InspectFrame(f, method, wanted)
	if err != nil {
		return gate.Inspection{}, err
	}
	if on == policy.OnReply && f.Result != nil {
		c.Output = in.holdToPromise(m, wanted, x, p)
	}
	i := gate.Inspection{Found: carried.SumFindings(m.Findings)}
	i.Looked = search.kinds
	if doubted := m.DoubtfulKinds(); len(doubted) > 0 {
		i.Looked = slices.DeleteFunc(slices.Clone(i.Looked), func(kind string) bool { return slices.Contains(doubted, kind) })
	}
	if on == policy.OnList || introduces {
		if m, err = in.applyPins(m, c, x, p, &i, wanted); err != nil {
			return i, err
		}
	}
	if on == policy.OnList {
		if !m.ReachedEnd() {
			return i, errors.New("one page of the list is longer than 4 MiB, and rules look for something in all of it: the server must list in shorter pages, or the rules look for nothing in this list")
		}
		filterEntries(m, c, x, p, &i)
	} else {
		i.Decision = p.DecideReply(on, answeredCalls(x, p), m.JudgedKinds())
		if x.Event.Direction == clientSays { // the server reads the answer, not a model: only redactions apply
			i.Decision.Alters = slices.DeleteFunc(i.Decision.Alters, func(a policy.Alteration) bool { return a.Rule.Action != policy.Redact })
		}
		i.Altered = append(i.Altered, m.PlanChange(c, replyAlterations(i.Decision.Alters), fenceID)...)
	}
	if c.Claims {
		i.Altered = append(i.Altered, "leave out clawai's own members of _meta")
	}
	if i.Decision.Action == policy.Deny || len(i.Altered) == 0 {
		return i, nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	i.Sent, err = m.AlterMessage(c, in.same, frameLimits())
	if err != nil {
		i.Why, i.Altered = err.Error(), nil
		var rule *policy.Rule
		if len(i.Decision.Alters) > 0 {
			rule = i.Decision.Alters[0].Rule
		}
		i.Decision = policy.Decision{Rule: rule}
	}
	return i, nil
}

// clientSays is the value of Event.Direction for a message from the client to a server.
const clientSays = "client"

// answeredCalls returns the calls that a message answers. For the answer to a method that no rule
// governs, it returns a call with only the server and the method. For a message that answers no
// call, it returns a call with only the server.
func answeredCalls(x *gate.Exchange, p gate.Policy) []policy.Call {
	cs := x.Answered
	switch {
	case len(cs) > 0 && !p.Timed():
		return cs
	case len(cs) > 0:
		cs = slices.Clone(cs)
	case x.Unasked:
		cs = []policy.Call{{Server: x.Event.Server}}
	default:
		cs = []policy.Call{{Server: x.Event.Server, Method: x.Event.Method, Subject: policy.MethodSubject, Names: []string{x.Event.Method}}}
	}
	if p.Timed() {
		for i := range cs {
			cs[i].At = time.Now()
		}
	}
	return cs
}

// replyAlterations returns alterations in the form of internal/mcp/reply.
func replyAlterations(alters []policy.Alteration) (all []reply.Alteration) {
	for _, a := range alters {
		all = append(all, reply.Alteration{How: a.Rule.Action.String(), Kind: a.Kind})
	}
	return all
}

// fenceID returns a random id. The author of the fenced text cannot guess the id.
func fenceID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// filterEntries plans the changes of a list: it leaves out entries that rules deny or ask about,
// and redacts findings in the entries that remain.
func filterEntries(m *reply.Message, c *reply.Change, x *gate.Exchange, p gate.Policy, i *gate.Inspection) {
	d := &i.Decision
	d.Action = policy.Allow
	names, _ := m.EntryNames()
	within := make(map[int][]int, len(names)) // indexes of the findings in each entry, by the entry's index; index -1 means outside the entries
	for f := range m.Findings {
		within[m.Findings[f].Entry] = append(within[m.Findings[f].Entry], f)
	}
	if c.Redact = within[-1]; len(c.Redact) > 0 { // no call depends on a text outside the entries
		i.Altered = append(i.Altered, "redact beside the entries")
	}
	held := c.LeftOut
	for n, name := range names {
		if _, out := slices.BinarySearch(held, n); out {
			continue
		}
		one := p.DecideReply(policy.OnList, []policy.Call{entryCall(x, name)}, kindsOf(m, within[n]))
		redact, out := m.PlanEntry(within[n], replyAlterations(one.Alters))
		switch {
		case out || one.Action != policy.Allow:
			c.LeftOut = append(c.LeftOut, n)
			i.Altered = append(i.Altered, "leave out "+name)
			rule := one.Rule
			if rule == nil && len(one.Alters) > 0 {
				rule = one.Alters[0].Rule
			}
			d.Alters = append(d.Alters, policy.Alteration{Rule: rule})
		case len(redact) > 0:
			c.Redact = append(c.Redact, redact...)
			i.Altered = append(i.Altered, "redact "+name)
			d.Alters = append(d.Alters, one.Alters...)
		}
	}
	slices.Sort(c.Redact)
	slices.Sort(c.LeftOut)
}

func kindsOf(m *reply.Message, findings []int) (kinds []string) {
	for _, i := range findings {
		for _, k := range []string{m.Findings[i].Kind, m.Findings[i].Of} {
			if k != "" && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// entryCall returns the call that would use an entry of a list.
func entryCall(x *gate.Exchange, name string) policy.Call {
	c := policy.Call{Server: x.Event.Server, Names: []string{name}}
	switch x.Event.Method {
	case "tools/list":
		c.Method, c.Subject = "tools/call", policy.ToolSubject
	case "prompts/list":
		c.Method, c.Subject = "prompts/get", policy.PromptSubject
	default:
		c.Method, c.Subject = "resources/read", policy.ResourceSubject
	}
	return c
}

// Alter implements gate.Inspector: it removes findings from a server's request to the client.
func (in *inspector) Alter(x *gate.Exchange, alters []policy.Alteration, p gate.Policy) ([]byte, []string, error) {
	var f frame.Frame
	if err := f.Parse(x.OriginalRaw(), frameLimits()); err != nil {
		return nil, nil, err
	}
	kinds := []string{reply.Fence}
	for _, a := range alters {
		kinds = append(kinds, a.Kind)
	}
	wanted, err := carried.WantedKinds(kinds, p)
	if err != nil {
		return nil, nil, err
	}
	m, err := reply.InspectMessage(&f, x.Event.Method, wanted)
	if err != nil {
		return nil, nil, err
	}
	c := reply.Change{Server: cmp.Or(x.Event.Server, in.server)}
	words := m.PlanChange(&c, replyAlterations(alters), fenceID)
	if len(words) == 0 {
		return nil, nil, errors.New("a rule alters something, and nothing was found to alter")
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	sent, err := m.AlterMessage(&c, in.same, frameLimits())
	return sent, words, err
}

// Carries implements gate.Inspector. It searches the arguments and other data of a call. In a
// server's request it searches the texts.
func (in *inspector) Carries(c *policy.Call, p gate.Policy) ([]gate.Found, error) {
	search := in.searches.forRules(policy.OnCall, p)
	if search.err != nil {
		return nil, search.err
	}
	wanted := search.wanted
	if wanted.Marker {
		wanted.Shown = in.shownEscapes()
	}
	all, err := carried.FindCarried(c, wanted)
	if err != nil {
		return nil, err
	}
	if wanted.Schema {
		all = append(all, in.argumentFindings(c, p)...)
	}
	sum := carried.SumFindings(all)
	for i := range all {
		if f := &all[i]; f.Kind == reply.Marker && slices.Contains(wanted.Shown, f.What) {
			sum[0].Advice = f.What + ", as which a character was shown that is not drawn: what was read has the character itself. Write " + jsonEscape(f.What) + " in JSON, or leave that part as it is"
			break
		}
	}
	return sum, nil
}

// shownEscapes returns the escapes, such as <U+200B>, that replaced characters in the messages of
// this session.
func (in *inspector) shownEscapes() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.same.ShownEscapes()
}

// jsonEscape returns the JSON form of an escape such as <U+200B>.
func jsonEscape(escape string) string {
	n, _ := strconv.ParseInt(strings.Trim(escape, "<U+>"), 16, 32) // cannot fail: clawai wrote the escape
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune{rune(n)}) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return b.String()
}
