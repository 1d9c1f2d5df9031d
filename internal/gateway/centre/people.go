package centre

import (
	"strings"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/policy"
)

// Administrator is the name for which a link of --dev signs in.
const Administrator = "administrator"

// PersonOf returns the person who is signed in under a name.
func (c *Centre) PersonOf(who string) principal.Principal {
	subject := who
	if who == Administrator {
		subject = "admin"
	}
	return c.withRoles(principal.Principal{Issuer: principal.Local, Subject: subject, Name: who})
}

// withRoles returns a person with the roles that they have now.
func (c *Centre) withRoles(p principal.Principal) principal.Principal {
	if p.Roles = nil; p.Issuer == principal.Local {
		p.Roles = []string{principal.Admin, principal.Auditor, principal.Payload}
	}
	return p
}

// ownerOf returns the key of the person to whom a laptop belongs; "" if that is not known.
func (c *Centre) ownerOf(l *store.Laptop) string {
	if l.By == "" {
		return ""
	}
	return c.PersonOf(l.By).Key()
}

// isApprover reports whether a rule's list of approvers names a person. The administrator of --dev has
// every role.
func isApprover(p principal.Principal, approvers []string) bool {
	for _, text := range approvers {
		kind, name, _ := policy.SplitApprover(text)
		named := false
		switch kind {
		case "role":
			named = p.Issuer == principal.Local || p.Has(name)
		case "group":
			for _, group := range p.Groups {
				named = named || group == name
			}
		case "person":
			named = name == p.Key() || p.Email != "" && strings.EqualFold(name, p.Email)
		}
		if named {
			return true
		}
	}
	return false
}
