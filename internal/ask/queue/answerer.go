package queue

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Answerer marks that a person watches the queue. The mark disappears when the process ends, even
// after a crash.
type Answerer struct {
	q        *Queue
	presence *presence
}

func isKind(s string) bool {
	return s != "" && len(s) <= 20 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// AddAnswerer marks that a person watches the queue, until Close. kind names the place of the
// person, such as "console" or "web".
func (q *Queue) AddAnswerer(kind string) (*Answerer, error) {
	if !isKind(kind) {
		return nil, fmt.Errorf("the queue: %q is not a kind of attendance", kind)
	}
	p, err := claimFile(q.filePath(attending, kind+"."+newID()))
	if err != nil {
		return nil, fmt.Errorf("the queue in %q: %w", q.dir, err)
	}
	q.notifyAll()
	return &Answerer{q, p}, nil
}

// Close ends the mark that a person watches the queue.
func (a *Answerer) Close() error {
	err := a.presence.releaseFile()
	a.q.notifyAll()
	return err
}

// Answerers lists the kinds of all present answerers, each kind once. It makes a few system calls
// and does not open the database.
func (q *Queue) Answerers() ([]string, error) {
	names, err := namesIn(q.filePath(attending))
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, name := range names {
		kind, _, _ := strings.Cut(name, ".")
		if !isKind(kind) || slices.Contains(kinds, kind) {
			continue
		}
		path := filepath.Join(q.filePath(attending), name)
		claimed, err := isClaimed(path)
		if err == nil && !claimed {
			err = removeStale(path)
		}
		if err != nil {
			return nil, err
		}
		if claimed {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}
