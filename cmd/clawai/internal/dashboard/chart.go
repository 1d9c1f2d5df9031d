package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/page"
)

// stacked lists the looks in a bar, from bottom to top.
var stacked = []view.Look{view.Allowed, view.Asked, view.Refused}

// newSVG returns a picture that is stretched to the available width. The picture must have no
// texts, because they would be stretched too.
func newSVG(class string, width, height int, label string) *web.Element {
	e := newNode("svg", class).Set("viewBox", fmt.Sprintf("0 0 %d %d", width, height)).Set("preserveAspectRatio", "none")
	if label == "" {
		return e.Set("aria-hidden", "true")
	}
	return e.Set("role", "img").Set("aria-label", label)
}

func newRect(class string, x, y, width, height float64) *web.Element {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 32) }
	return newNode("rect", class).Set("x", number(x)).Set("y", number(y)).Set("width", number(width)).Set("height", number(height))
}

// listHours returns the start of each hour in a period. The parameters from and to are the starts
// of the first and the last hour.
func listHours(from, to time.Time) (hours []time.Time) {
	for at := from; !at.After(to); at = at.Add(time.Hour) {
		hours = append(hours, at)
	}
	return hours
}

// newHoursChart returns a chart with one bar for each hour. A bar shows the calls of the hour by
// look, and links to these calls.
func newHoursChart(s *overview.Sums, f *filter) *web.Element {
	hours := listHours(f.from, f.now)
	highest := 1
	for _, h := range hours {
		n := s.Hours[h.Unix()]
		highest = max(highest, n.Total())
	}
	const wide, high, between = 12, 120, 2
	label := fmt.Sprintf("Calls by hour, at most %s in one: %s.", numberText(highest), s.Text())
	bars := newSVG("bars", wide*len(hours), high, label)
	for i, at := range hours {
		n := s.Hours[at.Unix()]
		if n.Total() == 0 {
			continue
		}
		x, top := float64(i*wide+between/2), float64(high)
		bar := newLink(page.Address("/calls", "hour", at.Format(hourLayout), "server", f.get("server"), "tool", f.get("tool")),
			web.NewElement("title", fmt.Sprintf("%s: %s", at.Format("Mon 2 Jan, 15:04"), n.Text())), newRect("behind", x, 0, wide-between, high)).Set("tabindex", "-1")
		for _, look := range stacked {
			if part := n.Of(look); part > 0 {
				tall := max(float64(part)/float64(highest)*(high-2), 2)
				top -= tall
				bar.Add(newRect(look.Word(), x, top, wide-between, tall))
			}
		}
		bars.Add(bar)
	}
	axis := newNode("div", "axis").Set("aria-hidden", "true")
	each, layout := 6, "15:04"
	if len(hours) > 24 {
		each, layout = 24, "Mon 2"
	}
	for i := 0; i < len(hours); i += each {
		axis.Add(newNode("span", "", hours[i].Format(layout)))
	}
	return newNode("div", "chart", newNode("p", "most", "highest: "+numberText(highest)+" in an hour"), bars, axis, newHoursTable(s, hours))
}

// newHoursTable returns the numbers of the chart as a table, for people who cannot see the chart.
func newHoursTable(s *overview.Sums, hours []time.Time) *web.Element {
	head := web.NewElement("tr", newNode("th", "", "hour").Set("scope", "col"))
	for _, look := range stacked {
		head.Add(newNode("th", "number", newMark(look, look.Word())).Set("scope", "col"))
	}
	body := web.NewElement("tbody")
	for _, at := range slices.Backward(hours) {
		if n := s.Hours[at.Unix()]; n.Total() > 0 {
			row := web.NewElement("tr", newNode("th", "", at.Format("Mon 2 Jan, 15:04")).Set("scope", "row"))
			for _, look := range stacked {
				row.Add(newNode("td", "number", numberText(n.Of(look))))
			}
			body.Add(row)
		}
	}
	return web.NewElement("details", newNode("summary", "", "The numbers as a table"), web.NewElement("table", web.NewElement("thead", head), body))
}

// newBar returns a bar for the counts n, with a part for each look. The parameter highest is the
// number of calls for which the bar has the full width.
func newBar(n overview.Counts, highest int) *web.Element {
	bar, x := newSVG("portion", 1000, 10, ""), 0.0
	for _, look := range stacked {
		if part := float64(n.Of(look)) / float64(max(highest, 1)) * 1000; part > 0 {
			part = max(part, 6)
			bar.Add(newRect(look.Word(), x, 0, part, 10))
			x += part
		}
	}
	return bar
}

// newCounts returns the numbers of calls by look, each with its mark and its word. If the parameter
// all is false, it omits the looks without calls.
func newCounts(n overview.Counts, all bool) *web.Element {
	line := newNode("span", "counts")
	for _, look := range stacked {
		if n.Of(look) == 0 && !all {
			continue
		}
		line.Add(newMark(look, numberText(n.Of(look))+" "+look.Word()))
	}
	return line
}

// newRanking returns the six tools with the most calls of one look. The bar of a tool shows the
// share of this look in all calls of the tool.
func newRanking(title, none string, s *overview.Sums, look view.Look) *web.Element {
	tools := slices.SortedFunc(maps.Keys(s.Tools), func(a, b overview.Tool) int {
		return cmp.Or(cmp.Compare(s.Tools[b].Of(look), s.Tools[a].Of(look)), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	})
	list := newNode("ol", "ranking")
	const most = 6
	for i, tool := range tools[:min(len(tools), most)] {
		n := s.Tools[tool].Of(look)
		if n == 0 {
			if i == 0 {
				list = newNode("p", "empty", none)
			}
			break
		}
		var only overview.Counts
		only.AddLooks(look, n)
		list.Add(newNode("li", "",
			newNode("span", "name", newLink(page.Address("/calls", "decision", look.Word(), "server", tool.Server, "tool", tool.Name), nameOf(tool.Name)), newNode("span", "quiet", " "+tool.Server)),
			newNode("span", "number "+look.Word(), numberText(n)),
			newBar(only, s.Tools[tool].Total()),
			newNode("span", "of quiet", "of "+numberText(s.Tools[tool].Total()))))
	}
	if len(tools) == 0 {
		list = newNode("p", "empty", none)
	}
	return newNode("section", "panel", newNode("h2", "", title), list)
}

// nameOf returns the name to show for a tool. The name "" stands for all tools that the counts do
// not list separately.
func nameOf(name string) string { return cmp.Or(name, "(further tools)") }

// numberText returns a number with commas between the thousands, such as 1,000.
func numberText(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// countText returns the text in the parameter one if n is 1. Otherwise it returns the number and
// the text in the parameter several.
func countText(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return numberText(n) + " " + several
}
