package flow

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
)

//go:embed catalogue.toml
var text []byte

// row is a server in wide use; catalogue.toml says what its columns are.
type row struct {
	ID      string `toml:"id"`
	Version string `toml:"version"`
	Source  bool   `toml:"source"`
	Data    string `toml:"data"`
	Public  bool   `toml:"public"`

	Sinks   []string            `toml:"sinks"`
	Own     []string            `toml:"own"`
	Decides map[string][]string `toml:"decides"`
}

var catalogue = sync.OnceValues(func() ([]row, error) {
	var t struct {
		Server []row `toml:"server"`
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&t); err != nil {
		return nil, fmt.Errorf("the catalogue of what servers return: %w", err)
	}
	return t.Server, nil
})

// Known is what a server in wide use does; nil is one of which nothing is known.
type Known struct {
	row     row
	effects map[string]string // by tool, the list that it is in
}

// RecogniseServer finds the server that a command line starts or an address leads to.
func RecogniseServer(command []string, url string) *Known {
	name, args := "", []string(nil)
	if len(command) > 0 {
		name, args = command[0], command[1:]
	}
	s, err := servers.RecogniseServer(name, args, url)
	if err != nil || s == nil {
		return nil
	}
	rows, err := catalogue()
	i := slices.IndexFunc(rows, func(r row) bool { return r.ID == s.ID })
	if err != nil || i < 0 {
		return nil // of one that is not known everything is taken for granted
	}
	return rows[i].joinTools(s)
}

// joinTools gives the row and what the lists of tools of its server say.
func (r row) joinTools(s *servers.KnownServer) *Known {
	k := &Known{row: r, effects: map[string]string{}}
	for _, effect := range s.Tools.ListEffects() { // the gravest last
		for _, tool := range effect.Tools {
			k.effects[tool] = effect.Name
		}
	}
	return k
}

// toolTraits gives those of a tool, or with "" of whatever else the server sends; Unsaid in all for one that is not in the catalogue.
func (k *Known) toolTraits(tool string) (t policy.Traits) {
	if k == nil || tool != "" && k.effects[tool] == "" {
		return t
	}
	t = policy.Traits{PublicSource: toTrust(k.row.Source), SecretData: policy.No, PublicSink: policy.No, DangerousWrites: policy.No}
	switch k.row.Data {
	case private:
		t.SecretData = policy.Private
	case secret:
		t.SecretData = policy.Yes
	}
	switch k.effects[tool] {
	case "secrets":
		t.SecretData = policy.Yes
	case "write":
		t.PublicSink = toTrust(k.row.Public)
	case "sends":
		t.PublicSink = policy.Yes
	case "destructive":
		t.PublicSink, t.DangerousWrites = toTrust(k.row.Public), policy.Yes
	}
	if slices.Contains(k.row.Sinks, tool) {
		t.PublicSink = policy.Yes
	}
	if slices.Contains(k.row.Own, tool) {
		t.PublicSource = policy.No
	}
	return t
}

// Version is that of the package in which the tools stand, or "docs".
func (k *Known) Version() string { return k.row.Version }

// Tool is what is known of one tool of a server. Decides holds once the owner has written it: a
// version that calls an argument otherwise would go where it always goes, unasked.
type Tool struct {
	Name    string
	Traits  policy.Traits
	Decides []string // the arguments that say where it goes; nil where that is not known
}

// ListTools gives those of which something is known, by name.
func (k *Known) ListTools() (all []Tool) {
	if k == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(k.effects)) {
		all = append(all, Tool{Name: name, Traits: k.toolTraits(name), Decides: k.row.Decides[name]})
	}
	return all
}

func toTrust(b bool) policy.Trust {
	if b {
		return policy.Yes
	}
	return policy.No
}
