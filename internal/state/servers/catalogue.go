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

// KnownServer is one that is known.
type KnownServer struct {
	ID      string `toml:"id"`      // a word for it
	Name    string `toml:"name"`    // as its makers call it
	Profile string `toml:"profile"` // the starter policy for it; "" when there is none

	// What it runs as.
	NPM     []string `toml:"npm"`
	PyPI    []string `toml:"pypi"`
	Module  []string `toml:"module"`
	Program []string `toml:"program"`
	Image   []string `toml:"image"`
	Repo    []string `toml:"repo"`
	URL     []string `toml:"url"`

	Checked string `toml:"checked"` // the version of the first npm package whose tools are just these
	Tools   Tools  `toml:"tools"`
}

// Tools are those of a server by the gravest thing that they do. One that is in no list
// may do anything.
type Tools struct {
	Read        []string `toml:"read"`        // gives what the server is there to give, and changes nothing
	Secrets     []string `toml:"secrets"`     // reads where secrets may lie: any file, variables, pages that a person is signed in to
	Write       []string `toml:"write"`       // adds or changes something that can be put right
	Sends       []string `toml:"sends"`       // sends what it is given to a place of the caller's choice, or to people
	Destructive []string `toml:"destructive"` // removes, runs or overwrites what nobody can bring back
}

// ListEffects gives the lists by name, from the mildest to the gravest.
func (t Tools) ListEffects() []Effect {
	return []Effect{{"read", t.Read}, {"secrets", t.Secrets}, {"write", t.Write}, {"sends", t.Sends}, {"destructive", t.Destructive}}
}

// Effect is a list of tools under its name.
type Effect struct {
	Name  string
	Tools []string
}

// runsAs gives the identities of a server.
func (s *KnownServer) runsAs() (all []identity) {
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

// LoadCatalogue gives all that are known.
func LoadCatalogue() ([]KnownServer, error) { return catalogue() }

// RecogniseServer finds the server that a command line starts or that an address leads to.
// One that is not known is nil; the error is of the catalogue alone.
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
		for _, known := range all[i].runsAs() {
			if id == known || id.kind == address && known.kind == address && matchesAddress(id.name, known.name) {
				return &all[i], nil
			}
		}
	}
	return nil, nil
}
