package injection

import (
	"cmp"
	_ "embed"
	"slices"
)

// Buckets is the number of weights in the table; a power of two.
const Buckets = 1 << 18

//go:embed table.bin
var table string // int8 values, one per bucket

// Sizes of the windows in words.
const (
	Narrow = 24
	Wide   = 64
)

// Level is the sum that a window must reach: Likely for a closer look, Strict for a sum that no
// ordinary text reached when the table was made.
type Level int

// The levels of a narrow window; a wide window must reach wideTo percent of them.
const (
	Likely Level = 1200
	Strict Level = 1900
)

// wideTo is the level for a wide window in percent of that for a narrow window: the square root of
// the ratio of the window sizes.
const wideTo = 163

// FindStretches visits, in order, the stretches of text whose windows reach a level; top is the
// highest sum among these windows, on the scale of narrow windows. HTML is read as written and
// again as drawn; the second reading does not visit a stretch again.
func FindStretches(text string, level Level, visit func(start, end int, top Level)) {
	n := readings(text)
	if n == 1 {
		findStretches(readingOf(text, 0), level, visit)
		return
	}
	var all []stretch
	for i := range n {
		slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
		before, at := len(all), 0
		findStretches(readingOf(text, i), level, func(start, end int, top Level) {
			for at < before && all[at].end <= start {
				at++
			}
			if at < before && all[at].start < end {
				all[at].top = max(all[at].top, top)
				return
			}
			all = append(all, stretch{start, end, top})
		})
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	for _, one := range all {
		visit(one.start, one.end, one.top)
	}
}

// stretch is a stretch that FindStretches visits.
type stretch struct {
	start, end int
	top        Level
}

func findStretches(r *reader, level Level, visit func(start, end int, top Level)) {
	var s scorer
	start, end, top := -1, 0, Level(0)
	for r.nextWord() {
		score, words := s.addWord(r.weighWord(table), r.start)
		if score < level {
			continue
		}
		from := s.windowStart(words)
		switch {
		case start >= 0 && from <= end:
			end, top = r.end, max(top, score)
			continue
		case start >= 0:
			visit(start, end, top)
		}
		start, end, top = from, r.end, score
	}
	if start >= 0 {
		visit(start, end, top)
	}
}

// TopScore returns the highest sum of any window of the text.
func TopScore(text string) (top Level) {
	for i := range readings(text) {
		r := readingOf(text, i)
		var s scorer
		for r.nextWord() {
			score, _ := s.addWord(r.weighWord(table), r.start)
			top = max(top, score)
		}
	}
	return top
}

// weighWord returns the sum of the weights of the last word's features.
func (r *reader) weighWord(table string) int {
	alone, two, three, apart := r.wordFeatures()
	t := table[:Buckets]
	return int(int8(t[alone%Buckets])) + int(int8(t[two%Buckets])) + int(int8(t[three%Buckets])) + int(int8(t[apart%Buckets]))
}

// scorer sums up the weights of the last words in the narrow and the wide window. Before the first word lies nothing, which
// weighs nothing.
type scorer struct {
	last         [Wide]struct{ weight, start int32 } // an offset fits, because a text has at most 4 MiB
	n            uint
	narrow, wide int32
}

// addWord adds the next word's weight and offset. Of the two windows that end with this word it
// returns the higher sum, on the scale of narrow windows, and the number of words in that window.
func (s *scorer) addWord(weight, start int) (score Level, words int) {
	w, n := int32(weight), s.n
	s.wide += w - s.last[n%Wide].weight
	s.narrow += w - s.last[(n-Narrow)%Wide].weight
	s.last[n%Wide].weight, s.last[n%Wide].start = w, int32(start)
	s.n = n + 1
	if wide := s.wide * 100 / wideTo; wide > s.narrow {
		return Level(wide), Wide
	}
	return Level(s.narrow), Narrow
}

// windowStart returns the offset where the window of the given number of words begins.
func (s *scorer) windowStart(words int) int {
	return int(s.last[(s.n-min(s.n, uint(words)))%Wide].start)
}
