package signin

import (
	"strings"

	"github.com/clawai/clawai/internal/gateway/issuer"
	"github.com/clawai/clawai/internal/gateway/principal"
)

// Bounds of what a provider may say of a person.
const (
	maxGroups = 16 << 10 // bytes of all groups, each with a line's end: laptops keep no more
	maxText   = 200      // bytes of a subject, a group, a name or an address
)

// claims are the members of an ID token, or of the answer about a person.
type claims map[string]any

// find returns the claim with a name. A name with dots is also a path, if no claim has it: URLs are
// names of claims, and realm_access.roles is a path.
func (c claims) find(name string) (any, bool) {
	if value, ok := c[name]; ok {
		return value, true
	}
	first, rest, isPath := strings.Cut(name, ".")
	inner, ok := c[first].(map[string]any)
	if !isPath || !ok {
		return nil, false
	}
	return claims(inner).find(rest)
}

// text returns the claim with a name if it is a text that can be shown; "" otherwise.
func (c claims) text(name string) string {
	value, _ := c[name].(string)
	if !isPlain(value) {
		return ""
	}
	return value
}

func isPlain(s string) bool { return issuer.IsPlain(s, maxText) }

// hasElsewhere reports whether the provider keeps the groups elsewhere, because there are too many for a
// token. Entra ID does that beyond 200 groups (_claim_names, or hasgroups).
func (c claims) hasElsewhere(name string) bool {
	names, _ := c["_claim_names"].(map[string]any)
	_, listed := names[name]
	_, has := c["hasgroups"]
	return listed || has
}

// groups returns the groups of a claim. known is false if the claim is missing, kept elsewhere, or not
// a list of texts: a person whose groups were not all read has none that count.
func (c claims) groups(name string) (all []string, known bool) {
	value, ok := c.find(name)
	if !ok || c.hasElsewhere(name) {
		return nil, false
	}
	var list []any
	switch is := value.(type) {
	case []any:
		list = is
	case string: // some providers write a single group so
		list = []any{is}
	default:
		return nil, false
	}
	size := 1
	for _, one := range list {
		group, _ := one.(string)
		if size += len(group) + 1; !isPlain(group) || size > maxGroups {
			return nil, false
		}
		all = append(all, group)
	}
	return all, true
}

// readEmail returns the address of a person, if the provider has verified it.
func (c claims) readEmail() string {
	// Some providers write true as a text.
	if verified := c["email_verified"]; verified != true && verified != "true" {
		return ""
	}
	if email := c.text("email"); strings.Contains(email, "@") {
		return email
	}
	return ""
}

// readName returns a name that nobody can take for an e-mail address or a key.
func (c claims) readName() string {
	for _, claim := range []string{"name", "preferred_username"} {
		if name := c.text(claim); name != "" && !strings.ContainsAny(name, "@#()") {
			return name
		}
	}
	return ""
}

// newPrincipal makes a principal of what a token says, and of what the provider says besides about the
// same subject; more is nil if it was not asked. The token wins.
func newPrincipal(issuer, subject, groupsClaim string, token, more claims) principal.Principal {
	p := principal.Principal{Issuer: issuer, Subject: subject, Name: subject}
	from := more
	if _, ok := token["email"]; ok {
		from = token // an address and its mark must be of one source
	}
	p.Email = from.readEmail()
	for _, name := range []string{p.Email, token.readName(), more.readName()} {
		if name != "" {
			p.Name = name
			break
		}
	}
	from = more
	if _, ok := token.find(groupsClaim); ok || token.hasElsewhere(groupsClaim) {
		from = token
	}
	p.Groups, p.GroupsKnown = from.groups(groupsClaim)
	return p
}
