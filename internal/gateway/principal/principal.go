// Package principal says who uses a centre: a person who signed in at the team's identity provider,
// the local administrator, or a machine, with the roles that gateway.toml gives them.
package principal

import (
	"fmt"
	"slices"
	"strings"
)

// Principal is a person who is signed in. The key of a person is Issuer and Subject together: a
// subject alone may stand for different people at two issuers, and an e-mail address may change hands.
type Principal struct {
	Issuer  string   `json:"issuer"`           // of the identity provider (OpenID Connect Core, iss); Local for the administrator of --dev
	Subject string   `json:"subject"`          // sub of the ID token
	Name    string   `json:"name"`             // for people to read: the e-mail address if the provider verified it, else the name or subject
	Email   string   `json:"email,omitempty"`  // only if the provider verified it
	Groups  []string `json:"groups,omitempty"` // as the provider names them
	// GroupsKnown is false if the provider did not say all groups of the person. Then Groups is empty.
	GroupsKnown bool     `json:"groups_known"`
	Roles       []string `json:"-"` // that gateway.toml gives to the groups and to the person; never kept
}

// Local is the issuer of people whom no identity provider knows: the administrator of --dev.
const Local = "local"

// The roles that the centre itself asks for. gateway.toml may name others, which rules ask for.
const (
	Admin   = "admin"   // lets laptops in and out, and sees everything but what only Payload shows
	Enroll  = "enroll"  // confirms the codes of laptops of their own
	Auditor = "auditor" // reads records without the arguments of calls
	Payload = "auditor.payload"
	Publish = "publish" // gives laptops a bundle that others have signed
)

// Machine is the issuer of machines, which have a key of the centre. Their roles are those of the key.
const Machine = "machine"

// MachineRoles are the roles that a key can have. A machine lets nobody in, and answers no question.
var MachineRoles = []string{Publish, Auditor, Payload}

// Has reports whether the principal has one of the roles.
func (p Principal) Has(roles ...string) bool {
	return slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(p.Roles, role) })
}

// Key returns the text that identifies the principal, as it is compared and kept.
func (p Principal) Key() string { return p.Issuer + "#" + p.Subject }

// String returns the name and the key, as it is written beside what the principal decides.
func (p Principal) String() string { return fmt.Sprintf("%s (%s)", p.Name, p.Key()) }

// Role is a [[role]] of gateway.toml: who has it.
type Role struct {
	Name   string   `toml:"name"`
	Groups []string `toml:"groups"` // as the provider names them
	People []string `toml:"people"` // keys of principals, or e-mail addresses that the provider verified
}

// FindRoles returns the names of the roles that a principal has, in the order of the rules. Groups
// that are not known give none.
func FindRoles(rules []Role, p Principal) (names []string) {
	for i := range rules {
		r := &rules[i]
		byGroup := p.GroupsKnown && slices.ContainsFunc(r.Groups, func(g string) bool { return slices.Contains(p.Groups, g) })
		if byGroup || slices.ContainsFunc(r.People, p.IsNamed) {
			names = append(names, r.Name)
		}
	}
	return names
}

// IsNamed reports whether a text names the principal: their key, or the e-mail address that the provider
// has verified.
func (p Principal) IsNamed(entry string) bool {
	if strings.Contains(entry, "#") {
		return entry == p.Key()
	}
	// Of the same length: a K of Kelvin is a small k in other letters, and three bytes long.
	return p.Email != "" && len(entry) == len(p.Email) && strings.EqualFold(entry, p.Email)
}

// IsSame reports whether two principals may be the same person: by their key, or by an e-mail address that
// the provider has verified for both. It counts where one person must not pass for two.
func (p Principal) IsSame(other Principal) bool {
	return p.Key() == other.Key() || p.Issuer == other.Issuer && p.Email != "" && strings.EqualFold(p.Email, other.Email)
}

// CheckRoles returns an error for rules that cannot be meant.
func CheckRoles(rules []Role) error {
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		if !isRoleName(r.Name) {
			return fmt.Errorf("role %d has the name %q; a name has 1 to 64 small letters, digits, dots, \"-\" and \"_\"", i+1, r.Name)
		}
		if seen[r.Name] {
			return fmt.Errorf("role %q is there twice; write all its groups and people into one", r.Name)
		}
		seen[r.Name] = true
		if len(r.Groups)+len(r.People) == 0 {
			return fmt.Errorf("role %q is nobody's; give it groups = [...] or people = [...]", r.Name)
		}
		if slices.Contains(r.Groups, "") {
			return fmt.Errorf("role %q names an empty group", r.Name)
		}
		for _, entry := range r.People {
			issuer, subject, isKey := strings.Cut(entry, "#")
			name, host, isAddress := strings.Cut(entry, "@")
			if isKey && (issuer == "" || subject == "" || issuer == Local || issuer == Machine) || !isKey && (!isAddress || name == "" || host == "") {
				return fmt.Errorf("role %q names %q; a person is ISSUER#SUBJECT, as their page /me shows it, or an e-mail address that the provider verifies", r.Name, entry)
			}
		}
	}
	return nil
}

func isRoleName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}
