package hub

import (
	"testing"
	"time"
)

// SetAwayFor sets how long clients may take to come back, until the test ends.
func SetAwayFor(t *testing.T, d time.Duration) {
	before := awayFor
	awayFor = d
	t.Cleanup(func() { awayFor = before })
}

// SetLeaveGrace sets how long servers that have left may take to answer, until the test ends.
func SetLeaveGrace(t *testing.T, d time.Duration) {
	before := leaveGrace
	leaveGrace = d
	t.Cleanup(func() { leaveGrace = before })
}

// SetRelistAfter sets how long what is called changed is left to clients, until the test ends.
func SetRelistAfter(t *testing.T, d time.Duration) {
	before := relistAfter
	relistAfter = d
	t.Cleanup(func() { relistAfter = before })
}
