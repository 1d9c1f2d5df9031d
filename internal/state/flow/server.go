package flow

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// ServerLabels implements gate.Labels for one server of a session. It is safe for concurrent use.
type ServerLabels struct {
	session *Session
	name    string        // the server's name in rules; "" if the server has no such name
	shown   string        // the server's name for people
	known   func() *Known // called only when needed, because the function reads a table
	policy  atomic.Pointer[policy.Policy]

	joined atomic.Pointer[joined]
	named  sync.Map // labels of the files that calls have named, by server and tool
}

// joined is the session that the last message named, with the generation of the labels at that
// time.
type joined struct {
	id  string
	gen uint64
}

var _ gate.Labels = (*ServerLabels)(nil)

// NewServer returns the labels of one server. The parameter shown is the server's name for people
// if it has no name in rules.
func (s *Session) NewServer(name, shown string, known func() *Known, p *policy.Policy) *ServerLabels {
	one := &ServerLabels{session: s, name: name, shown: shown, known: sync.OnceValue(known)}
	if name != "" {
		one.shown = name
	}
	if one.shown == "" {
		one.shown = "a server without a name"
	}
	one.policy.Store(p)
	return one
}

// SetPolicy replaces the policy from now on.
func (s *ServerLabels) SetPolicy(p *policy.Policy) { s.policy.Store(p) }

// usesLabels reports whether the policy has settings or conditions about labels.
func usesLabels(p *policy.Policy) bool { return p.FlowLevel() != policy.Off || p.Labelled() }

// Add writes the labels of a message into the journals, and marks its texts so that they are
// recognized later.
func (s *ServerLabels) Add(all []gate.Label, message []byte) error {
	return s.keepLabels(all, message, s.policy.Load().FlowLevel() != policy.Off)
}

func (s *ServerLabels) keepLabels(all []gate.Label, message []byte, known bool) error {
	now := time.Now()
	seen := make([]Seen, len(all))
	for i, l := range all {
		seen[i] = Seen{l.Kind, l.Source, now}
	}
	for {
		gen := s.session.gen.Load()
		err := s.session.Add(seen)
		if err == nil {
			err = s.session.RememberTexts(all, message, known)
		}
		if err == nil {
			_, err = s.session.Seen()
		}
		if err != nil {
			return fmt.Errorf("what the session has seen cannot be kept: %w", err)
		}
		if s.session.gen.Load() == gen { // if a clear came meanwhile, repeat in the new journal
			return nil
		}
	}
}

// Allowed stores that a person has allowed calls. The labels were the reason for the question.
func (s *ServerLabels) Allowed(cs []policy.Call) {
	p := s.policy.Load()
	for i := range cs {
		_, decides, weighs := s.traitsOf(p, &cs[i])
		_ = s.session.allowCall(s.grantServer(&cs[i]), decides, weighs, &cs[i]) // an error is ignored: the same call then leads to a question again
	}
}

// Seen returns what the session has seen, for rules. If the labels cannot be read, it returns every
// label.
func (s *ServerLabels) Seen(cs []policy.Call) policy.Seen {
	seen, err := s.readLabels(cs)
	if err != nil {
		seen, _ = policy.SeenOf(policy.SeenWords())
	}
	return seen
}

// readLabels returns what the session has seen, including the sessions that the calls name.
func (s *ServerLabels) readLabels(cs []policy.Call) (policy.Seen, error) {
	for {
		gen := s.session.gen.Load()
		if err := s.joinSessions(cs); err != nil {
			return 0, err
		}
		seen, err := s.session.Seen()
		if err != nil || s.session.gen.Load() == gen {
			return seen, err
		}
	}
}

// silent holds the methods whose messages from a server add no labels. Such messages are empty, or
// hold only names of tools and similar names that are known from the start. A list of resources is
// silent only if it is empty.
var silent = map[string]bool{
	"initialize": true, "server/discover": true, "ping": true, "logging/setLevel": true,
	"resources/subscribe": true, "resources/unsubscribe": true,
	"tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true,
	"notifications/subscriptions/acknowledged": true,
	"notifications/tools/list_changed":         true, "notifications/prompts/list_changed": true, "notifications/resources/list_changed": true,
}

// Brought returns the labels that a message of the server adds. These are the labels of the calls
// that the message answers, or the labels of the server if the message answers no call. The labels
// that the server itself has put into the message come in addition.
func (s *ServerLabels) Brought(x *gate.Exchange) (all []gate.Label) {
	p := s.policy.Load()
	if !usesLabels(p) {
		return nil
	}
	if !silent[x.Event.Method] || listsResources(x) {
		all = s.assumedLabels(p, x)
	}
	if kinds := saidLabels(x.Raw); len(kinds) > 0 {
		c := &policy.Call{Server: x.Event.Server}
		if len(x.Answered) > 0 {
			c = &x.Answered[0]
		}
		all = addSaid(all, kinds, s.sourceName(c))
	}
	return all
}

// assumedLabels returns the labels that a message gets because of its server and its calls.
func (s *ServerLabels) assumedLabels(p *policy.Policy, x *gate.Exchange) (all []gate.Label) {
	for _, one := range x.Replies { // one exchange for each reply in a JSON-RPC batch
		all = append(all, s.Brought(one)...)
	}
	switch {
	case len(x.Replies) > 0:
	case len(x.Answered) == 0:
		c := &policy.Call{Server: x.Event.Server}
		t, _, _ := s.traitsOf(p, c)
		if listsResources(x) {
			c.Subject = policy.ResourceSubject
			t, _, _ = s.traitsOf(p, c)
		} else { // any tool of the server may have sent the message
			server, _ := s.callServer(c)
			t = t.Join(p.TrustAny(server))
		}
		for _, kind := range labelKinds(t) {
			all = append(all, gate.Label{Kind: kind, Source: s.sourceName(c)})
		}
	}
	for i := range x.Answered {
		all = append(all, s.callLabels(p, &x.Answered[i])...)
		all = append(all, s.repliedLabels(p, &x.Answered[i], x.Raw)...)
	}
	return all
}

// listsResources reports whether a message is a list of resources with at least one entry. Others
// may have written the names and descriptions of such entries, for example of files, pages or
// issues.
func listsResources(x *gate.Exchange) bool {
	if x.Event.Method != "resources/list" {
		return false
	}
	for range jsonscan.ValueOf(x.Raw).Member("result").Member("resources").Elements() {
		return true
	}
	return false
}

func (s *ServerLabels) callLabels(p *policy.Policy, c *policy.Call) (all []gate.Label) {
	t, _, _ := s.traitsOf(p, c)
	if c.Subject == policy.MethodSubject && strings.HasPrefix(c.Method, "tasks/") { // the answer may hold data of any tool of the server
		server, _ := s.callServer(c)
		t = t.Join(p.TrustAny(server))
	}
	for _, kind := range labelKinds(t) {
		all = append(all, gate.Label{Kind: kind, Source: s.sourceName(c)})
	}
	return all
}

// Called adds the labels of the calls' answers before the calls are made. It is for calls whose
// answers clawai does not see, such as calls of an agent's own tools. The texts of such answers are
// not marked.
func (s *ServerLabels) Called(cs []policy.Call) error {
	p := s.policy.Load()
	if !usesLabels(p) {
		return nil
	}
	if err := s.joinSessions(cs); err != nil {
		return err
	}
	for i := range cs {
		all := s.callLabels(p, &cs[i])
		if len(all) == 0 {
			continue
		}
		if err := s.keepLabels(all, nil, false); err != nil {
			return err
		}
	}
	return nil
}

// PassFiles notes how calls use files, before the calls are made. If a call reads a file, the
// session gets the labels of the file. If a call writes a file, the file gets the labels of the
// session.
func (s *ServerLabels) PassFiles(cs []policy.Call) error {
	p := s.policy.Load()
	if !usesLabels(p) {
		return nil
	}
	for i := range cs {
		if err := s.passFiles(p, &cs[i]); err != nil {
			return fmt.Errorf("the labels of files cannot be kept: %w", err)
		}
	}
	return nil
}

// Judge makes the decision on calls stricter if the calls could send out data that the session has
// seen.
func (s *ServerLabels) Judge(cs []policy.Call) (a policy.Action, led policy.Seen, why string) {
	p := s.policy.Load()
	level := p.FlowLevel()
	if level == policy.Off {
		return policy.Allow, 0, ""
	}
	seen, err := s.readLabels(cs)
	if err != nil {
		return policy.Deny, 0, "what the session has seen before cannot be read; tell the owner"
	}
	noted := ""
	for i := range cs {
		c := &cs[i]
		own := c.Subject == policy.MethodSubject && isPlainMethod(c.Method)
		if own && silent[c.Method] {
			continue
		}
		t, decides, weighs := s.traitsOf(p, c)
		if own {
			t.PublicSink, t.DangerousWrites = policy.No, policy.No
		}
		if why := forbiddenReason(t); why != "" {
			return policy.Deny, 0, why
		}
		acts := t.PublicSink == policy.Yes || t.DangerousWrites == policy.Yes
		if !acts || seen&policy.Untrusted == 0 {
			continue
		}
		var o opinion
		if level != policy.Strict {
			if o, err = s.session.weighCall(s.grantServer(c), decides, weighs, c); err != nil {
				return policy.Deny, seen, "what the session has read before cannot be known again; tell the owner"
			}
		}
		if level == policy.Ask && o.goes != "" {
			noted = joinReasons(noted, o.goes)
			continue
		}
		why := s.questionText(decides, c, t, &o)
		switch level {
		case policy.Strict:
			return policy.Deny, seen, why
		case policy.Ask:
			return policy.Prompt, seen, why
		case policy.Watch, policy.Off:
			noted = joinReasons(noted, why)
		}
	}
	return policy.Allow, 0, noted
}

func joinReasons(noted, why string) string {
	if noted == "" {
		return why
	}
	return noted + "; " + why
}

// grantServer returns the server name under which a person's consent is stored.
func (s *ServerLabels) grantServer(c *policy.Call) string {
	server, _ := s.callServer(c)
	return cmp.Or(server, s.shown)
}

// forbiddenReason returns the reason why the owner forbids a call; "" if the owner does not forbid
// it.
func forbiddenReason(t policy.Traits) string {
	for _, of := range []struct {
		trust policy.Trust
		what  string
	}{
		{t.PublicSource, "it returns what anybody may have written"},
		{t.SecretData, "it returns what must not leave"},
		{t.PublicSink, "it writes where others read"},
		{t.DangerousWrites, "it makes changes that hurt"},
	} {
		if of.trust == policy.Forbidden {
			return of.what + ", which the owner forbids"
		}
	}
	return ""
}

// questionText returns the text of a question: what the call would do, where it would go, and what
// the session has read before.
func (s *ServerLabels) questionText(decides []string, c *policy.Call, t policy.Traits, o *opinion) string {
	to := destinationText(decides, c)
	text := "write where others read"
	switch sink := t.PublicSink == policy.Yes; {
	case sink && to != "":
		text = "write to " + to
	case !sink && to != "":
		text = "change " + to
	case !sink:
		text = "make a change"
	}
	text += " after reading " + formatSources(s.session.listNewest(untrusted))
	held := s.session.listNewest(secret)
	if len(held) == 0 {
		held = s.session.listNewest(private)
	}
	if len(held) > 0 {
		text += " and " + held[0].Kind + " data from " + formatSources(held)
	}
	switch {
	case o.goes != "":
		text += ": " + o.goes
	case len(o.why) > shownSources:
		text += fmt.Sprintf(": %s; %d more reasons", strings.Join(o.why[:shownSources], "; "), len(o.why)-shownSources)
	case len(o.why) > 0:
		text += ": " + strings.Join(o.why, "; ")
	}
	return text
}

// shownSources is the largest number of sources, reasons or destinations in a question.
const shownSources = 2

func formatSources(all []Seen) string {
	var parts []string
	for i, one := range all {
		if i == shownSources {
			parts = append(parts, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", one.Source, one.At.Local().Format("15:04")))
	}
	return strings.Join(parts, ", ")
}

// destinationText returns the values that decide where a call goes, for people.
func destinationText(names []string, c *policy.Call) string {
	var parts []string
	if c.Subject == policy.ResourceSubject {
		parts = append(parts, cutSource(strings.Join(c.Names, ", ")))
	}
	visitArguments(names, c, func(_ string, value jsonscan.Value) {
		visitArgumentTexts(value, func(text string) { parts = append(parts, cutSource(text)) })
	})
	if len(parts) > shownSources {
		parts = append(parts[:shownSources], fmt.Sprintf("%d more", len(parts)-shownSources))
	}
	return strings.Join(parts, ", ")
}

// joinSessions joins this session with the sessions that the calls name.
func (s *ServerLabels) joinSessions(cs []policy.Call) error {
	for i := range cs {
		id := cs[i].Session
		if id == "" {
			continue
		}
		gen := s.session.gen.Load()
		if known := s.joined.Load(); known != nil && *known == (joined{id, gen}) {
			continue
		}
		if err := s.session.JoinKey(IDKey(id)); err != nil {
			return err
		}
		s.joined.Store(&joined{strings.Clone(id), gen})
	}
	return nil
}
