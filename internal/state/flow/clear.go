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
// client's process. Every proxy and hook that this process started then continues with the journal
// that the last e line names, which begins empty. Nothing is removed: a client that names the
// earlier conversation joins all that was linked with it.

// FollowClient makes the session follow the clears of the client that started us. When the owner
// has named the session, several clients may share it, and no client ends it.
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

// lastEnd returns the journal that the last clear leads to; "" if there was no clear.
func (c *content) lastEnd() string {
	if n := len(c.ends); n > 0 {
		return c.ends[n-1]
	}
	return ""
}

// openOnce opens a journal. If it is s.root, openOnce returns s.root instead of opening it twice.
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

// moveIfCleared moves to another journal if root, the journal of the client's process, has a new
// clear.
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

// moveTo closes all journals except that of the client's process, and continues with another one.
// to is the file name of that one.
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

// ClearLabels lets the session begin anew without labels, because the client has begun a
// conversation with this key and the earlier conversation is over. If that is not certain, or
// something else may have seen the same data, the labels stay, and why is the reason.
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

// conversationKeys returns the session keys that clients have named in the linked journals.
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

// currentJournal returns the journal that the last clear has led to. It returns "" before the
// first clear, and also when nobody has yet asked what the session has seen.
func (s *Session) currentJournal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journals != nil && s.err == nil {
		_ = s.refreshLabels() // the next request reports the error
	}
	return s.at
}

// CurrentKeys returns the current keys of the session that was started with some keys. After a
// clear, a session has other keys.
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

// lastOf returns the file name of a key's journal. For the key of a client's process, that is the
// journal that the last clear has led to.
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
