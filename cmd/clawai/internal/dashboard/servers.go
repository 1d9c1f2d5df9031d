package dashboard

import (
	"context"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/page"
)

// renderServers returns the view of the servers. It shows whether clawai is in front of a server,
// today's calls, and the pins.
func (v *Views) renderServers(context.Context, *filter) (*web.Element, error) {
	all, err := v.model.LoadServers()
	if err != nil {
		return nil, err
	}
	body := newNode("div", "view", newNode("h2", "", "Servers"))
	if len(all) == 0 {
		return body.Add(newEmpty("No MCP client here has a server in a file that clawai knows. Which files it looks at, says:", "clawai status")), nil
	}
	highest := 1
	for i := range all {
		highest = max(highest, all[i].Calls.Total())
	}
	list := newNode("ol", "servers")
	for i := range all {
		list.Add(v.newServer(&all[i], highest))
	}
	return body.Add(list), nil
}

func (v *Views) newServer(s *overview.Server, highest int) *web.Element {
	row := newNode("li", "session "+s.Look.Word(), newNode("div", "bar", newNode("h3", "", s.Name), newStateMark(s)))
	for _, entry := range s.Entries {
		row.Add(newNode("p", "quiet", entry))
	}
	if s.Calls.Total() > 0 {
		row.Add(newBar(s.Calls.Counts, highest), newNode("p", "", newLink(page.Address("/calls", "server", s.Name), countText(s.Calls.Total(), "1 call", "calls")), " today ", newCounts(s.Calls.Counts, false)))
	} else {
		row.Add(newNode("p", "quiet", "No calls today"))
	}
	if s.Pin != "" {
		row.Add(newNode("p", "", newNode("span", "quiet", "pins "), s.Pin))
	}
	for _, text := range s.Pinned {
		row.Add(newNode("p", "", newMark(view.Asked, text)))
	}
	if s.CanWrap() {
		row.Add(newNode("p", "", newNode("span", "quiet", "next: "), newNode("code", "", "clawai wrap")))
	}
	return row
}

func newStateMark(s *overview.Server) *web.Element {
	if s.Look == view.Plain {
		return newNode("span", "quiet", s.State)
	}
	return newMark(s.Look, s.State)
}
