package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/enrolment"
)

// BenchmarkAnswerToWaiter measures the time from the click of an approver at one centre, before it is sent, until
// the laptop that waits at another one has the answer; both are processes on one PostgreSQL. Beside that, a
// hundred other calls wait at both. What a mere look at the question takes says how busy the machine is.
func BenchmarkAnswerToWaiter(b *testing.B) {
	w := newTeam(b, 2, "")
	ana := w.signIn("ana")
	over := make(chan struct{})
	var idle sync.WaitGroup
	defer idle.Wait()
	defer close(over)
	for range 5 {
		grant := w.enrol()
		for i := range 20 {
			_, q := w.call(w.replicas[0], grant.Token, "POST", "", newAsk(i))
			idle.Go(func() {
				time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond) //nolint:gosec // calls do not begin to wait all at once
				for {
					select {
					case <-over:
						return
					default:
						seconds := 3 + rand.IntN(10) //nolint:gosec // nor do they end so
						w.call(w.replicas[i%2], grant.Token, "GET", fmt.Sprintf("/%s?wait=%d", q.ID, seconds), nil)
					}
				}
			})
		}
	}
	grant := w.enrol()
	var took, looks []time.Duration
	for n := 0; b.Loop(); n++ {
		asked := newAsk(n)
		_, q := w.call(w.replicas[0], grant.Token, "POST", "", asked)
		waited := make(chan error, 1)
		var end time.Time
		go func() {
			status, got := w.call(w.replicas[1], grant.Token, "GET", "/"+q.ID+"?wait=30", nil)
			end = time.Now()
			if got.State != enrolment.QuestionApproved {
				waited <- fmt.Errorf("%d, %+v", status, got)
				return
			}
			waited <- nil
		}()
		time.Sleep(20 * time.Millisecond) // until it waits
		began := time.Now()
		w.call(w.replicas[1], grant.Token, "GET", "/"+q.ID, nil)
		looks = append(looks, time.Since(began))
		began = time.Now()
		if status := w.answer(w.replicas[0], ana, q.ID, asked.Digest, true); status != http.StatusSeeOther {
			b.Fatal(status)
		}
		w.must(<-waited)
		took = append(took, end.Sub(began))
	}
	for of, all := range map[string][]time.Duration{"": took, "look-": looks} {
		slices.Sort(all)
		for _, percent := range []int{50, 99} {
			b.ReportMetric(float64(all[(len(all)-1)*percent/100])/1e6, fmt.Sprintf("%sp%d-ms", of, percent))
		}
	}
	b.ReportMetric(0, "ns/op") // it has the pause
}
