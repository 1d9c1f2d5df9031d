package overview

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
)

// Server is a server in a client's file, the hook of a client, or a server that is only in the
// record.
type Server struct {
	Name    string // foreign
	State   string
	Look    view.Look
	Entries []string // the files with an entry of the server, and its state in each; safe for a terminal
	Calls   Used     // the calls of today
	Pin     string   // the policy's mode for changes in the server's lists; "" for none
	Pinned  []string // lines about approved and changed lists; safe for a terminal
}

// CanWrap reports whether clawai wrap would put the server behind clawai.
func (s *Server) CanWrap() bool {
	state := wrap.State(s.State)
	return state == wrap.Bare || state == wrap.Drifted
}

// countServers returns the numbers of today's calls, by server.
func (o *Overview) countServers() map[string]Used {
	now := time.Now()
	all := map[string]Used{}
	for tool, n := range o.Sum(Wanted{Since: time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())}).Tools {
		addTo(all, tool.Server, func(u Used) Used {
			u.addCounts(n.Counts)
			u.Last = latest(u.Last, n.Last)
			return u
		})
	}
	return all
}

// LoadServers returns the servers, sorted by name.
func (o *Overview) LoadServers() ([]Server, error) {
	found, err := wrapcmd.FindServers()
	if err != nil {
		return nil, err
	}
	calls := o.countServers()
	servers := map[string]*Server{}
	at := func(name string) *Server {
		if servers[name] == nil {
			servers[name] = &Server{Name: name, State: "seen", Entries: []string{"in no client's file; the record has calls of it"}}
		}
		return servers[name]
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		at(name)
	}
	doc := found.JudgeStatus()
	for _, file := range doc.Files {
		for _, s := range file.Servers {
			one := at(s.Name)
			if one.State == "seen" {
				one.Entries = nil
			}
			one.Entries = append(one.Entries, fmt.Sprintf("%s in %s: %s%s", file.Name, term.VisibleText(view.TildePath(file.Path, o.Home)), s.State, inBrackets(s.Why)))
			if look := stateLook(s.State); one.State == "seen" || look > one.Look {
				one.State, one.Look = string(s.State), look
			}
		}
	}
	if doc.Hooks, err = found.HookStatus(); err != nil {
		return nil, err
	}
	for _, h := range doc.Hooks {
		one := at(h.Client)
		one.State, one.Look, one.Entries = "hook", hookLook(h.State), []string{"its own tools, by a hook: " + string(h.State)}
	}
	rules, _ := o.LoadPolicy()
	store := pinning.NewStore(o.dirs.State, "")
	var all []Server
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		s.Calls = calls[name]
		s.notePins(rules, store)
		all = append(all, *s)
	}
	return all, nil
}

func inBrackets(why string) string {
	if why == "" {
		return ""
	}
	return " (" + term.VisibleText(why) + ")"
}

func hookLook(s wrap.HookState) view.Look {
	switch s {
	case wrap.HookEnforced:
		return view.Allowed
	case wrap.HookDrifted, wrap.HookUnreadable:
		return view.Refused
	default:
		return view.Asked
	}
}

func stateLook(s wrap.State) view.Look {
	switch s {
	case wrap.Wrapped:
		return view.Allowed
	case wrap.Drifted:
		return view.Refused
	case wrap.Observed, wrap.Bare:
		return view.Asked
	}
	return view.Plain
}

// notePins sets Pin and Pinned: the policy's mode for changes in the server's lists, and lines
// about the changes.
func (s *Server) notePins(rules *policy.Policy, store *pinning.Store) {
	if rules != nil {
		if p := rules.Pin(s.Name); p > 0 {
			s.Pin = p.String()
		}
	}
	st, err := store.LoadState(s.Name)
	if err != nil {
		s.Pinned = []string{"what was approved cannot be read: " + term.VisibleText(err.Error())}
		return
	}
	if st == nil {
		return
	}
	changed := len(pin.CompareServers(&st.Approved, &st.Served))
	if changed > 0 {
		s.Pinned = []string{cmdline.CountText(changed, "1 difference from what was approved", "%d differences from what was approved") + ": clawai lock accept " + term.VisibleText(s.Name)}
	}
}
