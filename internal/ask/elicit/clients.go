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

// Known is one row of the table of clients.
type Known struct {
	Names  []string // names in its clientInfo; a * at the end matches any rest
	Title  string
	From   string // the first version that the row applies to; "" for all
	Below  string // the first version that the row no longer applies to
	Use    Use
	Why    string // a clause for people
	Source string
}

// Use is how a client's form may be used.
type Use string

// The uses. An unknown client is asked about everything.
const (
	Never   Use = "never"
	Routine Use = "routine" // not for calls that need care
)

// ListClients returns the table of clients; earlier rows match first.
func ListClients() ([]Known, error) {
	var t struct{ Client []Known }
	d := toml.NewDecoder(strings.NewReader(table)).DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("clients.toml: %w", err)
	}
	return t.Client, nil
}

// findClient returns the first row that matches a client; nil when none does.
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

// matchesRange reports whether a version may lie in a range. An unreadable version matches.
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

// parseVersion parses the dotted start of a version.
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
