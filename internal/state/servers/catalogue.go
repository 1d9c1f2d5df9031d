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

// The places where people meet, and where a server may act as one of them or as their bot.
const (
	Chat    = "chat"
	Mail    = "mail"
	Browser = "browser" // pages where somebody may be signed in
)

// KnownServer is a server in the catalogue.
type KnownServer struct {
	ID      string `toml:"id"`      // a short name
	Name    string `toml:"name"`    // the name that its makers use
	Profile string `toml:"profile"` // name of the starter policy for it; "" when there is none

	ActsIn string `toml:"acts_in"` // Chat, Mail or Browser: where its tools act as a person; "" for no such place

	// The identities under which it is run, by kind (identity.go).
	NPM     []string `toml:"npm"`
	PyPI    []string `toml:"pypi"`
	Module  []string `toml:"module"`
	Program []string `toml:"program"`
	Image   []string `toml:"image"`
	Repo    []string `toml:"repo"`
	URL     []string `toml:"url"`

	Cage    *Cage  `toml:"cage"`    // nil: nobody has run it in a sandbox
	Checked string `toml:"checked"` // the version of the first package in NPM that has exactly these tools
	Tools   Tools  `toml:"tools"`
}

// Cage lists what the sandbox of a server must open in addition to what the server's command and
// the rules name. A server has a Cage only if it was run in such a sandbox and gave the same
// answers there as without a sandbox (test/servers).
type Cage struct {
	Tried string   `toml:"tried"` // the version that ran, of the first package in NPM, or of the Go module
	Net   []string `toml:"net"`   // hosts that its package reaches by itself
	Env   []string `toml:"env"`   // names of the variables that the server was given
	Note  string   `toml:"note"`  // a sentence for the owner of a table; "" for none
}

// Tools lists the tools of a server by the most serious effect that each can have. A tool that is in
// no list may have any effect.
type Tools struct {
	Read        []string `toml:"read"`        // returns the data that the server is for, and changes nothing
	Secrets     []string `toml:"secrets"`     // reads places where secrets may be: any file, variables, pages where a person is signed in
	Write       []string `toml:"write"`       // adds or changes something that can be undone
	Sends       []string `toml:"sends"`       // sends its input to a place that the caller chooses, or to people
	Destructive []string `toml:"destructive"` // removes, runs or overwrites something that cannot be restored
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

// RecogniseServer finds the server that a command line starts or, if command is "", that has an
// address. It returns nil for an unknown server. An error means that the catalogue cannot be read.
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
