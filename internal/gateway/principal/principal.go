// Package principal says who uses a centre: a person who signed in at the team's identity provider,
// or the local administrator, with the roles that gateway.toml gives them.
package principal

import "slices"

// Principal is a person who is signed in. The key of a person is Issuer and Subject together: a
// subject alone may stand for different people at two issuers, and an e-mail address may change hands.
type Principal struct {
	Issuer  string   `json:"issuer"`           // of the identity provider (OpenID Connect Core, iss); Local for the administrator of --dev
	Subject string   `json:"subject"`          // sub of the ID token
	Name    string   `json:"name"`             // for people to read: the e-mail address if the provider verified it, else the name or subject
	Email   string   `json:"email,omitempty"`  // only if the provider verified it
	Groups  []string `json:"groups,omitempty"` // as the provider names them
	Roles   []string `json:"-"`                // that gateway.toml gives to the groups and to the person; never kept
}

// Local is the issuer of people whom no identity provider knows: the administrator of --dev.
const Local = "local"

// The roles that the centre itself asks for. gateway.toml may name others, which rules ask for.
const (
	Admin   = "admin"   // lets laptops in and out, and sees everything but what only Payload shows
	Auditor = "auditor" // reads records without the arguments of calls
	Payload = "auditor.payload"
)

// Has reports whether the principal has a role.
func (p Principal) Has(role string) bool { return slices.Contains(p.Roles, role) }

// Key returns the text that identifies the principal, as it is compared and kept.
func (p Principal) Key() string { return p.Issuer + "#" + p.Subject }
