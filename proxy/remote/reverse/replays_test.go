package reverse

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/internal/wire/sse"
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
			done, crossed := r.claimEvent(t.Context(), e, false)
			late, again := r.claimEvent(t.Context(), e, false)
			if late(); crossed || again {
				t.Fatal("a stream that was not taken up brought a replay")
			}
			verdict := make(chan bool, 1)
			go func() {
				done, crossed := r.claimEvent(t.Context(), event("c1.4", "{}"), true)
				done()
				verdict <- crossed
			}()
			synctest.Wait()
			if len(verdict) > 0 {
				t.Fatal("the replay was judged before the event had crossed, or had not")
			}
			if crosses {
				r.addEvent(e) // and it may take long until the carrier is done
			} else {
				done()
			}
			if got := <-verdict; got != crosses {
				t.Errorf("crossed: %v, want %v", got, crosses)
			}
			done()
			if len(r.inProgress) > 0 {
				t.Errorf("%d events are under way for ever", len(r.inProgress))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var r replays
		done, _ := r.claimEvent(t.Context(), event("c1.4", "{}"), true)
		defer done()
		for _, other := range []*sse.Event{event("c1.5", "{}"), event("c1.4", "[]"), event("", "{}")} {
			if done, crossed := r.claimEvent(t.Context(), other, true); crossed {
				t.Errorf("%s was taken for the one under way", other.ID)
			} else {
				done()
			}
		}
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		if _, crossed := r.claimEvent(gone, event("c1.4", "{}"), true); !crossed {
			t.Error("an event that nobody reads was carried across")
		}
	})
}
