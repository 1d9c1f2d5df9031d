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

// planClient adds the client's table to those of the policy. What both open is open. A policy that
// has no sandbox for the server, or switches it off, opens and shuts nothing.
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

// needsPackageCache reports whether the cache of npx is there, and the table does not shut it.
func (p *planner) needsPackageCache() bool {
	path := p.expand(clienttable.PackageCache)
	shut := slices.ContainsFunc(p.Client.DenyRead, func(place string) bool { return contains(p.expand(place), path) })
	_, err := os.Stat(path)
	return err == nil && !shut
}

// isClientsAlone reports whether no policy has a table for the server.
func (p *planner) isClientsAlone() bool { return p.plan.Client && len(p.Tables) == 1 }

// opensDisk reports whether a place is the disk that a client's sandbox leaves readable: then one
// file of clawai's in it is hidden like the others.
func (p *planner) opensDisk(open string) bool { return open == "/" && p.isClientsAlone() }

// denyHosts reads the hosts that the client's table shuts, and makes the doors to the others.
func (p *planner) denyHosts() (err error) {
	defer p.makeDoors()
	if p.Client != nil {
		p.plan.NotHosts, err = hostlist.ParseList(p.Client.DenyHosts)
	}
	return err
}

// denyWrites makes of the places that may be written those that may only be read where the client's
// table has it so. It returns the further places, and what is to stay as it is inside.
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
		// What is not there cannot be kept from being made: its folder may be written.
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

// existingFolder returns the nearest folder above a path that is there, with its links resolved.
func existingFolder(path string) string {
	for {
		path = filepath.Dir(path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
}
