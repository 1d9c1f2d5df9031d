package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/state/upstream"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// gatherLists brings every server's list up to date within ListWait. For each server it returns
// nil, or the reason why the server's list is not up to date.
func (h *hub) gatherLists(k kind, servers []*server) (why []error) {
	ctx, cancel := context.WithTimeout(h.ctx, h.o.ListWait)
	defer cancel()
	waits := make([]<-chan struct{}, len(servers))
	for i, s := range servers {
		waits[i] = s.lists[k].fetchList(s, k)
	}
	why = make([]error, len(servers))
	for i, s := range servers {
		select {
		case <-waits[i]:
		case <-ctx.Done():
		}
		late := fmt.Errorf("no answer within %s", h.o.ListWait)
		if h.ctx.Err() != nil {
			late = errOver
		}
		why[i] = s.lists[k].checkFresh(late)
	}
	return why
}

// checkFresh returns nil if a list is up to date, or the reason why it is not: late if the list is
// still being fetched. After an error, the hub sends the client a list_changed when the list changes
// later.
func (l *list) checkFresh(late error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fresh:
		return nil
	case l.fetching != nil:
		l.missed = true
		return late
	case l.why != nil:
		l.missed = true
		return l.why
	}
	return nil // the list changed a moment ago, so the client gets a list_changed anyway
}

// mergeLists returns the result of a list request. It has the entries of all the servers, in the
// order of the configuration and then of each server's list. If a server has not answered, the
// result has the server's last known list, if any, and the reason in _meta.
func (h *hub) mergeLists(k kind) []byte {
	servers := h.currentServers()
	why := h.gatherLists(k, servers)
	count := map[string]int{}
	all := make([][]entry, len(servers))
	for i, s := range servers {
		l := &s.lists[k]
		l.mu.Lock()
		all[i] = l.entries // safe to read later, because the slice is never modified
		l.mu.Unlock()
		for _, e := range all[i] {
			count[e.advertised]++
		}
	}
	b := append(make([]byte, 0, 4096), `{"`+k.shape().Entries+`":[`...)
	open, shown := len(b), map[string]bool{}
	for i, s := range servers {
		for _, e := range all[i] {
			raw := e.raw
			switch {
			case k == tools || k == prompts:
				if count[e.advertised] > 1 {
					continue // two entries have this name, so neither is listed
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

// appendAbsent adds a _meta with the ids of the servers whose lists are not up to date, and the
// reasons.
func appendAbsent(b []byte, servers []*server, why []error) []byte {
	var absent []string
	for i, s := range servers {
		if why[i] != nil {
			absent = append(absent, fmt.Sprintf(`"%s":%s`, s.ID, quoteJSON(why[i].Error())))
		}
	}
	if absent == nil {
		return b
	}
	return append(b, `,"_meta":{"clawai/absent":{`+strings.Join(absent, ",")+"}}"...)
}

// renameResource changes the URI of a resource to "ID+URI", because an earlier server in the list
// has the same URI.
func renameResource(id string, raw []byte) []byte {
	v := gjson.GetBytes(raw, "uri")
	part := raw[v.Index : v.Index+len(v.Raw)]
	return frame.SplicePart(raw, part, quoteJSON(id+"+"+v.String()))
}

// findByName returns the server of an advertised name, and the name that the server itself uses. If
// no list has the advertised name, findByName splits it at its prefix, because a server may have
// new tools. A name without a prefix belongs to the server without a prefix. If two entries have
// the name, no server is returned.
func (h *hub) findByName(k kind, advertised string) (s *server, original string) {
	prefix, rest, split := upstream.SplitName(advertised)
	if !split {
		rest = advertised
	}
	var unlisted *server
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
			unlisted = one
		}
	}
	switch {
	case found == 1:
		return s, original
	case found > 1 || unlisted == nil || k == tools && !unlisted.offersTool(rest):
		return nil, ""
	}
	return unlisted, rest
}

// findByURI returns the server of a resource, and the URI at that server. First it looks for a
// server whose id is the URI's prefix and that lists the rest of the URI. Then it looks for the
// first server that lists the URI. Then it looks for the server with the template whose literal
// start matches the most characters. If there is only one server, that server gets every URI.
func (h *hub) findByURI(uri string) (s *server, original string) {
	servers := h.currentServers()
	if len(servers) == 1 {
		return servers[0], uri
	}
	if one, rest := h.findByURIPrefix(uri); one != nil && one.lists[resources].isListed(rest) {
		return one, rest
	}
	var best *server
	longest := -1
	for _, one := range servers {
		if one.lists[resources].isListed(uri) {
			return one, uri
		}
		if n := one.lists[templates].matchTemplate(uri); n > longest {
			best, longest = one, n
		}
	}
	return best, uri
}

// findByURIPrefix returns the server for a URI of the form "ID+REST", and the REST. The server is
// nil if no server has this ID.
func (h *hub) findByURIPrefix(uri string) (*server, string) {
	id, rest, ok := strings.Cut(uri, "+")
	servers := h.currentServers()
	if i := slices.IndexFunc(servers, func(s *server) bool { return s.ID == id }); ok && i >= 0 {
		return servers[i], rest
	}
	return nil, ""
}

// isListed reports whether an entry of the list has this advertised name or URI.
func (l *list) isListed(advertised string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.at[advertised]
	return ok
}

// matchTemplate compares uri with the literal starts of the templates (the text before the first
// {). It returns the length of the longest literal start with which uri begins, or -1 if there is
// none. A template that equals uri gives the highest result.
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
