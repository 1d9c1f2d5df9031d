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
	ways, n := readings(text)
	if n == 1 {
		findStretches(&ways[0], level, visit)
		return
	}
	var all []stretch
	for i := range ways[:n] {
		slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
		before, at := len(all), 0
		findStretches(&ways[i], level, func(start, end int, top Level) {
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
		score, from := s.addWord(weighWord(table, r.wordFeatures()), r.start)
		switch {
		case score < level:
			continue
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
	ways, n := readings(text)
	for i := range ways[:n] {
		r := &ways[i]
		var s scorer
		for r.nextWord() {
			score, _ := s.addWord(weighWord(table, r.wordFeatures()), r.start)
			top = max(top, score)
		}
	}
	return top
}

func weighWord(table string, features [4]uint32) (sum int) {
	for _, f := range features {
		sum += int(int8(table[f%Buckets]))
	}
	return sum
}

// scorer sums up the weights of the last words in the narrow and the wide window.
type scorer struct {
	last         [Wide]struct{ weight, start int }
	n            int
	narrow, wide int
}

// addWord adds the next word's weight and offset. Of the two windows that end with this word it
// returns the higher sum, on the scale of narrow windows, and the offset where that window begins.
func (s *scorer) addWord(weight, start int) (score Level, from int) {
	at := s.n % Wide
	if s.n >= Wide {
		s.wide -= s.last[at].weight
	}
	if s.n >= Narrow {
		s.narrow -= s.last[(s.n-Narrow)%Wide].weight
	}
	s.last[at].weight, s.last[at].start = weight, start
	s.n++
	s.narrow, s.wide = s.narrow+weight, s.wide+weight
	if wide := s.wide * 100 / wideTo; wide > s.narrow {
		return Level(wide), s.windowStart(Wide)
	}
	return Level(s.narrow), s.windowStart(Narrow)
}

// windowStart returns the offset where the window of the given number of words begins.
func (s *scorer) windowStart(words int) int { return s.last[max(0, s.n-words)%Wide].start }
