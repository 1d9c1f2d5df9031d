package wrap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/wrap/client"
)

// moveIntoHub moves servers of one container from a client's file into the hub's configuration. It
// returns the new content of the file, the moved servers, and an error for each server that stays.
func (pl Planner) moveIntoHub(group []Target, src []byte) (after []byte, moved []client.Entry, errs []error) {
	h, first := pl.Hub, group[0]
	row, container := first.File.Row, first.Entry.KeyPath[:len(first.Entry.KeyPath)-1]
	refuse := func(name string, err error) {
		errs = append(errs, fmt.Errorf("%s: %s: %w", first.File.Path, name, err))
	}
	m := move{File: first.File.Real, Row: row.ID, Hub: append(slices.Clone(container), client.HubName)}
	wanted := map[string]bool{}
	for _, t := range group {
		wanted[t.Entry.Name] = true
	}
	after, earlier := src, h.findMove(first.File, m.Hub)
	if earlier >= 0 { // the file already has a hub: move its servers back first, and then move all servers
		back, err := client.MoveBack(row, src, m.Hub, h.moves[earlier].Pieces)
		if err != nil {
			refuse(client.HubName, err)
			return src, nil, errs
		}
		for _, s := range h.moves[earlier].Servers {
			wanted[s.Name] = true
		}
		after = back
	}
	all, err := client.Read(row, after)
	if err != nil {
		refuse(client.HubName, err)
		return src, nil, errs
	}
	config, on := h.src, []string(nil)
	for _, e := range all {
		if !wanted[e.Name] || !slices.Equal(e.KeyPath[:len(e.KeyPath)-1], container) {
			continue
		}
		server, err := pl.forHub(Target{first.File, e}, after)
		added := config
		if err == nil {
			added, err = h.addServer(config, server)
		}
		it := movedServer{Name: server.Name, Table: server.RenderTable()}
		switch was := h.findChangedServer(earlier, e.Name); {
		case err == nil:
			it.Lead = h.tableLead(config, added, server)
		case was != nil: // the owner has changed the table of the server, so the server stays in the hub as it is
			it, added, server.Name = *was, config, e.Name
		default:
			refuse(e.Name, err)
			continue
		}
		m.Servers = append(m.Servers, it)
		config, moved = added, append(moved, e)
		if !server.Disabled {
			on = append(on, server.Name)
		}
	}
	path, err := pl.Program.StartCommand(first.File)
	switch {
	case len(moved) == 0:
		return src, nil, errs
	case err == nil && len(on) == 0:
		err = errors.New("its client has switched all of these off, and a hub needs one that is on")
	case err == nil:
		after, m.Pieces, err = client.MoveOut(row, after, moved, path, on)
	}
	if err != nil {
		refuse(moved[0].Name, err)
		return src, nil, errs
	}
	h.src, h.moves = config, append(slices.Clip(h.moves), m) // the earlier move stays in effect until the file is written
	return after, moved, errs
}

// forHub returns a server in the form of the hub's configuration, without its wrapper.
func (pl Planner) forHub(t Target, src []byte) (client.HubServer, error) {
	switch {
	case t.File.Tracked:
		return client.HubServer{}, errors.New("git tracks this file, and your hub is not there for others; wrap it without --hub")
	case pl.Observe || t.Entry.Wrapped != nil && t.Entry.Wrapped.Observe:
		return client.HubServer{}, errors.New("a hub enforces the policy for all its servers; this one is only watched (--observe): wrap it without that first")
	}
	src, err := client.Unwrap(t.File.Row, src, t.Entry)
	if err != nil {
		return client.HubServer{}, err
	}
	return client.ForHub(t.File.Row, src, t.Entry)
}

// moveOutOfHub moves the servers of a hub's entry back into the client's file. It returns the new
// content of the file, and the entries of these servers.
func (pl Planner) moveOutOfHub(t Target, src []byte) ([]byte, []client.Entry, error) {
	i := -1
	if pl.Hub != nil {
		i = pl.Hub.findMove(t.File, t.Entry.KeyPath)
	}
	if i < 0 {
		return src, nil, nil // the owner wrote this entry of a hub
	}
	m := pl.Hub.moves[i]
	src, err := client.MoveBack(t.File.Row, src, m.Hub, m.Pieces)
	if err != nil {
		return nil, nil, err
	}
	entries, err := client.Read(t.File.Row, src)
	var back []client.Entry
	for _, e := range slices.Backward(entries) {
		own := slices.ContainsFunc(m.Servers, func(s movedServer) bool { return s.Name == e.Name })
		if err != nil || !own || !slices.Equal(e.KeyPath[:len(e.KeyPath)-1], m.Hub[:len(m.Hub)-1]) {
			continue
		}
		back = append(back, e)
		src, err = pl.editTarget(Unwrap, Target{t.File, e}, src)
	}
	return src, back, err
}

// addServer appends the table of a server to the configuration, if the table is not there yet.
func (h *Hub) addServer(config []byte, server client.HubServer) ([]byte, error) {
	table := server.RenderTable()
	entries, err := client.Read(client.HubRow(), config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Config, err)
	}
	if slices.ContainsFunc(entries, func(e client.Entry) bool { return e.Name == server.Name }) {
		same := slices.ContainsFunc(h.moves, func(m move) bool {
			return m.hasServer(movedServer{Name: server.Name, Table: table})
		})
		if same && bytes.Contains(config, []byte(table)) {
			return config, nil // the same server was already moved from another client's file
		}
		return nil, fmt.Errorf("the hub has another server of this name, [upstream.%s] in %s; rename one of them", server.Name, h.Config)
	}
	text := table
	if len(config) > 0 {
		if text = "\n" + table; config[len(config)-1] != '\n' {
			text = "\n\n" + table
		}
	}
	after := append(slices.Clip(slices.Clone(config)), text...)
	if err := h.Check(after); err != nil {
		return nil, fmt.Errorf("the hub cannot have it: %w; rename it, or wrap it without --hub", err)
	}
	return after, nil
}

// findChangedServer returns the server with this name from an earlier move, if config.toml has a
// table for it; otherwise nil. The parameter earlier is the index of that move, or -1 if there is
// no earlier move.
func (h *Hub) findChangedServer(earlier int, name string) *movedServer {
	entries, err := client.Read(client.HubRow(), h.src)
	if earlier < 0 || err != nil || !slices.ContainsFunc(entries, func(e client.Entry) bool { return e.Name == name }) {
		return nil
	}
	i := slices.IndexFunc(h.moves[earlier].Servers, func(s movedServer) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &h.moves[earlier].Servers[i]
}

// tableLead returns the line ends before a table that addServer wrote. If addServer wrote nothing,
// it returns the line ends from an earlier move.
func (h *Hub) tableLead(before, after []byte, server client.HubServer) string {
	if bytes.Equal(before, after) {
		for _, m := range h.moves {
			for _, s := range m.Servers {
				if s.Name == server.Name {
					return s.Lead
				}
			}
		}
	}
	return string(after[len(before) : len(after)-len(server.RenderTable())])
}
