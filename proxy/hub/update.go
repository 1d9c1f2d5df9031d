package hub

import (
	"slices"
	"time"
)

// currentServers returns the current servers in the order of the configuration. The slice is never
// modified.
func (h *hub) currentServers() []*server { return *h.servers.Load() }

// applyUpdates applies the new lists of servers from Options.Updates.
func (h *hub) applyUpdates() {
	for {
		select {
		case next := <-h.o.Updates:
			if h.replaceServers(next) {
				for k := range kinds {
					h.changes.noteChange(k)
				}
			}
		case <-h.ctx.Done():
			return
		}
	}
}

// replaceServers replaces the servers by those in the parameter next. Unchanged servers keep
// running, new servers are added, and removed servers finish their work. It reports whether
// anything has changed.
func (h *hub) replaceServers(next []Server) bool {
	before := h.currentServers()
	after := make([]*server, 0, len(next))
	for _, s := range next {
		same := func(o *server) bool { return o.ID == s.ID && o.Digest == s.Digest }
		if i := slices.IndexFunc(before, same); i >= 0 {
			after = append(after, before[i])
			continue
		}
		one := newServer(h, s)
		h.tasks.Go(one.runJobs)
		after = append(after, one)
	}
	h.servers.Store(&after)
	for _, s := range before {
		if !slices.Contains(after, s) {
			close(s.leaving)
			time.AfterFunc(leaveGrace, s.end) // this also ends a server that is just starting
		}
	}
	return !slices.Equal(before, after)
}

// leaveGrace is the time in which a removed server may still answer requests in flight.
var leaveGrace = 5 * time.Second

// retireServer ends a removed server. Before that it waits for the outstanding answers, at most
// leaveGrace.
func (s *server) retireServer() {
	late, look := time.After(leaveGrace), time.NewTicker(5*time.Millisecond)
	defer look.Stop()
	for wait := true; wait && (len(s.inbox) > 0 || s.conn != nil && s.conn.hasOutstanding()); {
		quiet, gone := s.conn.endedSignal()
		select {
		case j := <-s.inbox:
			s.doJobs(j)
		case <-quiet:
			s.disconnect()
		case <-gone:
			s.disconnect()
		case <-look.C:
		case <-late:
			wait = false
		case <-s.h.ctx.Done():
			wait = false
		}
	}
	s.posts.Lock()
	s.left = true
	s.posts.Unlock()
	if c := s.conn; c != nil {
		s.conn = nil
		_ = c.up.Close(s.h.ctx)
		c.endConnection(errGone.Error())
	}
	for {
		select {
		case j := <-s.inbox:
			s.rejectJob(j, errGone)
		default:
			return
		}
	}
}
