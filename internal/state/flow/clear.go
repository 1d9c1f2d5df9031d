package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A client that is cleared begins another conversation in the same process, and its servers
// stay. Only a hook tells us. It says so in the journal of the client's process: who was started
// by that process goes on with the journal that is named there last, which begins empty. Nothing
// is taken out: who names the conversation from before joins all that was linked with it.

// FollowClient heeds the clears of the client that has started us. Where the owner has named the
// session it is more than one client's, and no client ends it.
func (s *Session) FollowClient(getenv func(string) string) {
	if keys := ClientKeys(); len(keys) > 0 && getenv(sessionVars[0]) == "" {
		s.followProcess(keys[0])
	}
}

func (s *Session) followProcess(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.client = process, fileOf(process)
}

// lastEnd gives the journal that the last clear leads to; "" without any.
func (c *content) lastEnd() string {
	if n := len(c.ends); n > 0 {
		return c.ends[n-1]
	}
	return ""
}

// openOnce opens a journal, once.
func (s *Session) openOnce(name string) (*journal, error) {
	if j := s.root; j != nil && j.name == name {
		s.root, j.read = nil, 0
		return j, nil
	}
	return openJournal(s.dir, name)
}

// turnedBefore takes in the clears from before we were started.
func (s *Session) turnedBefore() error {
	if s.client == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(s.dir, s.client)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	j, err := openJournal(s.dir, s.client)
	if err != nil {
		return err
	}
	s.root = j
	_, err = s.moveIfCleared(j)
	return err
}

// moveIfCleared goes on elsewhere where the journal of the client's process says so.
func (s *Session) moveIfCleared(root *journal) (moved bool, err error) {
	if root == nil {
		return false, nil
	}
	c, err := s.readNew(root)
	if err != nil || !s.leadsElsewhere(&c) {
		return false, err
	}
	return true, s.moveTo(c.lastEnd())
}

// leadsElsewhere reports whether what is new in the journal of the client's process leads elsewhere. Where
// something was torn or changed nothing does.
func (s *Session) leadsElsewhere(c *content) bool {
	to := c.lastEnd()
	return to != "" && to != s.at && !s.labels.isDistrusted()
}

// moveTo lets go of all journals but that of the client's process, and begins with another.
func (s *Session) moveTo(to string) error {
	j, err := openJournal(s.dir, to)
	if err != nil {
		return err
	}
	for _, old := range s.journals {
		if old.name == s.client && s.root == nil {
			s.root = old
			continue
		}
		old.close()
	}
	for _, l := range s.said {
		if l.marks != nil {
			l.marks.close()
		}
	}
	s.journals, s.own, s.said, s.labels, s.at = []*journal{j}, 1, nil, labels{}, to
	s.gen.Add(1)
	return s.refreshLabels()
}

// ClearLabels ends what the session has seen: the client has begun a conversation of this key, and
// the one before is over. It is kept in mind, and why is not empty, where it is not certain that
// there is nothing else that has seen it.
func (s *Session) ClearLabels(key string) (why string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == "" {
		return "its client is not known by its process alone", nil
	}
	if err := s.refreshState(); err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(s.dir, fileOf(key))); !errors.Is(err, fs.ErrNotExist) {
		return "the conversation after it had begun before", nil
	}
	switch before, err := s.conversationKeys(); {
	case err != nil:
		return "", err
	case s.labels.isDistrusted():
		return "its journal is not as it was written", nil
	case len(before) == 0:
		return "the conversation before it is not known", nil
	case len(before) > 1:
		return fmt.Sprintf("%d conversations share what was seen", len(before)), nil
	}
	next := s.process + " " + key
	j, err := openJournal(s.dir, fileOf(next))
	if err != nil {
		return "", err
	}
	defer j.close()
	if err := j.writeLines(keyLine(next), keyLine(key)); err != nil {
		return "", err
	}
	root := s.root
	if i := slices.IndexFunc(s.journals, func(j *journal) bool { return j.name == s.client }); i >= 0 {
		root = s.journals[i]
	}
	if root == nil {
		return "the conversation before it is not known", nil
	}
	if err := root.writeLines(endLine(fileOf(next))); err != nil {
		return "", err
	}
	return "", s.refreshLabels()
}

// conversationKeys gives the keys of sessions that clients have named in what is linked.
func (s *Session) conversationKeys() (keys []string, err error) {
	for _, j := range s.journals {
		found, err := readJournal(filepath.Join(s.dir, j.name))
		if err != nil {
			return nil, err
		}
		if found.torn {
			s.labels.distrustEverything(time.Now())
		}
		for _, key := range found.keys {
			if strings.HasPrefix(key, bySession) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys, nil
}

// currentJournal gives the journal that the last clear has led to; "" before one, and where nobody
// has asked yet what the session has seen.
func (s *Session) currentJournal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journals != nil && s.err == nil {
		_ = s.refreshLabels() // who cannot read it is told by what is asked next
	}
	return s.at
}

// CurrentKeys gives the keys of the session that who has been started with some is of by now: others
// after a clear.
func CurrentKeys(state string, keys []string, getenv func(string) string) []string {
	s := New(state, keys)
	if s.FollowClient(getenv); s.client == "" {
		return keys
	}
	if name := lastOf(s.dir, s.process); name != s.client {
		if found, err := readJournal(filepath.Join(s.dir, name)); err == nil {
			return found.keys
		}
	}
	return keys
}

// lastOf gives the journal of a key: for that of a client's process, where the last clear has led.
func lastOf(dir, key string) string {
	name := fileOf(key)
	if !strings.HasPrefix(key, byProcess) {
		return name
	}
	if found, err := readJournal(filepath.Join(dir, name)); err == nil && found.lastEnd() != "" {
		return found.lastEnd()
	}
	return name
}
