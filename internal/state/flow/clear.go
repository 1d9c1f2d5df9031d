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

// When the user clears a client, the client begins another conversation in the same process and
// keeps its servers. Only a hook reports this. The hook adds an e line to the journal of the
// client's process. The e line names a new journal. Every proxy and hook that this process has
// started continues with the journal of the last e line. Nothing is removed: if a client names the
// earlier conversation, its session joins everything that was linked with that conversation.

// FollowClient makes the session follow the clears of the client that started us. It does nothing
// if the owner has named the session, because several clients may share such a session.
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

// lastEnd returns the journal of the last clear; "" if there was no clear.
func (c *content) lastEnd() string {
	if n := len(c.ends); n > 0 {
		return c.ends[n-1]
	}
	return ""
}

// openOnce opens a journal. For the journal of s.root it returns s.root, so that no journal is open
// twice.
func (s *Session) openOnce(name string) (*journal, error) {
	if j := s.root; j != nil && j.name == name {
		s.root, j.read = nil, 0
		return j, nil
	}
	return openJournal(s.dir, name)
}

// turnedBefore applies the clears that were reported before this process started.
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

// moveIfCleared looks for a new clear in root, the journal of the client's process. If there is
// one, the session moves to the journal that the clear names.
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

// leadsElsewhere reports whether the new lines in the journal of the client's process lead to
// another journal. It returns false if any journal has a torn or changed line.
func (s *Session) leadsElsewhere(c *content) bool {
	to := c.lastEnd()
	return to != "" && to != s.at && !s.labels.isDistrusted()
}

// moveTo closes all journals except the journal of the client's process, and opens the journal with
// the given file name.
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

// ClearLabels lets the session begin anew without labels. The caller knows from the client that a
// conversation with this key has begun and that the earlier one is over. If this is not certain, or
// if another program may have seen the same data, the labels stay, and the result why is the
// reason.
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

// conversationKeys returns the session keys in the linked journals. Clients have named these keys.
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

// currentJournal returns the name of the journal of the last clear. It returns "" before the first
// clear, and if the journals were never opened.
func (s *Session) currentJournal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journals != nil && s.err == nil {
		_ = s.refreshLabels() // an error is ignored here: the next request reports it
	}
	return s.at
}

// CurrentKeys returns the keys that a session has now. keys are the keys with which it was started.
// A clear changes the keys.
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

// lastOf returns the file name of a key's journal. For the key of a client's process, it returns
// the journal of the last clear.
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
