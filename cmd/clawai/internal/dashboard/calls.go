package dashboard

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/page"
)

// mostCalls is the maximum number of calls that a view shows.
const mostCalls = 150

// renderCalls returns the view of the latest calls that the filter selects. The newest call is
// first.
func (v *Views) renderCalls(_ context.Context, f *filter) (*web.Element, error) {
	calls, more := v.latest.List(mostCalls, f.takesCall)
	body := newNode("div", "view", newNode("h2", "", "Calls"), v.newCallFilters(f), f.newFilterLine("/calls", "hour", "rule", "session"), v.newRecordNote())
	if len(calls) == 0 {
		return body.Add(newEmpty("None of the latest calls is one of these. In the whole record:", "clawai log --no-pager")), nil
	}
	end := newNode("p", "quiet", fmt.Sprintf("Only the latest %s calls are kept here. In the whole record: ", numberText(overview.MaxLatest)), newNode("code", "", "clawai log --no-pager"))
	if more > 0 {
		end = newNode("p", "quiet", numberText(more)+" more of the latest calls are selected. Narrow the filter, or see the whole record: ", newNode("code", "", "clawai log --no-pager"))
	}
	return body.Add(v.newCallList(calls), end), nil
}

// newCallFilters returns the form with the filters of the calls. The form keeps all other values of
// the address.
func (v *Views) newCallFilters(f *filter) *web.Element {
	form := newNode("form", "filters").Set("role", "search").Set("aria-label", "Filter")
	decision := newSelect("decision", "Decision", f.get("decision"), []string{"allowed", "asked", "refused"})
	servers := map[string]bool{}
	tools := map[string]bool{}
	for tool := range v.model.Sum(overview.Wanted{}).Tools {
		servers[tool.Server] = true
		if want := f.get("server"); want == "" || want == tool.Server {
			tools[tool.Name] = true
		}
	}
	form.Add(decision, newSelect("server", "Server", f.get("server"), slices.Sorted(maps.Keys(servers))), newSelect("tool", "Tool", f.get("tool"), slices.Sorted(maps.Keys(tools))),
		web.NewElement("label", newNode("span", "", "Text"), web.NewElement("input").Set("name", "text").Set("type", "search").Set("value", f.get("text"))))
	for _, name := range []string{"hour", "rule", "session"} {
		if value := f.get(name); value != "" {
			form.Add(web.NewElement("input").Set("type", "hidden").Set("name", name).Set("value", value))
		}
	}
	return form.Add(newNode("button", "", "Show").Set("type", "submit"))
}

// mostChoices is the maximum number of values in one control. A person can find other values with
// the text search.
const mostChoices = 200

func newSelect(name, label, chosen string, values []string) *web.Element {
	list := web.NewElement("select", web.NewElement("option", "all").Set("value", "")).Set("name", name)
	values = values[:min(len(values), mostChoices)]
	if chosen != "" && !slices.Contains(values, chosen) {
		values = append([]string{chosen}, values...)
	}
	for _, value := range values {
		if value == "" {
			continue
		}
		option := web.NewElement("option", value).Set("value", value)
		if value == chosen {
			option.Set("selected", "")
		}
		list.Add(option)
	}
	return web.NewElement("label", newNode("span", "", label), list)
}

// newCallList returns a list of calls. Each row can be opened.
func (v *Views) newCallList(calls []overview.Call) *web.Element {
	list := newNode("ol", "calls")
	for i := range calls {
		list.Add(web.NewElement("li", v.newCall(&calls[i])))
	}
	return list
}

// callWord returns the word that is shown for a call. It is the word of the look, or a more exact
// word from the record.
func callWord(c *overview.Call) string {
	switch {
	case c.Word == "allow" && c.Look == view.Asked:
		return "asked, allowed"
	case c.Word == "allow" || c.Word == "deny":
		return c.Look.Word()
	}
	return c.Word
}

// newCall returns the row of one call. An open row shows all stored details of the call.
func (v *Views) newCall(c *overview.Call) *web.Element {
	about := c.About
	if (c.Look == view.Refused || c.Look == view.Asked) && c.Rule.Text != "" {
		about += " · " + c.Rule.Text
	}
	row := web.NewElement("summary",
		newTime(c.Time, v.now()), newMark(c.Look, callWord(c)),
		newNode("span", "tool", newNode("strong", "", nameOf(c.Tool)), newNode("span", "quiet", " "+c.Server)),
		newNode("span", "about", about), newNode("span", "ended quiet", c.Ended))
	rule := any("")
	if c.Rule.Line > 0 {
		place := cmdline.ShortenHome(c.Rule.Place(), v.home)
		rule = web.NewElement("span", newLink(page.Address("/calls", "rule", c.Rule.Place()), place), newNode("span", "quiet", " "+c.Rule.Text))
	}
	return newNode("details", "call "+c.Look.Word(), row, newFacts(
		[2]any{"why", c.Why}, [2]any{"rule", rule}, [2]any{"argument", c.About},
		[2]any{"session", newLink(page.Address("/timeline", "session", c.Session), "its session as a timeline")},
		[2]any{"record", newNode("code", "", c.ID)},
		[2]any{"explain", newNode("code", "", "clawai log explain "+c.ID)},
	))
}
