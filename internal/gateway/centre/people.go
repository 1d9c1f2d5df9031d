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

// Bounds of signing in.
const (
	linkLife         = 15 * time.Minute
	localSessionLife = 8 * time.Hour // of the administrator of --dev
	sessionLife      = time.Hour     // bounds how long somebody stays who has left the team
	flowLife         = 10 * time.Minute
)

// SessionLife returns how long a session lasts.
func (c *Centre) SessionLife() time.Duration {
	if c.Dev {
		return localSessionLife
	}
	return sessionLife
}

// NewLink returns the token of a link that signs a person in once. Their earlier links end.
func (c *Centre) NewLink(ctx context.Context, who string) (token string, err error) {
	token = newSecret()
	return token, c.Store.AddLink(ctx, c.hashSecret("link", token), who, c.now().Add(linkLife))
}

// UseLink makes a session of a link's token. store.ErrNone: the link was used, ended or never was.
func (c *Centre) UseLink(ctx context.Context, token string) (session string, err error) {
	session = newSecret()
	now := c.now()
	return session, c.Store.UseLink(ctx, c.hashSecret("link", token), c.hashSecret("session", session), now, now.Add(c.SessionLife()))
}

// SignIn makes a session of a person whom the identity provider has named.
func (c *Centre) SignIn(ctx context.Context, p principal.Principal) (session string, err error) {
	session = newSecret()
	now := c.now()
	return session, c.Store.AddSession(ctx, c.hashSecret("session", session), p, now, now.Add(c.SessionLife()))
}

// FindPerson returns who has a session, with the roles of now; store.ErrNone if nobody.
func (c *Centre) FindPerson(ctx context.Context, session string) (principal.Principal, error) {
	p, _, err := c.findSession(ctx, c.hashSecret("session", session))
	return p, err
}

// findSession returns who has the session of a hash, with the roles of now, and when it ends.
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

// FormToken returns what a form of a session's pages must send along. No other site can know it.
func (c *Centre) FormToken(session string) string { return c.hashSecret("form", session) }

// IsFormToken reports whether a form was made for a session.
func (c *Centre) IsFormToken(session, token string) bool { return c.isSecret("form", session, token) }

// NewFlow begins an attempt to sign in, after which the page next is opened. cookie goes to the browser,
// and is all that is kept of the attempt: the secrets follow from it by the centre's key.
func (c *Centre) NewFlow(next string) (cookie string, f signin.Flow) {
	cookie = newSecret() + "." + strconv.FormatInt(c.now().Add(flowLife).Unix(), 10) + "." + base64.RawURLEncoding.EncodeToString([]byte(next))
	return cookie, c.flowOf(cookie)
}

func (c *Centre) flowOf(cookie string) signin.Flow {
	return signin.Flow{State: c.hashSecret("state", cookie), Nonce: c.hashSecret("nonce", cookie), Verifier: c.hashSecret("verifier", cookie)}
}

// ReadFlow returns the attempt of a cookie; ok is false if it is none, or has expired. Its State proves
// that the centre made the cookie, once the identity provider has brought it back.
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

// TakeAnswer counts an answer of the identity provider that a browser brings, and reports false if there
// are too many from its address, which a whole office may share.
func (c *Centre) TakeAnswer(address string) bool { return c.answers.take(networkOf(address), c.now()) }

// knows reports whether this centre, as it is served now, vouches for who somebody is: by its identity
// provider, or by the links of --dev. The folder may be of a time when it had another provider, or none.
// Whoever was signed in, voted, or owned a laptop then may be anybody of now.
func (c *Centre) knows(p principal.Principal) bool {
	if c.Dev {
		return p.Issuer == principal.Local
	}
	return p.Issuer == c.Settings.OIDC.Issuer
}

// IdentityOf returns what a laptop is told of its owner, with the roles of now; nil if nobody is known to
// own it. Rules ask for Who, so it is the verified e-mail address or the key: people choose other names
// themselves. Groups count for some days after the owner has last signed in.
func (c *Centre) IdentityOf(l *store.Laptop) *enrolment.Identity {
	o := l.Owner
	if o.Subject == "" || !c.knows(o.Principal) {
		return nil
	}
	if age := c.now().Sub(o.Seen); o.Issuer != principal.Local && age > time.Duration(c.Settings.OIDC.GroupsDays)*24*time.Hour {
		o.Groups, o.GroupsKnown = nil, false
	}
	roles := c.RolesOf(o.Principal)
	return &enrolment.Identity{Who: cmp.Or(o.Email, o.Key()), Key: o.Key(), Groups: append([]string{}, o.Groups...), GroupsKnown: o.GroupsKnown, Roles: append([]string{}, roles...), Env: c.Settings.Env}
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
// every role, also those that gateway.toml does not name.
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
