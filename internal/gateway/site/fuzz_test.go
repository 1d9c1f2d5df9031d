package site

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// A filter that is understood stays understood, and the same, when a page of the list adds where the
// next one begins.
func FuzzQuery(f *testing.F) {
	for _, query := range []string{"", "decision=refused&tool=x", "since=2h&until=2026-11-30", "kind=all&session=k3f9x2m7qa&before=1764583200000000000-7", "before=-1-2", "tool=a&tool=b", "label=secret&decision=refused", "label=x", "since=99999d", "rule=%00"} {
		f.Add(query)
	}
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Skip()
		}
		q, err := parseQuery(values, now)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "The address has a filter") {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		_, next, _ := strings.Cut(withValue(values, "before", "1764583200000000000-7"), "?")
		more, err := url.ParseQuery(next)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", query, next, err)
		}
		again, err := parseQuery(more, now)
		if err != nil || again.Before.ID != 7 {
			t.Fatalf("%q becomes %q: %+v, %v", query, next, again, err)
		}
		if again.Before = q.Before; again != q {
			t.Errorf("%q becomes %q: %+v, %+v", query, next, q, again)
		}
	})
}
