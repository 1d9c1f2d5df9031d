package injection

import (
	"compress/gzip"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"

	"github.com/clawai/clawai/internal/testing/wordings"
)

var update = flag.Bool("update", false, "write table.bin anew")

// The table that is shipped is what comes of the texts of internal/testing/wordings, byte
// for byte: go test ./internal/text/inspect/injection -run Table -update writes it.
func TestTable(t *testing.T) {
	slow.Test(t)
	learned := train(wordings.Families())
	if *update {
		if err := os.WriteFile("table.bin", learned, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(learned) != table {
		t.Error("table.bin is not what is learned from the texts: run this test with -update, and measure again (docs/detection.md)")
	}
}

// sample is a window of a text.
type sample struct {
	attack bool
	wide   bool
	words  [][4]uint32
}

// texts of each kind that are learned from, and how often.
const (
	learnedTexts  = 6000
	learnedRounds = 6
)

// rare is how often a word must have been seen to weigh anything.
const rare = 4

// goal is what a window of an attack shall sum up to in learning; an ordinary one to
// nothing. scale makes it the levels of Find.
const (
	goal  = 130
	scale = 4
)

// train learns a table: an averaged perceptron with a margin, in whole numbers, so that
// every machine comes to the same bytes.
func train(families []wordings.Family) []byte {
	samples := windows(families)
	weights, sums := make([]int, Buckets), make([]int, Buckets)
	rounds := 0
	seen := make([]int, Buckets)
	for i := range samples {
		for _, w := range samples[i].words {
			for _, f := range w {
				seen[f%Buckets]++
			}
		}
	}
	for range learnedRounds {
		for i := range samples {
			s := &samples[i]
			sum := 0
			for _, w := range s.words {
				for _, f := range w {
					sum += weights[f%Buckets]
				}
			}
			want := goal
			if s.wide {
				want = goal * wideTo / 100
			}
			step := 0
			switch {
			case s.attack && sum < want:
				step = 1
			case !s.attack && sum > 0:
				step = -1
			}
			for _, w := range s.words {
				for _, f := range w {
					weights[f%Buckets] = min(max(weights[f%Buckets]+step, -31), 31)
				}
			}
		}
		rounds++
		for i, w := range weights {
			sums[i] += w
		}
	}
	out := make([]byte, Buckets)
	for i, w := range sums {
		if seen[i] >= rare {
			out[i] = byte(int8(min(max(w*scale/rounds, -127), 127)))
		}
	}
	return out
}

// windows are those of attacks among ordinary texts, and of ordinary texts alone.
func windows(families []wordings.Family) (all []sample) {
	s := wordings.New(1)
	real := features(ordinary())
	for n := range learnedTexts {
		attack := s.Attack(&families[n%len(families)])
		before, behind := features(s.Ordinary(8)), features(s.Ordinary(8))
		if n%2 == 0 {
			at := n * 7919 % (len(real) - Wide)
			before, behind = real[at:at+Wide], real[at:at+Wide]
		}
		payload := features(attack)
		for _, size := range []int{Narrow, Wide} {
			part := payload[:min(len(payload), size)]
			room := size - len(part)
			lead := min(room*(n%3)/2, len(before))
			w := slices.Concat(before[len(before)-lead:], part)
			w = append(w, behind[:min(room-lead, len(behind))]...)
			all = append(all, sample{true, size == Wide, w})
		}
		for _, text := range []string{s.Ordinary(1), s.Ordinary(12)} {
			words := features(text)
			for _, size := range []int{Narrow, Wide} {
				for at := 0; at < len(words); at += size {
					all = append(all, sample{false, size == Wide, words[at:min(at+size, len(words))]})
				}
			}
		}
	}
	words := features(ordinary())
	for _, size := range []int{Narrow, Wide} {
		for at := 0; at < len(words); at += size / 2 {
			all = append(all, sample{false, size == Wide, words[at:min(at+size, len(words))]})
		}
	}
	r := rand.New(rand.NewPCG(1, 17))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// ordinary is text of this project as it stood in November 2026, documents, code and
// fixtures: frozen, so that the table is the same while they go on.
func ordinary() string {
	file, err := os.Open("testdata/ordinary.txt.gz")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func features(text string) (all [][4]uint32) {
	for r := (reader{text: text}); r.nextWord(); {
		alone, two, three, apart := r.wordFeatures()
		all = append(all, [4]uint32{alone, two, three, apart})
	}
	return all
}
