package injection

import (
	"cmp"
	_ "embed"
	"slices"
)

// Buckets is the number of weights in the table. It is a power of two.
const Buckets = 1 << 18

//go:embed table.bin
var table string // one int8 weight per bucket

// Sizes of the windows in words.
const (
	Narrow = 24
	Wide   = 64
)

// Level is the sum of weights that a window must reach. Likely means that the text needs a closer
// look. No ordinary text had reached Strict when the table was made.
type Level int

// Values of Level for a narrow window. A wide window must reach wideTo percent of them.
const (
	Likely Level = 1200
	Strict Level = 1900
)

// wideTo is the level of a wide window in percent of the level of a narrow window. It is 100 times
// the square root of Wide / Narrow.
const wideTo = 163

// FindStretches visits, in order, the stretches of text in which a window reaches the level. top is
// the highest sum of these windows, on the scale of narrow windows. HTML is read as written, and
// also as a browser draws it. A stretch that both readings find is visited once.
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

// stretch is a stretch of text that reaches the level.
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

// TopScore returns the highest sum that any window of the text reaches.
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

// weighWord returns the weight of the last word: the sum of the weights of its features.
func (r *reader) weighWord(table string) int {
	alone, two, three, apart := r.wordFeatures()
	t := table[:Buckets]
	return int(int8(t[alone%Buckets])) + int(int8(t[two%Buckets])) + int(int8(t[three%Buckets])) + int(int8(t[apart%Buckets]))
}

// scorer adds up the weights of the last words, for the narrow and the wide window. Places before
// the first word have the weight 0.
type scorer struct {
	last         [Wide]struct{ weight, start int32 } // an offset fits into int32, because a text has at most 4 MiB
	n            uint
	narrow, wide int32
}

// addWord adds the weight and the offset of the next word. It returns the higher sum of the two
// windows that end with this word, on the scale of narrow windows, and the number of words in that
// window.
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

// windowStart returns the offset of the first word in the window that ends with the last word. The
// parameter is the number of words in this window.
func (s *scorer) windowStart(words int) int {
	return int(s.last[(s.n-min(s.n, uint(words)))%Wide].start)
}
