// Package principal describes the user of a centre. The user is a person who signed in at the team's
// identity provider, the local administrator, or a machine. gateway.toml gives roles to people.
package principal

import (
	"fmt"
	"slices"
	"strings"
)

// Principal is a user of the centre. Issuer and Subject together are the key of a person. The same
// Subject can be a different person at another issuer, and an e-mail address can change its owner.
type Principal struct {
	Issuer  string   `json:"issuer"`           // iss of the ID token; Local for the administrator of --dev; Machine for a machine with a key
	Subject string   `json:"subject"`          // sub of the ID token
	Name    string   `json:"name"`             // for people to read: the e-mail address if the provider verified it, otherwise the name or the subject
	Email   string   `json:"email,omitempty"`  // empty if the provider did not verify the address
	Groups  []string `json:"groups,omitempty"` // the provider's names of the groups
	// GroupsKnown is false if the provider did not name all groups of the person. Then Groups is empty.
	GroupsKnown bool     `json:"groups_known"`
	Roles       []string `json:"-"` // roles that gateway.toml gives to the person and to the groups; never stored
}

// Local is the issuer of the administrator of --dev, because no identity provider knows this person.
const Local = "local"

// Roles that the centre itself checks. gateway.toml may define other roles, and rules may ask for them.
const (
	Admin   = "admin"   // lets laptops in and out, and sees everything except what needs the role Payload
	Enroll  = "enroll"  // confirms the codes of the person's own laptops
	Auditor = "auditor" // reads records without the arguments of calls
	Payload = "auditor.payload"
	Publish = "publish" // gives laptops a bundle that other people have signed
)

// Machine is the issuer of machines. A machine has a key of the centre, and the key gives the roles.
const Machine = "machine"

// MachineRoles are the roles that a key of a machine can have. With these roles, a machine cannot let
// a laptop in and cannot answer a question.
var MachineRoles = []string{Publish, Auditor, Payload}

// Has reports whether the principal has at least one of the roles.
func (p Principal) Has(roles ...string) bool {
	return slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(p.Roles, role) })
}

// Key returns the text that identifies the principal. The centre compares and stores this text.
func (p Principal) Key() string { return p.Issuer + "#" + p.Subject }

// String returns the name and the key. The centre stores this text with each decision of the principal.
func (p Principal) String() string { return fmt.Sprintf("%s (%s)", p.Name, p.Key()) }

// Role is a [[role]] of gateway.toml. It says who has the role.
type Role struct {
	Name   string   `toml:"name"`
	Groups []string `toml:"groups"` // the provider's names of the groups
	People []string `toml:"people"` // keys of principals, or e-mail addresses that the provider has verified
}

// FindRoles returns the names of the roles that a principal has, in the order of rules. If the provider
// did not name all groups, the groups give no role.
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

// IsNamed reports whether entry is the principal's key, or the principal's verified e-mail address.
func (p Principal) IsNamed(entry string) bool {
	if strings.Contains(entry, "#") {
		return entry == p.Key()
	}
	// EqualFold takes the Kelvin sign, which has three bytes, for the letter k. The comparison of
	// lengths refuses it.
	return p.Email != "" && len(entry) == len(p.Email) && strings.EqualFold(entry, p.Email)
}

// IsSame reports whether two principals may be the same person. This is so if both have the same key,
// or the same issuer and the same verified e-mail address. The centre uses IsSame so that one person
// cannot vote as two.
func (p Principal) IsSame(other Principal) bool {
	return p.Key() == other.Key() || p.Issuer == other.Issuer && p.Email != "" && strings.EqualFold(p.Email, other.Email)
}

// CheckRoles returns an error if the name of a role is wrong or repeated, if a role has neither groups
// nor people, or if a group or a person is wrong.
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
