package hub

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/upstream"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// gatherLists brings every server's list up to date, as far as they manage in time. why is what
// keeps one from it.
func (h *hub) gatherLists(k kind, servers []*server) (why []error) {
	late := time.NewTimer(h.o.ListWait)
	defer late.Stop()
	waits := make([]<-chan struct{}, len(servers))
	for i, s := range servers { // all at once
		waits[i] = s.lists[k].fetchList(s, k)
	}
	why = make([]error, len(servers))
	over := false
	for i, s := range servers {
		select {
		case <-waits[i]:
		default:
			if !over {
				select {
				case <-waits[i]:
				case <-late.C:
					over = true
				case <-h.ctx.Done():
					over = true
				}
			}
		}
		why[i] = s.lists[k].checkFresh(h.o.ListWait)
	}
	return why
}

// checkFresh says why a list is not up to date; a later change of that is told to the client.
func (l *list) checkFresh(waited time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fresh:
		return nil
	case l.fetching != nil:
		l.missed = true
		return fmt.Errorf("no answer within %s", waited)
	case l.why != nil:
		l.missed = true
		return l.why
	}
	return nil // it changed a moment ago: the client hears of that
}

// mergeLists gives the result of a list: all servers', in the order of the configuration, and
// each in its own. A server that has not answered has its last list in it, if there was
// one, and the reason beside it.
func (h *hub) mergeLists(k kind) []byte {
	servers := h.currentServers()
	why := h.gatherLists(k, servers)
	count := map[string]int{}
	all := make([][]entry, len(servers))
	for i, s := range servers {
		l := &s.lists[k]
		l.mu.Lock()
		all[i] = l.entries // which is never written to
		l.mu.Unlock()
		for _, e := range all[i] {
			count[e.advertised]++
		}
	}
	b := append(make([]byte, 0, 4096), `{"`+words[k].member+`":[`...)
	open, shown := len(b), map[string]bool{}
	for i, s := range servers {
		for _, e := range all[i] {
			raw := e.raw
			switch {
			case k == tools || k == prompts:
				if count[e.advertised] > 1 {
					continue // a name that could mean two must mean none
				}
			case k == resources && shown[e.original]:
				raw = renameResource(s.ID, e.raw)
			}
			shown[e.original] = true
			if len(b) > open {
				b = append(b, ',')
			}
			b = append(b, raw...)
		}
	}
	return append(appendAbsent(append(b, ']'), servers, why), '}')
}

// appendAbsent adds which servers are not in a list, and why.
func appendAbsent(b []byte, servers []*server, why []error) []byte {
	before := `,"_meta":{"clawai/absent":{`
	for i, s := range servers {
		if why[i] == nil {
			continue
		}
		b = append(append(b, before...), `"`+s.ID+`":`...)
		b = gjson.AppendJSONString(b, why[i].Error())
		before = ","
	}
	if before == "," {
		b = append(b, "}}"...)
	}
	return b
}

// renameResource gives a resource whose URI another server has, too.
func renameResource(id string, raw []byte) []byte {
	v := gjson.GetBytes(raw, "uri")
	part := raw[v.Index : v.Index+len(v.Raw)]
	return frame.SplicePart(raw, part, gjson.AppendJSONString(nil, id+"+"+v.String()))
}

// findByName finds the server of an advertised name, and what it calls it. A name that was not
// listed is taken apart, or is the server's whose names are bare: servers get new tools. One
// of two is nobody's.
func (h *hub) findByName(k kind, advertised string) (s *server, original string) {
	prefix, rest, split := upstream.SplitName(advertised)
	if !split {
		rest = advertised
	}
	var apart *server
	found := 0
	for _, one := range h.currentServers() {
		l := &one.lists[k]
		l.mu.Lock()
		i, listed := l.at[advertised]
		if listed && i >= 0 {
			s, original = one, l.entries[i].original
		}
		l.mu.Unlock()
		if listed {
			found++
			if i < 0 {
				found++
			}
		}
		if split && one.Prefix == prefix || one.Prefix == "" && upstream.AdvertisedName(one.ID, "", advertised) == advertised {
			apart = one
		}
	}
	switch {
	case found == 1:
		return s, original
	case found > 1 || apart == nil || k == tools && !apart.offersTool(rest):
		return nil, ""
	}
	return apart, rest
}

// findByURI finds the server that has a resource, and what the URI is there: that whose id
// stands before it, the first that lists it, and that of the template which it begins like
// most. A single server has whatever there is.
func (h *hub) findByURI(uri string) (s *server, original string) {
	servers := h.currentServers()
	if len(servers) == 1 {
		return servers[0], uri
	}
	if one, rest := h.findByURIPrefix(uri); one != nil && one.lists[resources].hasURI(rest) {
		return one, rest
	}
	var of *server
	longest := -1
	for _, one := range servers {
		if one.lists[resources].hasURI(uri) {
			return one, uri
		}
		if n := one.lists[templates].matchTemplate(uri); n > longest {
			of, longest = one, n
		}
	}
	return of, uri
}

// findByURIPrefix gives the server whose id and + a URI begins with, nil for none, and what follows.
func (h *hub) findByURIPrefix(uri string) (*server, string) {
	id, rest, ok := strings.Cut(uri, "+")
	servers := h.currentServers()
	if i := slices.IndexFunc(servers, func(s *server) bool { return s.ID == id }); ok && i >= 0 {
		return servers[i], rest
	}
	return nil, ""
}

func (l *list) hasURI(uri string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.at[uri]
	return ok
}

// matchTemplate gives how long the text is before the first { of the template that uri begins like
// most; -1 when it begins like none. One that is the template itself matches best.
func (l *list) matchTemplate(uri string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := -1
	for _, e := range l.entries {
		literal, _, _ := strings.Cut(e.original, "{")
		if e.original == uri {
			return len(uri) + 1
		}
		if literal != "" && strings.HasPrefix(uri, literal) {
			longest = max(longest, len(literal))
		}
	}
	return longest
}
