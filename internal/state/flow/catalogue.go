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

// row is a server in wide use; catalogue.toml explains the columns.
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

// Known holds the catalogue's facts about a server in wide use; nil means that the server is not
// known.
type Known struct {
	row     row
	effects map[string]string // the name of the list that a tool is in, by the tool's name
}

// RecogniseServer finds the known server that command starts, or whose address is url.
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
		return nil // for an unknown server the caller assumes the worst
	}
	return rows[i].joinTools(s)
}

// joinTools returns the row together with the tool lists of its server.
func (r row) joinTools(s *servers.KnownServer) *Known {
	k := &Known{row: r, effects: map[string]string{}}
	for _, effect := range s.Tools.ListEffects() { // the most serious effect comes last, so a tool in several lists gets this effect
		for _, tool := range effect.Tools {
			k.effects[tool] = effect.Name
		}
	}
	return k
}

// toolTraits returns the traits of a tool. If tool is "", it returns the traits of those messages
// of the server that belong to no tool. If the tool is not in the catalogue, all its traits are
// Unsaid.
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

// Version returns the version of the package that contains the tools, or "docs".
func (k *Known) Version() string { return k.row.Version }

// Tool holds the catalogue's facts about one tool of a server. Decides takes effect only after the
// owner has written it into the policy. Otherwise the following could happen: another version of
// the server gives an argument another name. Then every call would seem to go to the same place,
// and no person would be asked.
type Tool struct {
	Name    string
	Traits  policy.Traits
	Decides []string // the arguments that decide where a call goes; nil if they are not known
}

// ListTools returns the tools that the catalogue lists, sorted by name.
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
