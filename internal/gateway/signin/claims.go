package signin

import (
	"strings"

	"github.com/clawai/clawai/internal/gateway/issuer"
	"github.com/clawai/clawai/internal/gateway/principal"
)

// Limits of a provider's data about a person.
const (
	maxGroups = 16 << 10 // maximum bytes of all groups, each with a line break; laptops store no more
	maxText   = 200      // maximum bytes of a subject, group, name or address
)

// claims are the members of an ID token, or of a response of the userinfo endpoint.
type claims map[string]any

// find returns the claim with a name. If no claim has the name, find reads a name with dots as a path,
// such as realm_access.roles. A name can also be a URL with dots.
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

// text returns the claim with a name. It returns "" if the claim is no text, or if the text cannot be
// shown.
func (c claims) text(name string) string {
	value, _ := c[name].(string)
	if !isPlain(value) {
		return ""
	}
	return value
}

func isPlain(s string) bool { return issuer.IsPlain(s, maxText) }

// hasElsewhere reports whether the provider stores the groups outside the token, because the person has
// too many groups. Entra ID does this above 200 groups, with _claim_names or hasgroups.
func (c claims) hasElsewhere(name string) bool {
	names, _ := c["_claim_names"].(map[string]any)
	_, listed := names[name]
	_, has := c["hasgroups"]
	return listed || has
}

// groups returns the groups in a claim. known is false if the claim is missing, stored elsewhere, or
// not a list of texts. Then all is nil, because an incomplete list of groups must not give roles.
func (c claims) groups(name string) (all []string, known bool) {
	value, ok := c.find(name)
	if !ok || c.hasElsewhere(name) {
		return nil, false
	}
	var list []any
	switch is := value.(type) {
	case []any:
		list = is
	case string: // some providers write a single group as a text
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

// readEmail returns the person's e-mail address. It returns "" if the provider has not verified the
// address.
func (c claims) readEmail() string {
	// Some providers write the text "true" instead of true.
	if verified := c["email_verified"]; verified != true && verified != "true" {
		return ""
	}
	if email := c.text("email"); strings.Contains(email, "@") {
		return email
	}
	return ""
}

// readName returns the person's name. It skips a name with @, #, ( or ), because the name could pass
// for an e-mail address or a key.
func (c claims) readName() string {
	for _, claim := range []string{"name", "preferred_username"} {
		if name := c.text(claim); name != "" && !strings.ContainsAny(name, "@#()") {
			return name
		}
	}
	return ""
}

// newPrincipal returns the principal for the claims of a token. The parameter more has the claims from
// the userinfo endpoint, or is nil. If both the token and the endpoint have a claim, the token's claim
// is used.
func newPrincipal(issuer, subject, groupsClaim string, token, more claims) principal.Principal {
	p := principal.Principal{Issuer: issuer, Subject: subject, Name: subject}
	from := more
	if _, ok := token["email"]; ok {
		from = token // email and email_verified must come from the same source
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
