//go:build linux

package main

import "slices"

// relation is the comparison of two ways within a round: a quotient or a difference.
type relation int

const (
	ratio      relation = iota // the quotient of both figures
	difference                 // the difference of both figures
)

// figure is one row of the table: what is measured, and the goal for it.
type figure struct {
	name     string // the name in the table and in the JSON
	unit     string
	digits   int
	against  string // the name of the way to compare with; "" means no comparison
	relation relation
	goal     string // the goal for clawai
}

var (
	p50                = &figure{"one call at a time, p50", "µs", 1, byteRelay, ratio, "≤ 1.10 ×"}
	p99                = &figure{"one call at a time, p99", "µs", 1, byteRelay, ratio, "≤ 1.10 ×"}
	throughput         = &figure{"64 in flight, calls a second", "thousand", 0, byteRelay, ratio, "≥ 0.6 ×"}
	userTime           = &figure{"64 in flight, user time a call", "µs", 1, "", ratio, "≤ 3 µs"}
	allTime            = &figure{"64 in flight, processor time a call", "µs", 1, "", ratio, ""}
	instructions       = &figure{"instructions a call, without SHA-256", "", 0, "", ratio, "≤ 25000"}
	usualInstructions  = &figure{"the same after tools/list, calls with a _meta", "", 0, "", ratio, ""}
	sha256Instructions = &figure{"instructions of SHA-256 a call, without SHA instructions", "", 0, "", ratio, ""}
	startTime          = &figure{"start, from spawning to the first answer", "ms", 1, bare, difference, "≤ + 4.0 ms"}
	firstSecond        = &figure{"processor time in the first second, with one call", "ms", 1, "", ratio, ""}
	residentFirst      = &figure{"resident at the first answer", "MiB", 1, "", ratio, "≤ 10 MiB"}
	residentIdle       = &figure{"idle, resident", "MiB", 1, "", ratio, "≤ 12 MiB"}
	residentAgain      = &figure{"resident one call later", "MiB", 1, "", ratio, "≤ 10 MiB"}
	share1             = &figure{"idle, proportional, one proxy", "MiB", 1, "", ratio, ""}
	share10            = &figure{"idle, proportional, each of ten proxies", "MiB", 1, "", ratio, "≤ 3 MiB"}
	residentWorked     = &figure{"resident after 100,000 calls", "MiB", 1, "", ratio, ""}
	peak63M            = &figure{"resident at the peak of a result of 63 MiB", "MiB", 0, "", ratio, ""}
	keptAfter63M       = &figure{"resident three seconds after it", "MiB", 1, "", ratio, ""}
	result64K          = &figure{"results of 64 KiB", "MB/s", 0, byteRelay, ratio, ""}
	result1M           = &figure{"results of 1 MiB", "MB/s", 0, byteRelay, ratio, "≥ 400 MB/s"}
	result16M          = &figure{"results of 16 MiB", "MB/s", 0, byteRelay, ratio, ""}
	httpJSON           = &figure{"HTTP, one call at a time, p50, JSON", "µs", 1, byteRelay, ratio, "≤ 1.15 ×"}
	httpEvents         = &figure{"HTTP, one call at a time, p50, events", "µs", 1, byteRelay, ratio, "≤ 1.15 ×"}
)

// figures lists the rows of the table in order.
var figures = []*figure{
	p50, p99, throughput, userTime, allTime, instructions, usualInstructions, sha256Instructions,
	startTime, firstSecond, residentFirst, residentIdle, residentAgain, share1, share10, residentWorked, peak63M, keptAfter63M, result64K, result1M, result16M,
	httpJSON, httpEvents,
}

// quartiles has the quartiles of one figure over all rounds.
type quartiles struct {
	First  float64 `json:"first_quartile"`
	Median float64 `json:"median"`
	Third  float64 `json:"third_quartile"`
}

// quartilesOf returns the quartiles of values. It interpolates between the two nearest values.
func quartilesOf(values []float64) quartiles {
	sorted := slices.Sorted(slices.Values(values))
	at := func(part float64) float64 {
		place := part * float64(len(sorted)-1)
		below := int(place)
		above := min(below+1, len(sorted)-1)
		return sorted[below] + (place-float64(below))*(sorted[above]-sorted[below])
	}
	return quartiles{at(0.25), at(0.5), at(0.75)}
}

// compare compares two ways within each round, and returns the quartiles of the results.
func compare(r relation, of, other []float64) quartiles {
	all := make([]float64, min(len(of), len(other)))
	for i := range all {
		if r == ratio {
			all[i] = of[i] / other[i]
		} else {
			all[i] = of[i] - other[i]
		}
	}
	return quartilesOf(all)
}
