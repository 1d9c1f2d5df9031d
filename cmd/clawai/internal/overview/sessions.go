package overview

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// These are the maximum numbers of sessions in memory and on the screen.
const (
	maxActive = 200
	maxShown  = 50
)

// activity counts the latest calls of each session.
type activity struct {
	mu sync.Mutex
	// The key is the client's session. For a proxy it is the session in the record.
	sessions map[string]*activeSession
}

// activeSession is a session with calls. They are calls of a client's own tools, or calls to the
// server of a proxy.
type activeSession struct {
	client  string // the client whose hook wrote the records; "" for a proxy
	servers map[string]bool
	folder  string
	latest  time.Time
	counts  Counts
	hook    bool
}

// hookSession returns the client and the session that a record names, if a hook wrote the record.
// ok is false for other records.
func hookSession(e *event.Entry) (client, session string, ok bool) {
	rest, ok := strings.CutPrefix(e.Detail, "hook ")
	if !ok {
		return "", "", false
	}
	client, _, _ = strings.Cut(rest, " ")
	_, session, ok = strings.Cut(rest, ", session ")
	return client, session, ok
}

// SessionKey returns the key of the session to which a record belongs. It has the form of the keys
// in Session.Keys.
func SessionKey(e *event.Entry) string {
	if _, session, hook := hookSession(e); hook {
		return "session:" + session
	}
	return "proxy:" + e.Session
}

// addCall adds one call to the counts of its session.
func (a *activity) addCall(e *event.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := e.Session
	client, session, hook := hookSession(e)
	if hook {
		key = session
	}
	s := a.sessions[key]
	if s == nil {
		if a.sessions == nil {
			a.sessions = map[string]*activeSession{}
		}
		if len(a.sessions) >= maxActive {
			a.dropOldest()
		}
		s = &activeSession{client: client, hook: hook, servers: map[string]bool{}}
		a.sessions[key] = s
	}
	s.latest, s.folder = e.Time, clip(e.Cwd)
	s.counts.AddLooks(view.LookOf(e), 1)
	if name := clip(cmp.Or(e.Server, e.ServerGuess)); len(s.servers) < maxActive {
		s.servers[name] = true
	}
}

// copySessions returns a copy of all sessions.
func (a *activity) copySessions() map[string]*activeSession {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make(map[string]*activeSession, len(a.sessions))
	for key, s := range a.sessions {
		one := *s
		one.servers = maps.Clone(s.servers)
		all[key] = &one
	}
	return all
}

// forgetSessions removes all sessions and their counts.
func (a *activity) forgetSessions() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions = nil
}

func (a *activity) dropOldest() {
	oldest := ""
	for key, s := range a.sessions {
		if oldest == "" || s.latest.Before(a.sessions[oldest].latest) {
			oldest = key
		}
	}
	delete(a.sessions, oldest)
}

// LoadSessions returns the sessions that have labels, and the sessions of the latest calls. The
// session that was used last comes first.
func (o *Overview) LoadSessions(ctx context.Context) ([]Session, error) {
	rules, _ := o.LoadPolicy()
	active := o.active.copySessions()
	var all []Session
	told := map[string]bool{}
	journals := 0 // number of journals that were read
	for s, err := range flow.EachSession(o.dirs.State) {
		if err != nil {
			return nil, err
		}
		if journals++; journals > maxActive || len(all) == maxShown || ctx.Err() != nil {
			break
		}
		shown := Session{Shown: s}
		for _, key := range shown.Keys() {
			kind, id, _ := strings.Cut(key, ":")
			if mine := active[id]; kind == "session" && mine != nil && mine.hook {
				shown.active, told[id] = mine, true
			}
		}
		if len(s.Seen) == 0 && shown.active == nil {
			continue
		}
		all = append(all, shown)
	}
	for key, s := range active {
		if told[key] {
			continue
		}
		shown := Session{Shown: flow.Shown{Key: "proxy:" + key, Used: s.latest}, active: s}
		if s.hook {
			shown.Key = "session:" + key
		}
		all = append(all, shown)
	}
	slices.SortStableFunc(all, func(a, b Session) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Key, b.Key)) })
	all = all[:min(len(all), maxShown)]
	for i := range all {
		all[i].Closed = listClosures(rules, all[i].Labels())
	}
	return all, nil
}

// Session is a session of an agent, with its labels and its calls.
type Session struct {
	flow.Shown
	// Closed has the kinds of calls that the rules refuse or ask about because of the session's
	// labels. The refused kinds are first.
	Closed []Closure

	// active has the counts of the latest calls. It is nil if none of the latest calls is known to
	// belong to this session.
	active *activeSession
}

// Keys returns all keys under which the session is known.
func (s *Session) Keys() []string { return append([]string{s.Key}, s.Also...) }

// Activity returns the counts for the session's latest calls, and the folder of these calls. The
// result known is false if there are no such calls.
func (s *Session) Activity() (counts Counts, folder string, known bool) {
	if s.active == nil {
		return Counts{}, "", false
	}
	return s.active.counts, s.active.folder, true
}

// Look returns the look of the session: refused, asked or plain. It comes from the first entry of
// Closed.
func (s *Session) Look() view.Look {
	switch {
	case len(s.Closed) == 0:
		return view.Plain
	case s.Closed[0].Refused:
		return view.Refused
	}
	return view.Asked
}

// ClosedText returns one sentence about the calls that the session may no longer make. It returns
// "" if the session may still make all calls.
func (s *Session) ClosedText() string {
	switch len(s.Closed) {
	case 0:
		return ""
	case 1:
		return s.Closed[0].Text()
	}
	return fmt.Sprintf("%s; and %d more", s.Closed[0].Text(), len(s.Closed)-1)
}

// Name returns a short name of the session, such as the start of its id.
func (s *Session) Name() string {
	kind, id, _ := strings.Cut(s.Key, ":")
	switch kind {
	case "session":
		return shortID(id)
	case "process":
		pid, _, _ := strings.Cut(id, ":")
		return "process " + term.VisibleLine(pid)
	case "proxy":
		return shortID(id)
	}
	return kind
}

// ClientName returns the client of the session or, for a proxy, the servers.
func (s *Session) ClientName() string {
	switch {
	case s.active == nil:
		return "session"
	case s.active.hook:
		return term.VisibleLine(s.active.client)
	}
	return strings.Join(s.ServerNames(), ", ")
}

// ServerNames returns the servers that the session is known to have used.
func (s *Session) ServerNames() []string {
	names := map[string]bool{}
	for _, seen := range s.Seen {
		server, _, _ := strings.Cut(seen.Source, " ")
		names[server] = true
	}
	if s.active != nil {
		for name := range s.active.servers {
			names[name] = true
		}
	}
	var all []string
	for name := range names {
		all = append(all, term.VisibleLine(name))
	}
	slices.Sort(all)
	return all
}

// SourceText returns the source of a label as a text: the tool and its server. The text is safe for
// a terminal.
func SourceText(source string) string {
	if server, tool, found := strings.Cut(source, " "); found && !strings.Contains(tool, " ") {
		source = tool + " of server " + server
	}
	return term.VisibleText(source)
}

// Labels returns the labels of the session, without duplicates.
func (s *Session) Labels() (words []string) {
	for _, word := range policy.SeenWords() {
		if slices.ContainsFunc(s.Seen, func(seen flow.Seen) bool { return seen.Kind == word }) {
			words = append(words, word)
		}
	}
	return words
}

// Closure is one kind of call that is refused or asked about because of the session's labels.
type Closure struct {
	Refused bool
	What    string // the kind of call; safe for a terminal
	Rule    string // the place of the rule, or the flow level
}

// Text returns the closure as words after the name of the session.
func (c Closure) Text() string {
	if c.Refused {
		return "may not " + c.What
	}
	return "needs your yes to " + c.What
}

// listClosures returns the closures of a session with these labels.
func listClosures(rules *policy.Policy, words []string) (all []Closure) {
	seen, _ := policy.SeenOf(words)
	if rules == nil || len(words) == 0 {
		return nil
	}
	if level := rules.FlowLevel(); seen&policy.Untrusted != 0 && level >= policy.Ask {
		all = append(all, Closure{level == policy.Strict, "write where others read, or to do harm", fmt.Sprintf("[flow] level = %q", level)})
	}
	sources := rules.Sources()
	for i := range sources {
		s := &sources[i]
		kinds := s.AfterKinds()
		if kinds == 0 || kinds&^seen != 0 || s.Action == policy.Allow || s.Subject == policy.NoSubject {
			continue
		}
		what := "use " + strings.Join(s.Names, ", ")
		if len(s.Servers) > 0 {
			what += " of server " + strings.Join(s.Servers, ", ")
		}
		if s.Description != "" {
			what += " (" + s.Description + ")"
		}
		all = append(all, Closure{s.Action == policy.Deny, term.VisibleText(what), fmt.Sprintf("%s:%d", term.VisibleText(s.Pos.File), s.Pos.Line)})
	}
	slices.SortStableFunc(all, func(a, b Closure) int {
		switch {
		case a.Refused == b.Refused:
			return 0
		case a.Refused:
			return -1
		}
		return 1
	})
	return all
}

// shortID returns the first 8 characters of an id, which are enough to tell ids apart.
func shortID(id string) string {
	if len(id) > 8 {
		id = id[:8]
	}
	return term.VisibleLine(id)
}
