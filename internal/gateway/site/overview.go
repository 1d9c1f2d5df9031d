package site

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/shown"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/policy"
)

// Numbers of hours, tools and laptops on the first page. The page shows more laptops only if more laptops
// are red.
const (
	hours       = 24
	mostTools   = 5
	mostLaptops = 12
)

// bar is one hour in the chart. Its parts are stacked from the bottom.
type bar struct {
	X     int
	Parts []part
	Link  string
	Title string
}

type part struct {
	Look      string
	Y, Height int
}

// Sizes of the chart, in SVG units.
const (
	barStep   = 40
	barWidth  = 32
	barHeight = 300
)

// stacked are the looks of a bar's parts, from the bottom.
var stacked = []store.Look{store.LookAllowed, store.LookAsked, store.LookRefused}

// newBars returns the bars for the calls of the last hours, the number of calls with each look, and the largest
// number of calls in an hour.
func newBars(sums []store.Sum, now time.Time) (bars []bar, totals map[store.Look]int, most int) {
	counts := map[time.Time]map[store.Look]int{}
	totals = map[store.Look]int{}
	for _, s := range sums {
		if s.Hour.After(now) { // the clock of a laptop is ahead; such an hour is not shown, and must not set the scale
			continue
		}
		if counts[s.Hour] == nil {
			counts[s.Hour] = map[store.Look]int{}
		}
		counts[s.Hour][s.Look] += s.N
		totals[s.Look] += s.N
	}
	for _, c := range counts {
		most = max(most, c[stacked[0]]+c[stacked[1]]+c[stacked[2]])
	}
	first := now.UTC().Truncate(time.Hour).Add(-(hours - 1) * time.Hour)
	for i := range hours {
		at := first.Add(time.Duration(i) * time.Hour)
		b := bar{
			X: i * barStep, Link: page.Address(recordsPage, "since", at.Format(time.RFC3339), "until", at.Add(time.Hour).Format(time.RFC3339)),
			Title: at.Format("2 Jan 15:04"),
		}
		y := barHeight
		for _, look := range stacked {
			if n := counts[at][look]; n > 0 {
				height := max(n*barHeight/most, 2)
				y -= height
				b.Parts = append(b.Parts, part{looks[look].Word(), max(y, 0), height})
				b.Title += fmt.Sprintf(", %d %s", n, looks[look].Word())
			}
		}
		bars = append(bars, b)
	}
	return bars, totals, most
}

// count is the number of calls with one look.
type count struct{ Look, Sign, Number string }

// ranked is a row in a list of the tools with the most calls of one look.
type ranked struct {
	Tool, Server, Number, Of, Look, Link string
	Width                                int
}

func (v *visit) rankTools(look store.Look, since time.Time) (all []ranked, err error) {
	sums, err := v.s.centre.Store.CountTools(v.r.Context(), look, since, mostTools)
	for _, s := range sums {
		tool, text := s.Tool, s.Tool
		if !v.who.Has(principal.Payload) && !shown.IsName(s.Tool) {
			tool, text = "", "(hidden from your role)"
		}
		all = append(all, ranked{text, s.Server, numberText(int64(s.N)), numberText(int64(s.Of)), looks[look].Word(), page.Address(recordsPage, "decision", string(look), "server", s.Server, "tool", tool), max(s.N*1000/max(s.Of, 1), 6)})
	}
	return all, err
}

// labelRow is a label in the list of those that led to questions and refusals.
type labelRow struct {
	Label, Meaning, Link, Number string
	Parts                        []labelPart
}

// labelPart is the number of calls with a label and a look. X and Width place its part of the row's bar.
type labelPart struct {
	count
	X, Width int
}

// labelMeanings says, for each label, what a session with this label has seen.
var labelMeanings = map[policy.Seen]string{
	policy.Untrusted: "what anybody may have written", policy.PrivateData: "what is not for everybody", policy.Secret: "what must not leave",
}

// rankLabels returns the labels that led to questions and refusals since a time; the most frequent comes first.
func (v *visit) rankLabels(since time.Time) (all []labelRow, err error) {
	sums, err := v.s.centre.Store.CountLabels(v.r.Context(), since)
	totals := map[policy.Seen]int{}
	for _, s := range sums {
		totals[s.Label] += s.N
	}
	labels := slices.SortedFunc(maps.Keys(totals), func(a, b policy.Seen) int { return cmp.Or(totals[b]-totals[a], int(a)-int(b)) })
	for _, label := range labels {
		word := strings.Join(label.LabelWords(), "")
		row := labelRow{
			Label: word, Meaning: labelMeanings[label], Link: page.Address(recordsPage, "label", word), Number: numberText(int64(totals[label])),
		}
		x := 0
		for _, s := range sums {
			if s.Label == label {
				width := max(s.N*1000/totals[labels[0]], 6)
				row.Parts = append(row.Parts, labelPart{count{looks[s.Look].Word(), looks[s.Look].Mark(), numberText(int64(s.N))}, x, width})
				x += width
			}
		}
		all = append(all, row)
	}
	return all, err
}

func (v *visit) showOverview(string) error {
	ctx, now := v.r.Context(), v.s.centre.Now()
	laptops, red, newest, err := v.listLaptops(ctx)
	if err != nil {
		return err
	}
	since := now.UTC().Truncate(time.Hour).Add(-(hours - 1) * time.Hour)
	sums, err := v.s.centre.Store.CountHours(ctx, since)
	if err != nil {
		return err
	}
	bars, totals, most := newBars(sums, now)
	counts := make([]count, 0, len(stacked))
	for _, look := range stacked {
		counts = append(counts, count{looks[look].Word(), looks[look].Mark(), numberText(int64(totals[look]))})
	}
	denied, err := v.rankTools(store.LookRefused, since)
	asked, err2 := v.rankTools(store.LookAsked, since)
	findings, err3 := v.listFindings(ctx, "", "", 5)
	labels, err4 := v.rankLabels(since)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return err
	}
	running := 0
	for i := range laptops {
		if !laptops[i].Revoked {
			running++
		}
	}
	shown := laptops[:min(len(laptops), max(red, mostLaptops))]
	look := view.Allowed
	if red > 0 {
		look = view.Refused
	}
	return v.show("overview", "Overview", "/", struct {
		Look, Sign      string
		Laptops         []laptopRow
		Running, Red    int
		Newest          uint64
		Bars            []bar
		Width, BarWidth int
		BarHeight       int
		Counts          []count
		Most            string
		Axis            []string
		Denied, Asked   []ranked
		Labels          []labelRow
		Findings        []findingRow
		HasKeys         bool
		Address         string
	}{
		look.Word(), look.Mark(), shown, running, red, newest, bars, hours * barStep, barWidth, barHeight, counts, numberText(int64(most)),
		axisTexts(since), denied, asked, labels, findings, len(v.s.centre.Settings.BundleKeys) > 0, v.s.Address(),
	})
}

// axisTexts returns the texts below the chart, one for every six hours.
func axisTexts(since time.Time) (all []string) {
	for i := 0; i < hours; i += 6 {
		all = append(all, since.Add(time.Duration(i)*time.Hour).Format("15:04")+" UTC")
	}
	return all
}
