package proxycmd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
)

// hubServers converts configured servers to servers of package hub.
func (s *hubSession) hubServers(all []config.Upstream) (given []hub.Server) {
	for _, u := range all {
		given = append(given, hub.Server{
			ID: u.ID, Prefix: u.Prefix, Idle: u.Idle, Timeout: u.Timeout, Offers: toolFilter(u), Digest: configDigest(u),
			Open: func() (proxy.Upstream, error) { return s.open(u) },
			Kept: func(client []byte) hub.Catalogue { return s.kept(u, client) },
		})
	}
	return given
}

// configDigest returns a digest of the complete configuration of a server, after its variables are
// replaced.
func configDigest(s config.Upstream) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %q %q %s %s %v",
		s.ID, s.Prefix, s.Command, s.URL, s.Env, s.Header, s.Dir, s.Tools, s.Hide, s.Idle, s.Timeout, s.Unusable)))
}

// hubSession is one session of the hub, with the parts that a change of the servers needs.
type hubSession struct {
	guard   *gate.Session
	open    func(config.Upstream) (proxy.Upstream, error)
	kept    func(s config.Upstream, client []byte) hub.Catalogue
	updates chan []hub.Server
	over    <-chan struct{}
}

// updateServers replaces the servers of this session.
func (s *hubSession) updateServers(next []config.Upstream) {
	select {
	case s.updates <- s.hubServers(next):
	case <-s.over:
	}
}

// addSession registers a session for later changes of the servers. It returns the present servers.
func (h *hubRun) addSession(s *hubSession) (now []config.Upstream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions == nil {
		h.sessions = map[*hubSession]bool{}
	}
	h.sessions[s] = true
	return h.hub.Servers
}

func (h *hubRun) removeSession(s *hubSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s)
}

// replaceServers replaces the servers in every session.
func (h *hubRun) replaceServers(next []config.Upstream) {
	h.mu.Lock()
	h.hub.Servers = next
	h.mu.Unlock()
	for _, s := range h.listSessions() {
		s.updateServers(next)
	}
}

// recordChatter records a change of the servers in every session. The parameter what describes the
// change.
func (h *hubRun) recordChatter(what string) {
	for _, s := range h.listSessions() {
		_ = s.guard.NoteEvents(&event.Event{Kind: event.Chatter, Code: "servers", Detail: what})
	}
}

func (h *hubRun) listSessions() []*hubSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.sessions))
}

// followConfig replaces the servers when config.toml changes, until ctx ends. If the new file has
// an error, the servers stay.
func (h *hubRun) followConfig(ctx context.Context) {
	inForce := configDigests(h.hub.Servers)
	config.WatchHub(ctx, h.run.spec.Folders, os.LookupEnv, func(now config.Hub, err error) {
		if err != nil {
			fmt.Fprintf(os.Stderr, "clawai: the servers stay as they are: %v\n", err)
			h.recordChatter(err.Error())
			return
		}
		next := slices.DeleteFunc(h.filterServers(now.Servers), func(s config.Upstream) bool {
			late := h.run.here && isElsewhere(s)
			if late {
				fmt.Fprintf(os.Stderr, "clawai: upstream.%s begins with the next session: it runs elsewhere, and the paths of this session's servers are looked up on this disk\n", s.ID)
			}
			return late
		})
		if slices.Equal(configDigests(next), inForce) {
			return
		}
		inForce = configDigests(next)
		h.replaceServers(next)
		h.recordChatter("servers of the hub are " + joinIDs(next))
		tellUnusable(next)
	})
}

func configDigests(all []config.Upstream) (sums []string) {
	for _, s := range all {
		sums = append(sums, configDigest(s))
	}
	return sums
}

func joinIDs(all []config.Upstream) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.ID
	}
	return strings.Join(names, ", ")
}
