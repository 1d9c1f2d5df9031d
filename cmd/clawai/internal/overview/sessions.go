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

// Limits of the sessions that are kept in memory, and that are shown.
const (
	maxActive = 200
	maxShown  = 50
)

// activity counts the latest calls of each session.
type activity struct {
	mu       sync.Mutex
	sessions map[string]*activeSession // by the client's session or, of a proxy, by the record's
}

// activeSession is a session with calls of its own: a client's own tools, or a proxy's server.
type activeSession struct {
	client  string // the client whose hook wrote the records; "" for a proxy
	servers map[string]bool
	folder  string
	latest  time.Time
	counts  Counts
	hook    bool
}

// hookSession returns the client and the session of a record that a hook wrote.
func hookSession(e *event.Entry) (client, session string, ok bool) {
	rest, ok := strings.CutPrefix(e.Detail, "hook ")
	if !ok {
		return "", "", false
	}
	client, _, _ = strings.Cut(rest, " ")
	_, session, ok = strings.Cut(rest, ", session ")
	return client, session, ok
}

// SessionKey returns the key, as in Session.Keys, of the session that a record belongs to.
func SessionKey(e *event.Entry) string {
	if _, session, hook := hookSession(e); hook {
		return "session:" + session
	}
	return "proxy:" + e.Session
}

// addCall counts a call for its session.
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

// copySessions returns the sessions as they are now.
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

// forgetSessions forgets all sessions.
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

// LoadSessions returns the sessions that have labels, and those of the latest calls, the last used
// first.
func (o *Overview) LoadSessions(ctx context.Context) ([]Session, error) {
	rules, _ := o.LoadPolicy()
	active := o.active.copySessions()
	var all []Session
	told := map[string]bool{}
	journals := 0 // that were read
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

// Session is a session of an agent.
type Session struct {
	flow.Shown
	Closed []Closure // what the rules refuse or ask about because of its labels; the refused things first

	active *activeSession // nil: none of the latest calls is known to be its
}

// Keys returns all keys of the session.
func (s *Session) Keys() []string { return append([]string{s.Key}, s.Also...) }

// Activity returns the counts of the session's latest calls, and the folder in which they were made. known
// is false if there is no such call.
func (s *Session) Activity() (counts Counts, folder string, known bool) {
	if s.active == nil {
		return Counts{}, "", false
	}
	return s.active.counts, s.active.folder, true
}

// Look returns the look of the session, by what is closed to it.
func (s *Session) Look() view.Look {
	switch {
	case len(s.Closed) == 0:
		return view.Plain
	case s.Closed[0].Refused:
		return view.Refused
	}
	return view.Asked
}

// ClosedText returns in one sentence what the session may no longer do; "" for nothing.
func (s *Session) ClosedText() string {
	switch len(s.Closed) {
	case 0:
		return ""
	case 1:
		return s.Closed[0].Text()
	}
	return fmt.Sprintf("%s; and %d more", s.Closed[0].Text(), len(s.Closed)-1)
}

// Name returns a short name of the session.
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

// ClientName returns the client, or the server of a proxy.
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

// SourceText returns where a session saw data of a kind, in words: the tool and its server.
func SourceText(source string) string {
	if server, tool, found := strings.Cut(source, " "); found && !strings.Contains(tool, " ") {
		source = tool + " of server " + server
	}
	return term.VisibleText(source)
}

// Labels returns the kinds of data that the session has seen, each once.
func (s *Session) Labels() (words []string) {
	for _, word := range policy.SeenWords() {
		if slices.ContainsFunc(s.Seen, func(seen flow.Seen) bool { return seen.Kind == word }) {
			words = append(words, word)
		}
	}
	return words
}

// Closure is one thing that labels close: it is refused, or a person is asked about it first.
type Closure struct {
	Refused bool
	What    string // harmless
	Rule    string // the place of the rule
}

// Text returns what is closed in words.
func (c Closure) Text() string {
	if c.Refused {
		return "may not " + c.What
	}
	return "needs your yes to " + c.What
}

// listClosures returns what the rules refuse or ask about because a session has seen these kinds of data.
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

// shortID returns the beginning of an id, enough to tell ids apart.
func shortID(id string) string {
	if len(id) > 8 {
		id = id[:8]
	}
	return term.VisibleLine(id)
}
