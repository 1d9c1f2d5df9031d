package policy

import (
	"slices"
	"strings"
)

// CageLevel tells how strictly a server must run in a cage (docs/sandbox.md). The values are
// ordered, the laxest first. The zero value means that no table sets a level.
type CageLevel uint8

// The levels of cages.
const (
	_           CageLevel = iota
	CageOff               // no cage: the server runs like any other program of the user
	CageTry               // if the system cannot build the whole cage, the server runs in a weaker one, with a warning
	CageEnforce           // if the system cannot build the whole cage, the server is not started
)

var cageWords = []string{"", "off", "try", "enforce"}

// String returns the word that policies use.
func (l CageLevel) String() string { return cageWords[l] }

// CageTable is one [server.NAME.sandbox]: what the process of a server may reach.
//
// A place is an absolute path, or begins with ~ or ${cwd}. The place stands for the file or
// folder at this path, and for everything below it. A nil list means that the table does not
// have the key.
type CageTable struct {
	Pos    Position
	Server string // the server's name, exactly
	From   string // the entry of extends that the table comes from; "" for the file's own
	Layer  string // the name of the layer that the table is in; "" for none

	Level CageLevel
	Read  []string // places that the server may read
	Write []string // places that it may read and write
	Hide  []string // places in Read and Write that look empty to the server
	Net   []string // AnyHost alone, or entries of policy/hostlist; if there are none, the server has no network
	Env   []string // names of the variables that the server gets
	Exec  Trust    // whether the server may start programs: Yes, No or Unsaid

	text string // the table as TOML
}

// AnyHost in the key "net" gives the server the network of the machine.
const AnyHost = "*"

// String returns the table as TOML on one line.
func (t *CageTable) String() string { return strings.ReplaceAll(t.text, "\n", " ") }

// CageTables returns the policy's own tables in order, the tables of extended texts last.
func (p *Policy) CageTables() []CageTable { return slices.Clone(p.cages) }

// Cages returns the tables about a server: its first table, and its first table in each layer. A
// layer's table can only make the cage narrower. The result is empty if no table is about the
// server, or if the server's name is not known.
func (p *Policy) Cages(server string) (all []CageTable) {
	for _, q := range append([]*Policy{p}, p.options.Above...) {
		at := slices.IndexFunc(q.cages, func(t CageTable) bool { return t.Server == server && server != "" })
		if at >= 0 {
			t := q.cages[at]
			t.Layer = q.options.Layer
			all = append(all, t)
		}
	}
	return all
}

// CageLevel returns the strictest level in the tables about a server.
func (p *Policy) CageLevel(server string) (level CageLevel) {
	for _, t := range p.Cages(server) {
		level = max(level, t.Level)
	}
	return level
}
