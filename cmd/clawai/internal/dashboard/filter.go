package dashboard

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/policy"
)

// hourLayout is the format of an hour in an address. It contains the time zone, because the same
// hour occurs twice at the end of summer time.
const hourLayout = "2006-01-02T15Z07:00"

// filter is the selection in the address of a view. A zero field selects everything.
type filter struct {
	values   url.Values
	now      time.Time
	from     time.Time // start of the period that the value "since" selects
	hour     time.Time
	decision view.Look
	text     string // the text to search for, in lower case
}

// parseFilter reads the values of an address. It returns an error for a name that is not in the map
// known.
func parseFilter(values url.Values, known []string, now time.Time) (*filter, error) {
	f := &filter{values: values, now: now, text: strings.ToLower(values.Get("text"))}
	for name := range values {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%w: %q; known here: %s", web.ErrFilter, name, strings.Join(known, ", "))
		}
	}
	wrong := func(name, want string) error {
		return fmt.Errorf("%w: %s=%q; it can be %s", web.ErrFilter, name, values.Get(name), want)
	}
	var err error
	switch f.from = overview.HourOf(now); values.Get("since") {
	case "", "24h":
		f.from = f.from.Add(-23 * time.Hour)
	case "7d":
		f.from = time.Date(now.Year(), now.Month(), now.Day()-6, 0, 0, 0, 0, now.Location())
	default:
		return nil, wrong("since", "24h or 7d")
	}
	if text := values.Get("hour"); text != "" {
		if f.hour, err = time.Parse(hourLayout, text); err != nil || f.hour.IsZero() {
			return nil, wrong("hour", "such as "+overview.HourOf(now).Format(hourLayout))
		}
	}
	if text := values.Get("decision"); text != "" {
		looks := []view.Look{view.Allowed, view.Asked, view.Refused}
		at := slices.IndexFunc(looks, func(l view.Look) bool { return l.Word() == text })
		if at < 0 {
			return nil, wrong("decision", "allowed, asked or refused")
		}
		f.decision = looks[at]
	}
	if text := values.Get("label"); text != "" && !slices.Contains(policy.SeenWords(), text) {
		return nil, wrong("label", strings.Join(policy.SeenWords(), ", "))
	}
	if text := values.Get("answer"); text != "" && !slices.Contains(answerWords, text) {
		return nil, wrong("answer", strings.Join(answerWords, ", "))
	}
	return f, nil
}

func (f *filter) get(name string) string { return f.values.Get(name) }

// wanted returns the filter in the form that overview.Sum needs.
func (f *filter) wanted() overview.Wanted {
	return overview.Wanted{Server: f.get("server"), Tool: f.get("tool"), Rule: f.get("rule"), Since: f.from}
}

// takesCall reports whether the filter selects a call.
func (f *filter) takesCall(c *overview.Call) bool {
	isWanted := func(name, is string) bool { want := f.get(name); return want == "" || want == is }
	return isWanted("server", c.Server) && isWanted("tool", c.Tool) && isWanted("session", c.Session) &&
		(f.get("rule") == "" || f.get("rule") == c.Rule.Place()) &&
		(f.decision == view.Plain || f.decision == c.Look) && (f.hour.IsZero() || overview.HourOf(c.Time).Equal(f.hour)) &&
		(f.text == "" || strings.Contains(strings.ToLower(c.Tool+" "+c.Server+" "+c.About+" "+c.Why), f.text))
}

// with returns the address of a view that has the values of this filter. Only one query parameter
// is different: its name is in the parameter name, and it gets the given value.
func (f *filter) with(path, name, value string) string {
	pairs := []string{name, value}
	for other := range f.values {
		if other != name {
			pairs = append(pairs, other, f.values.Get(other))
		}
	}
	return page.Address(path, pairs...)
}

// newFilterLine returns the selected values that the controls of the view do not show. The
// parameter names has the names of these values. Each value has a link that removes it.
func (f *filter) newFilterLine(path string, names ...string) *web.Element {
	line := newNode("p", "chosen")
	some := false
	for _, name := range names {
		if value := f.get(name); value != "" {
			some = true
			line.Add(newNode("span", "chip", name+" ", newNode("strong", "", value), " ", newLink(f.with(path, name, ""), "✕").Set("aria-label", "Without "+name)))
		}
	}
	if !some {
		return nil
	}
	return line
}
