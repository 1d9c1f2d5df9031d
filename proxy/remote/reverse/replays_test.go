package reverse

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/proxy/remote/sse"
)

// An event that one stream is carrying across while another brings it again is
// waited for: it is a replay if it crosses, and new if it does not.
func TestReplayOfWhatIsUnderway(t *testing.T) {
	event := func(id, data string) *sse.Event {
		return &sse.Event{ID: id, Data: []byte(data), HasID: true, HasData: true}
	}
	for _, crosses := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var r replays
			e := event("c1.4", "{}")
			done := r.carrying(e)
			r.carrying(e)() // the same once more ends nothing
			verdict := make(chan bool, 1)
			go func() { verdict <- r.crossed(t.Context(), event("c1.4", "{}")) }()
			synctest.Wait()
			if len(verdict) > 0 {
				t.Fatal("the replay was judged before the event had crossed, or had not")
			}
			if crosses {
				r.add(e) // and it may take long until the carrier is done
			} else {
				done()
			}
			if got := <-verdict; got != crosses {
				t.Errorf("crossed: %v, want %v", got, crosses)
			}
			done()
			if got := r.crossed(t.Context(), e); got != crosses || len(r.underway) > 0 {
				t.Errorf("afterwards: %v, %d under way", got, len(r.underway))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var r replays
		done := r.carrying(event("c1.4", "{}"))
		defer done()
		if r.crossed(t.Context(), event("c1.5", "{}")) || r.crossed(t.Context(), event("c1.4", "[]")) || r.crossed(t.Context(), event("", "{}")) {
			t.Error("another event was taken for the one under way")
		}
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		if !r.crossed(gone, event("c1.4", "{}")) {
			t.Error("an event that nobody reads was carried across")
		}
	})
}
