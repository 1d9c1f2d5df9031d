package queue

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Attendance says that somebody looks at the queue. It ends with the process,
// however that ends.
type Attendance struct {
	q    *Queue
	here *presence
}

func isKind(s string) bool {
	return s != "" && len(s) <= 20 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// Attend says that somebody looks at the queue, until Close. Kind is a word such
// as "console" or "web".
func (q *Queue) Attend(kind string) (*Attendance, error) {
	if !isKind(kind) {
		return nil, fmt.Errorf("the queue: %q is no kind of attendance", kind)
	}
	here, err := appear(q.path(attending, kind+"."+newID()))
	if err != nil {
		return nil, fmt.Errorf("the queue in %q: %w", q.dir, err)
	}
	q.changed()
	return &Attendance{q, here}, nil
}

// Close ends the attendance.
func (a *Attendance) Close() error {
	err := a.here.leave()
	a.q.changed()
	return err
}

// Attended lists the kinds of those who look at the queue now, each once. It
// costs a few system calls and does not open the database.
func (q *Queue) Attended() ([]string, error) {
	names, err := namesIn(q.path(attending))
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, name := range names {
		kind, _, _ := strings.Cut(name, ".")
		if !isKind(kind) || slices.Contains(kinds, kind) {
			continue
		}
		path := filepath.Join(q.path(attending), name)
		there, err := present(path)
		if err == nil && !there {
			err = clearAway(path)
		}
		if err != nil {
			return nil, err
		}
		if there {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}
