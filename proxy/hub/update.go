package hub

import (
	"slices"
	"time"
)

// currentServers returns the current servers in their order. The slice is never modified.
func (h *hub) currentServers() []*server { return *h.servers.Load() }

// applyUpdates applies new lists of servers as they come.
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

// replaceServers keeps the unchanged servers running, adds the new servers and lets the removed
// servers finish. It reports whether anything has changed.
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
			time.AfterFunc(leaveGrace, s.end) // also ends a server that is starting
		}
	}
	return !slices.Equal(before, after)
}

// leaveGrace is the time for requests in flight at a removed server.
var leaveGrace = 5 * time.Second

// retireServer ends a removed server after its outstanding answers have come or leaveGrace is
// over.
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
