package elicit

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed clients.toml
var table string

// Known is one row of the table clients.toml: what is known about the form of a client.
type Known struct {
	Names  []string // names of the client in its clientInfo; a * at the end of a name matches any text
	Title  string
	From   string // the first version for which the row holds; "" for all versions
	Below  string // the first version for which the row no longer holds; "" for none
	Use    Use
	Why    string // the reason for Use, as a part of a sentence for people
	Source string
}

// Use tells for which calls a client's form can be used.
type Use string

// Values of Use. A client that has no row is asked about all calls.
const (
	Never   Use = "never"
	Routine Use = "routine" // only for calls that need no care
)

// ListClients returns the table of clients. If several rows match a client, the first of them
// is used.
func ListClients() ([]Known, error) {
	var t struct{ Client []Known }
	d := toml.NewDecoder(strings.NewReader(table)).DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("clients.toml: %w", err)
	}
	return t.Client, nil
}

// findClient returns the first row that matches a client; nil if no row matches.
func findClient(all []Known, name, version string) *Known {
	for i := range all {
		if all[i].matchesClient(name, version) {
			return &all[i]
		}
	}
	return nil
}

func (k *Known) matchesClient(name, version string) bool {
	for _, pattern := range k.Names {
		begin, rest := strings.CutSuffix(strings.ToLower(pattern), "*")
		name := strings.ToLower(strings.TrimSpace(name))
		if name == begin || rest && strings.HasPrefix(name, begin) {
			return matchesRange(version, k.From, k.Below)
		}
	}
	return false
}

// matchesRange reports whether a version is, or may be, in the range. A version that cannot be
// parsed matches.
func matchesRange(version, from, below string) bool {
	v, ok := parseVersion(version)
	if !ok {
		return true
	}
	if f, ok := parseVersion(from); ok && isOlderVersion(v, f) {
		return false
	}
	b, ok := parseVersion(below)
	return !ok || isOlderVersion(v, b)
}

// parseVersion parses the numbers at the start of a version, such as 1.2.3.
func parseVersion(version string) (n [3]int, ok bool) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for i, part := range parts {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(part)
		}
		v, err := strconv.Atoi(part[:end])
		if err != nil {
			return n, false
		}
		n[i] = v
	}
	return n, true
}

func isOlderVersion(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
