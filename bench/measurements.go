//go:build linux

package main

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"
)

// measurement measures one or more figures of every way. The number of rounds is divided by dear,
// which is large for a slow measurement.
type measurement struct {
	name string
	dear int
	run  func(*trial, context.Context) error
}

var measurements = []measurement{
	{"calls", 1, (*trial).calls},
	{"results", 1, (*trial).results},
	{"http", 1, (*trial).overHTTP},
	{"start", 1, (*trial).starts},
	{"memory", 5, (*trial).memory},
	{"instructions", 20, (*trial).instructions},
}

func names() (all []string) {
	for _, m := range measurements {
		all = append(all, m.name)
	}
	return all
}

// trial is a running measurement.
type trial struct {
	bed    *testbed
	report *report
	rounds int
	quick  bool
}

// of returns the number of repetitions. It is n, but n/20 in a quick run, because the figures of a
// quick run are not published.
func (t *trial) of(n int) int {
	if t.quick {
		return max(n/20, 1)
	}
	return n
}

// eachRound calls do(i) for every way i in every round. Each round starts with another way, so that
// no way is the first one in every round.
func (t *trial) eachRound(ctx context.Context, do func(i int) error) error {
	for round := range t.rounds {
		for i := range t.bed.ways {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do((round + i) % len(t.bed.ways)); err != nil {
				return err
			}
		}
	}
	return nil
}

// running starts n processes of every way and makes one call with each process. Then it passes all
// processes to the function use, and stops them. The processes of way i start at index i*n.
func (t *trial) running(ctx context.Context, n int, use func([]*process) error) (err error) {
	var all []*process
	defer func() {
		for _, p := range all {
			err = errors.Join(err, p.stop())
		}
	}()
	for _, w := range t.bed.ways {
		for range n {
			p, err := t.bed.start(ctx, w)
			if err != nil {
				return err
			}
			all = append(all, p)
			if err := p.call(0); err != nil {
				return err
			}
		}
	}
	return use(all)
}

// calls measures small calls: first one at a time, then with 64 open calls at the same time.
func (t *trial) calls(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return t.running(ctx, 1, func(all []*process) error {
		return t.eachRound(ctx, func(i int) error {
			if err := t.oneAtATime(all[i], t.of(1000)); err != nil {
				return err
			}
			return t.together(all[i], t.of(50_000))
		})
	})
}

func (t *trial) oneAtATime(p *process, calls int) error {
	took := make([]float64, calls)
	for i := range took {
		began := time.Now()
		if err := p.call(0); err != nil {
			return err
		}
		took[i] = micros(time.Since(began))
	}
	slices.Sort(took)
	t.report.add(p50, p.way, took[calls/2])
	t.report.add(p99, p.way, took[calls*99/100])
	return nil
}

func (t *trial) together(p *process, calls int) error {
	user, err := p.userTime()
	if err != nil {
		return err
	}
	all, began := p.allTime(), time.Now()
	if err := p.inFlight(64, calls); err != nil {
		return err
	}
	took, spent := time.Since(began), p.allTime()-all
	later, err := p.userTime()
	if err != nil {
		return err
	}
	t.report.add(throughput, p.way, float64(calls)/1000/took.Seconds())
	if p.way.name != bare { // the bare way is only the server, so there is no time to measure
		t.report.add(userTime, p.way, micros(later-user)/float64(calls))
		t.report.add(allTime, p.way, micros(spent)/float64(calls))
	}
	return nil
}

// longestSearched is the largest result, in bytes, that clawai searches completely. The policy that
// clawai init writes withholds larger results.
const longestSearched = 4 << 20

// results measures large results, one call after the other.
func (t *trial) results(ctx context.Context) error {
	return t.running(ctx, 1, func(all []*process) error {
		for _, r := range []struct {
			*figure
			size, calls int
		}{{result64K, 64 << 10, 200}, {result1M, 1 << 20, 20}, {result16M, 16 << 20, 2}} {
			if err := t.eachRound(ctx, func(i int) error {
				if r.size > longestSearched && t.report.isUnderInit(all[i].way.name) {
					return nil
				}
				n := t.of(r.calls)
				began := time.Now()
				for range n {
					if err := all[i].call(r.size); err != nil {
						return err
					}
				}
				t.report.add(r.figure, all[i].way, float64(n*r.size)/1e6/time.Since(began).Seconds())
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// starts measures the time from the start of a process to its first answer. It does not count the
// very first start, because that start also creates the state folder and its key.
func (t *trial) starts(ctx context.Context) error {
	if err := t.running(ctx, 1, func([]*process) error { return nil }); err != nil {
		return err
	}
	return t.eachRound(ctx, func(i int) error {
		var took []float64
		for range t.of(5) {
			began := time.Now()
			p, err := t.bed.start(ctx, t.bed.ways[i])
			if err != nil {
				return err
			}
			err = p.call(0)
			took = append(took, micros(time.Since(began))/1000)
			if err := errors.Join(err, p.stop()); err != nil {
				return err
			}
		}
		slices.Sort(took)
		t.report.add(startTime, t.bed.ways[i], took[len(took)/2])
		return nil
	})
}

// settled is the wait after the first call of a process, because the process may still do deferred
// work.
const settled = 1500 * time.Millisecond

// memory measures what a process does in its first second. Then it measures the memory after one
// call, with one process and with ten processes of each way. After that, it measures the memory after
// a second call, after many calls, at the peak of one large result, and after that result.
func (t *trial) memory(ctx context.Context) error {
	for range t.rounds {
		for _, w := range t.bed.ways {
			if err := t.begins(ctx, w); err != nil {
				return err
			}
		}
		if err := t.running(ctx, 10, func(all []*process) error {
			time.Sleep(settled)
			return t.held(all, 10)
		}); err != nil {
			return err
		}
		if err := t.running(ctx, 1, func(all []*process) error {
			time.Sleep(settled)
			if err := t.held(all, 1); err != nil {
				return err
			}
			if err := t.wakes(all); err != nil {
				return err
			}
			return t.worked(all)
		}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// begins measures one process: its memory at its first answer, and its processor time in the first
// second after its start.
func (t *trial) begins(ctx context.Context, w way) error {
	began := time.Now()
	p, err := t.bed.start(ctx, w)
	if err != nil {
		return err
	}
	if err = p.call(0); err == nil {
		err = t.addResident(residentFirst, p)
	}
	time.Sleep(time.Until(began.Add(time.Second)))
	if w.name != bare { // the bare way is only the server, so there is no time to measure
		t.report.add(firstSecond, w, micros(p.allTime())/1000)
	}
	return errors.Join(err, p.stop())
}

// wakes makes one call with each process, which was idle before, and then reads its memory.
func (t *trial) wakes(all []*process) error {
	for _, p := range all {
		if err := p.call(0); err != nil {
			return err
		}
		if err := t.addResident(residentAgain, p); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) addResident(f *figure, p *process) error {
	resident, _, err := t.bed.memory(p.cmd.Process.Pid)
	t.report.add(f, p.way, resident)
	return err
}

// held reads the memory of processes. The parameter all has n processes for each way, and the
// processes of one way follow one another.
func (t *trial) held(all []*process, n int) error {
	for same := range slices.Chunk(all, n) {
		var resident, proportional float64
		for _, p := range same {
			r, s, err := t.bed.memory(p.cmd.Process.Pid)
			if err != nil {
				return err
			}
			resident, proportional = resident+r, proportional+s
		}
		if n == 1 {
			t.report.add(residentIdle, same[0].way, resident)
			t.report.add(share1, same[0].way, proportional)
		} else {
			t.report.add(share10, same[0].way, proportional/float64(n))
		}
	}
	return nil
}

// worked measures one process of each way: its memory after many calls, its peak during a large
// result, and its memory some time later.
func (t *trial) worked(all []*process) error {
	for _, p := range all {
		if err := p.inFlight(64, t.of(100_000)); err != nil {
			return err
		}
		if err := t.addResident(residentWorked, p); err != nil {
			return err
		}
		if t.report.isUnderInit(p.way.name) {
			continue // the policy of clawai init withholds such a large result
		}
		if err := p.call(63 << 20); err != nil {
			return err
		}
		peak, err := p.peak()
		if err != nil {
			return err
		}
		t.report.add(peak63M, p.way, peak)
	}
	time.Sleep(2 * settled)
	for _, p := range all {
		if err := t.addResident(keptAfter63M, p); err != nil {
			return err
		}
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }
