package servers

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed catalogue.toml
var text []byte

// The places where people meet, and where a server may act as a person or as a person's bot.
const (
	Chat    = "chat"
	Mail    = "mail"
	Browser = "browser" // pages where somebody may be signed in
)

// KnownServer is a server in the catalogue.
type KnownServer struct {
	ID      string `toml:"id"`      // a short name
	Name    string `toml:"name"`    // the name that the server's makers use
	Profile string `toml:"profile"` // name of the starter policy for the server; "" for none

	ActsIn string `toml:"acts_in"` // Chat, Mail or Browser: where its tools act as a person; "" for no such place

	// The identities under which the server is run, by kind (identity.go).
	NPM     []string `toml:"npm"`
	PyPI    []string `toml:"pypi"`
	Module  []string `toml:"module"`
	Program []string `toml:"program"`
	Image   []string `toml:"image"`
	Repo    []string `toml:"repo"`
	URL     []string `toml:"url"`

	Cage    *Cage  `toml:"cage"`    // nil: the server was never run in a sandbox
	Checked string `toml:"checked"` // version of the first package in NPM that has exactly the tools in Tools
	Tools   Tools  `toml:"tools"`
}

// Cage lists what the sandbox of a server must open in addition to the places in the server's
// command and in the rules. A server has a Cage only if it was run in this sandbox and gave the
// same answers as without a sandbox (test/servers).
type Cage struct {
	Tried string   `toml:"tried"` // the version that was run: of the first package in NPM, or of the Go module
	Net   []string `toml:"net"`   // hosts that the package reaches by itself
	Env   []string `toml:"env"`   // names of the variables that the server got
	Note  string   `toml:"note"`  // a sentence for the owner, which is shown in a proposed sandbox table; "" for none
}

// Tools lists the tools of a server. Each tool is in the list of its most serious effect. A tool in
// no list may have any effect.
type Tools struct {
	Read        []string `toml:"read"`        // tools that return the data of the server's purpose, and change nothing
	Secrets     []string `toml:"secrets"`     // tools that read places where secrets may be: any file, variables, pages where a person is signed in
	Write       []string `toml:"write"`       // tools that add or change something that can be undone
	Sends       []string `toml:"sends"`       // tools that send their input to a place that the caller chooses, or to people
	Destructive []string `toml:"destructive"` // tools that remove, run or overwrite something that cannot be restored
}

// ListEffects returns the lists with their names, from the mildest to the most serious.
func (t Tools) ListEffects() []Effect {
	return []Effect{{"read", t.Read}, {"secrets", t.Secrets}, {"write", t.Write}, {"sends", t.Sends}, {"destructive", t.Destructive}}
}

// Effect is a list of tools with its name.
type Effect struct {
	Name  string
	Tools []string
}

// identities returns the identities under which a server is run.
func (s *KnownServer) identities() (all []identity) {
	for kind, names := range map[kind][]string{
		npmPackage: s.NPM, pypiPackage: s.PyPI, pythonModule: s.Module, program: s.Program, image: s.Image, repository: s.Repo, address: s.URL,
	} {
		for _, name := range names {
			all = append(all, identity{kind, name})
		}
	}
	return all
}

var catalogue = sync.OnceValues(func() ([]KnownServer, error) {
	var t struct {
		Server []KnownServer `toml:"server"`
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&t); err != nil {
		return nil, fmt.Errorf("the catalogue of servers: %w", err)
	}
	return t.Server, nil
})

// LoadCatalogue returns all known servers.
func LoadCatalogue() ([]KnownServer, error) { return catalogue() }

// RecogniseServer finds the server that a command line starts. If command is "", it finds the
// server with the address url. It returns nil for an unknown server. An error means that the
// catalogue cannot be read.
func RecogniseServer(command string, args []string, url string) (*KnownServer, error) {
	all, err := LoadCatalogue()
	if err != nil {
		return nil, err
	}
	id, ok := parseRemote(url)
	if command != "" {
		id, ok = parseCommand(slices.Concat([]string{command}, args), 0)
	}
	if !ok {
		return nil, nil
	}
	for i := range all {
		for _, known := range all[i].identities() {
			if id == known || id.kind == address && known.kind == address && matchesAddress(id.name, known.name) {
				return &all[i], nil
			}
		}
	}
	return nil, nil
}
