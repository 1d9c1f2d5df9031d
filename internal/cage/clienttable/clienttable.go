// Package clienttable reads the sandbox that a client's file defines for a server. The wrapped
// entry in the client's file contains the rules of the sandbox, and the proxy enforces the rules.
// The package is pure.
package clienttable

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/hostlist"
)

// Table is the sandbox that a client's file defines for a server. The client lets the server read
// the whole disk and every variable. But the server may write and connect only where the table
// allows it.
//
// The places have the form of policy.CageTable.
type Table struct {
	Write, DenyRead, DenyWrite []string
	Hosts, DenyHosts           []string
	DenyAllHosts               bool
}

// The keys of rules; VS Code has the same keys below "sandbox".
const (
	allowWrite     = "allowWrite"
	denyRead       = "denyRead"
	denyWrite      = "denyWrite"
	allowedDomains = "allowedDomains"
	deniedDomains  = "deniedDomains"
)

// RuleKeys maps each member of VS Code's "sandbox" to the keys in that member.
var RuleKeys = map[string][]string{
	"filesystem": {allowWrite, denyRead, denyWrite},
	"network":    {allowedDomains, deniedDomains},
}

// On is the first word of a sandbox in a wrapped entry. Rules follow it (see Read).
const On = "sandboxEnabled"

// VS Code opens this folder and this host for each server, because npx needs them.
const (
	// PackageCache is the folder in which npx keeps downloaded packages.
	PackageCache    = "~/.npm"
	packageRegistry = "registry.npmjs.org"
)

// CheckRule returns an error if clawai cannot enforce a rule. It accepts a value with a variable of
// the client (${...}), because only the client knows the variable's value. The client replaces the
// variable before Read gets the rule.
func CheckRule(rule string) error {
	if _, value, _ := strings.Cut(rule, "="); strings.Contains(value, "${") {
		return nil
	}
	return new(Table).addRule(rule)
}

// Read parses the sandbox in a wrapped entry: the word On, and then rules of the form KEY=VALUE.
func Read(words []string) (*Table, error) {
	if len(words) == 0 || words[0] != On {
		return nil, fmt.Errorf("the first is not %s", On)
	}
	t := &Table{Write: []string{PackageCache}, Hosts: []string{packageRegistry}}
	for _, rule := range words[1:] {
		if err := t.addRule(rule); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Table) addRule(rule string) error {
	key, value, found := strings.Cut(rule, "=")
	places := map[string]*[]string{allowWrite: &t.Write, denyRead: &t.DenyRead, denyWrite: &t.DenyWrite}
	switch {
	case !found:
		return fmt.Errorf("%q is not a rule of the form KEY=VALUE", rule)
	case strings.Contains(value, "${"):
		return fmt.Errorf("%s: the client has not filled in %q", key, value)
	case places[key] != nil:
		place, err := readPlace(value)
		if err == nil && key == allowWrite && (place == "/" || place == "~") {
			err = fmt.Errorf("%q holds files that your shell and your programs run; name the folders in it that the server must write", value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		*places[key] = append(*places[key], place)
	case key == deniedDomains && value == policy.AnyHost:
		t.DenyAllHosts = true
	case key == allowedDomains || key == deniedDomains:
		if _, err := hostlist.ParseEntry(value); err != nil {
			return fmt.Errorf("%s: %q is not a host: %w", key, value, err)
		}
		if key == allowedDomains {
			t.Hosts = append(t.Hosts, value)
		} else {
			t.DenyHosts = append(t.DenyHosts, value)
		}
	default:
		return fmt.Errorf("%q is no rule of a sandbox that clawai knows", key)
	}
	return nil
}

// readPlace parses a path of a client's sandbox. A path that does not begin with /, ~ or . is relative
// to the folder in which the server starts.
func readPlace(text string) (string, error) {
	switch {
	case text == "":
		return "", errors.New("the path is empty")
	case strings.ContainsAny(text, "[]"): // VS Code reads this as a glob, but clawai would read it as a name
		return "", fmt.Errorf("%q may be a glob; write a file or a folder", text)
	}
	if first, _, _ := strings.Cut(text, "/"); first != "" && first != "~" && first != "." {
		text = "./" + text
	}
	return policy.ParsePlace(text)
}
