package queue

import (
	"context"
	"testing"
)

// Step has f called between the steps of every transaction.
func (o Options) Step(f func(string)) Options { o.step = f; return o }

// Knows makes a clawai that knows the first n migrations, and more.
func (o Options) Knows(n int, more ...Migration) Options {
	o.migrations = migrations[:n:n]
	for _, m := range more {
		o.migrations = append(o.migrations, migration{m.SQL, m.Oldest})
	}
	return o
}

// Migration is a step that no clawai has yet.
type Migration struct {
	SQL    string
	Oldest int
}

// AllSteps is how many migrations there are.
var AllSteps = len(migrations)

// TidyUp does at once what follows a moment after the last change.
func (q *Queue) TidyUp() { q.stopTidying() }

// Listening says whether a watcher of the system's is in use.
func (q *Queue) Listening() bool {
	q.watcher.mu.Lock()
	defer q.watcher.mu.Unlock()
	return len(q.watcher.listeners) > 0
}

// Dir returns the folder.
func (q *Queue) Dir() string { return q.dir }

// CountKept returns how many requests have what remains of them beside them.
func (q *Queue) CountKept(tb testing.TB) int {
	tb.Helper()
	all, err := q.selectTexts(context.Background(), "SELECT id FROM kept")
	if err != nil {
		tb.Fatal(err)
	}
	return len(all)
}
