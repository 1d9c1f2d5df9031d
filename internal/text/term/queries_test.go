package term

import "testing"

func TestRemoveQueries(t *testing.T) {
	const picture = "\x1b[?1049h\x1b[2J\x1b[1;31mDeny\x1b[m\x1b[<x"
	asked := "\x1b[?2026$p\x1b[?u\x1b[>4;1m\x1b[=1;1u\x1b[<1u\x1b[?5W"
	if got := string(RemoveQueries([]byte(asked + picture + asked))); got != picture {
		t.Errorf("got %q", got)
	}
}
