//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// roomTable returns two tables of instructions by package: for one call, and for a start with one
// call. The instructions of one call are the difference between 2n and n sequential calls, divided
// by n.
func (b *testbed) roomTable(ctx context.Context) (string, error) {
	clawai := b.ways[3]
	call, err := b.perCall(ctx, clawai, 2000)
	if err != nil {
		return "", err
	}
	start, err := b.count(ctx, clawai, 1)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	call.rooms().write(&out, "a call")
	out.WriteByte('\n')
	start.rooms().write(&out, "a start")
	return out.String(), nil
}

// rooms adds up the instructions of each package. SHA-256 gets a separate row.
func (p profile) rooms() profile {
	all := profile{}
	for name, executed := range p {
		all[roomOf(name)] += executed
	}
	return all
}

const sha256Room = "SHA-256, without SHA instructions, in addition"

// roomOf returns the package of a function, without the module's path. Functions without a package
// are assembly code that copies, compares or searches bytes.
func roomOf(function string) string {
	if strings.Contains(function, "sha256") {
		return sha256Room
	}
	path := function
	if i := strings.IndexAny(path, "([{"); i >= 0 { // a receiver or type arguments start with such a bracket
		path = path[:i]
	}
	room := strings.LastIndexByte(path, '/') + 1
	name, _, in := strings.Cut(path[room:], ".")
	switch {
	case strings.HasPrefix(function, "type:"), strings.HasPrefix(function, "go:"):
		return "runtime"
	case !in, strings.HasPrefix(function, "runtime.mem"):
		return "copying, comparing, searching bytes"
	}
	return strings.TrimPrefix(path[:room]+name, "github.com/clawai/clawai/")
}

// write lists the packages with at least one percent of all instructions. The total does not
// contain SHA-256.
func (p profile) write(out *strings.Builder, head string) {
	all, rest := 0, 0
	var names []string
	for name, executed := range p {
		if name != sha256Room {
			all += executed
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(p[b], p[a]), strings.Compare(a, b)) })
	line(out, []string{"instructions of " + head, "", "%"})
	line(out, []string{"---", "---:", "---:"})
	row := func(name string, executed int) {
		line(out, []string{name, fmt.Sprint(executed), fmt.Sprintf("%.1f", 100*float64(executed)/float64(all))})
	}
	for _, name := range names {
		switch {
		case name == sha256Room:
		case p[name] < all/100:
			rest += p[name]
		default:
			row(name, p[name])
		}
	}
	row("smaller ones together", rest)
	row("together", all)
	line(out, []string{sha256Room, fmt.Sprint(p[sha256Room]), ""})
}
