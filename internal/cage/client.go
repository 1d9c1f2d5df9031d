package cage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/cage/clienttable"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/hostlist"
)

// planClient adds the client's table to the tables of the policy. A place is open only if both the
// policy and the client's table open the place. If the policy has no sandbox for the server, or
// switches the sandbox off, only the client's table is used.
func (p *planner) planClient() {
	if p.Client == nil {
		return
	}
	if p.plan.Level <= policy.CageOff {
		p.Tables = nil
	}
	p.plan.Level, p.plan.Client = policy.CageEnforce, true
	t := policy.CageTable{Level: policy.CageEnforce, Read: []string{"/"}, Hide: p.Client.DenyRead, Net: p.Client.Hosts}
	for _, place := range p.Client.Write {
		if place != clienttable.PackageCache || p.needsPackageCache() {
			t.Write = append(t.Write, place)
		}
	}
	if t.Write == nil {
		t.Write = []string{}
	}
	if p.Client.DenyAllHosts {
		t.Net = []string{}
	}
	if len(p.Tables) == 0 {
		for _, v := range os.Environ() {
			name, _, _ := strings.Cut(v, "=")
			t.Env = append(t.Env, name)
		}
	}
	p.Tables = append(slices.Clone(p.Tables), t)
}

// needsPackageCache reports whether the cache of npx exists and the client's table does not shut it.
func (p *planner) needsPackageCache() bool {
	path := p.expand(clienttable.PackageCache)
	shut := slices.ContainsFunc(p.Client.DenyRead, func(place string) bool { return contains(p.expand(place), path) })
	_, err := os.Stat(path)
	return err == nil && !shut
}

// isClientsAlone reports whether no policy has a table for the server.
func (p *planner) isClientsAlone() bool { return p.plan.Client && len(p.Tables) == 1 }

// opensDisk reports whether an open place is the whole disk and only the client's sandbox opens it.
// In that case clawai may hide a single file of its own. In other cases such a file is an error.
func (p *planner) opensDisk(open string) bool { return open == "/" && p.isClientsAlone() }

// denyHosts reads the hosts that the client's table forbids, and makes the doors to the other hosts.
func (p *planner) denyHosts() (err error) {
	defer p.makeDoors()
	if p.Client != nil {
		p.plan.NotHosts, err = hostlist.ParseList(p.Client.DenyHosts)
	}
	return err
}

// denyWrites applies the places that the client's table forbids to write. The result rest has the
// places that the server may still write. The result reads has the places that the server may now
// only read. The result fixed has the forbidden places: the server may only read them, also inside
// a place in rest.
func (p *planner) denyWrites(writes []place) (rest, reads, fixed []place, err error) {
	if p.Client == nil {
		return writes, nil, nil, nil
	}
	for _, text := range p.Client.DenyWrite {
		path := p.expand(text)
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			fixed = append(fixed, place{text, real})
			continue
		}
		// The server may write the folder, so it could make the forbidden file later.
		if at := existingFolder(path); isBelow(at, pathsOf(writes)) {
			return nil, nil, nil, fmt.Errorf("denyWrite has %s, which is not there, in a folder that the server may write; make it first", text)
		}
	}
	for _, w := range writes {
		if isBelow(w.path, pathsOf(fixed)) {
			reads = append(reads, w)
		} else {
			rest = append(rest, w)
		}
	}
	return rest, reads, fixed, nil
}

// existingFolder returns the nearest existing folder above a path, with its links resolved.
func existingFolder(path string) string {
	for {
		path = filepath.Dir(path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
}
