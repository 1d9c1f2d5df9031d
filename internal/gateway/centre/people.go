package centre

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/signin"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
)

// Limits of signing in.
const (
	linkLife         = 15 * time.Minute
	localSessionLife = 8 * time.Hour // for the administrator of --dev
	sessionLife      = time.Hour     // also the longest time for which a person who has left the team stays signed in
	flowLife         = 10 * time.Minute
)

// SessionLife returns how long a session lasts.
func (c *Centre) SessionLife() time.Duration {
	if c.Dev {
		return localSessionLife
	}
	return sessionLife
}

// NewLink returns the token of a link that signs a person in once. The person's earlier links end.
func (c *Centre) NewLink(ctx context.Context, who string) (token string, err error) {
	token = newSecret()
	return token, c.Store.AddLink(ctx, c.hashSecret("link", token), who, c.now().Add(linkLife))
}

// UseLink makes a session for a link's token. store.ErrNone: there is no such link, or it was used or has
// expired.
func (c *Centre) UseLink(ctx context.Context, token string) (session string, err error) {
	session = newSecret()
	now := c.now()
	return session, c.Store.UseLink(ctx, c.hashSecret("link", token), c.hashSecret("session", session), now, now.Add(c.SessionLife()))
}

// SignIn makes a session for a person whom the identity provider has identified.
func (c *Centre) SignIn(ctx context.Context, p principal.Principal) (session string, err error) {
	session = newSecret()
	now := c.now()
	return session, c.Store.AddSession(ctx, c.hashSecret("session", session), p, now, now.Add(c.SessionLife()))
}

// FindPerson returns the person who has a session, with their present roles; store.ErrNone if the session is
// not valid.
func (c *Centre) FindPerson(ctx context.Context, session string) (principal.Principal, error) {
	p, _, err := c.findSession(ctx, c.hashSecret("session", session))
	return p, err
}

// findSession returns the person of the session with this hash, with their present roles, and the time at
// which the session ends.
func (c *Centre) findSession(ctx context.Context, hash string) (principal.Principal, time.Time, error) {
	p, expires, err := c.Store.FindSession(ctx, hash, c.now())
	if err == nil && !c.knows(p) {
		err = store.ErrNone
	}
	p.Roles = c.RolesOf(p)
	return p, expires, err
}

// SignOut ends a session.
func (c *Centre) SignOut(ctx context.Context, session string) error {
	return c.Store.EndSession(ctx, c.hashSecret("session", session))
}

// FormToken returns the token that each form of a session must send. No other site can know it.
func (c *Centre) FormToken(session string) string { return c.hashSecret("form", session) }

// IsFormToken reports whether a form was made for a session.
func (c *Centre) IsFormToken(session, token string) bool { return c.isSecret("form", session, token) }

// NewFlow begins an attempt to sign in. The parameter next is the page that is opened after the attempt. The
// browser keeps the cookie. The centre stores nothing of the attempt: it computes the attempt's secrets from
// the cookie and the centre's own key.
func (c *Centre) NewFlow(next string) (cookie string, f signin.Flow) {
	cookie = newSecret() + "." + strconv.FormatInt(c.now().Add(flowLife).Unix(), 10) + "." + base64.RawURLEncoding.EncodeToString([]byte(next))
	return cookie, c.flowOf(cookie)
}

func (c *Centre) flowOf(cookie string) signin.Flow {
	return signin.Flow{State: c.hashSecret("state", cookie), Nonce: c.hashSecret("nonce", cookie), Verifier: c.hashSecret("verifier", cookie)}
}

// ReadFlow returns the attempt of a cookie; ok is false if the cookie has another form or has expired. The
// caller must compare f.State with the state that the identity provider returns: only that proves that the
// centre made the cookie.
func (c *Centre) ReadFlow(cookie string) (f signin.Flow, next string, ok bool) {
	parts := strings.Split(cookie, ".")
	if len(parts) != 3 {
		return f, "", false
	}
	expires, err := strconv.ParseInt(parts[1], 10, 64)
	path, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || err2 != nil || c.now().Unix() >= expires {
		return f, "", false
	}
	return c.flowOf(cookie), string(path), true
}

// TakeAnswer counts a sign-in that comes back from the identity provider. It reports false if there were too
// many from the network of an address. The limit is high, because a whole office may share one address.
func (c *Centre) TakeAnswer(address string) bool { return c.answers.take(networkOf(address), c.now()) }

// knows reports whether a person was identified by the present identity provider or, with --dev, by a link.
// The centre's folder may contain people from a time with another provider, or with --dev: they are not
// trusted, because another provider may give the same name to another person.
func (c *Centre) knows(p principal.Principal) bool {
	if c.Dev {
		return p.Issuer == principal.Local
	}
	return p.Issuer == c.Settings.OIDC.Issuer
}

// IdentityOf returns the identity of a laptop's owner for the laptop's rules, with the present roles; nil if
// the owner is not known. The field Who has the verified e-mail address or the key, because people choose
// other names themselves. Groups are included only for OIDC.GroupsDays after the owner's last sign-in.
func (c *Centre) IdentityOf(l *store.Laptop) *enrolment.Identity {
	o := l.Owner
	if o.Subject == "" || !c.knows(o.Principal) {
		return nil
	}
	o.Principal = c.withGroupsOf(o)
	roles := c.RolesOf(o.Principal)
	return &enrolment.Identity{Who: cmp.Or(o.Email, o.Key()), Key: o.Key(), Groups: append([]string{}, o.Groups...), GroupsKnown: o.GroupsKnown, Roles: append([]string{}, roles...), Env: c.Settings.Env}
}

// withGroupsOf returns a person with the groups of their last sign-in; without groups if the sign-in was longer
// ago than OIDC.GroupsDays.
func (c *Centre) withGroupsOf(o store.Owner) principal.Principal {
	if age := c.now().Sub(o.Seen); o.Issuer != principal.Local && age > time.Duration(c.Settings.OIDC.GroupsDays)*24*time.Hour {
		o.Groups, o.GroupsKnown = nil, false
	}
	return o.Principal
}

// withRoles returns a person with the roles that they have now.
func (c *Centre) withRoles(p principal.Principal) principal.Principal {
	p.Roles = c.RolesOf(p)
	return p
}

// ownerOf returns the person to whom a laptop belongs; nil if that is not known.
func (c *Centre) ownerOf(l *store.Laptop) *principal.Principal {
	if l.Owner.Subject == "" || !c.knows(l.Owner.Principal) {
		return nil
	}
	return &l.Owner.Principal
}

// isApprover reports whether a rule's list of approvers names a person. The administrator of --dev has
// every role, also roles that gateway.toml does not define.
func (c *Centre) isApprover(p principal.Principal, approvers []string) bool {
	if !c.knows(p) {
		return false
	}
	for _, text := range approvers {
		kind, name, _ := policy.SplitApprover(text)
		named := false
		switch kind {
		case "role":
			named = p.Has(name) || c.Dev && p.Issuer == principal.Local
		case "group":
			named = slices.Contains(p.Groups, name)
		case "person":
			named = p.IsNamed(name)
		}
		if named {
			return true
		}
	}
	return false
}
