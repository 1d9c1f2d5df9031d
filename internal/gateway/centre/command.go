package centre

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// commandLife is the longest time for which a command line stays signed in for a person. The sign-in of the
// command line ends earlier if the session in which the person confirmed it ends. So a person's roles do not
// last longer on a command line than on the page.
const commandLife = time.Hour

// BeginSignIn stores a command line's request to answer questions for a person, and returns its codes.
func (c *Centre) BeginSignIn(ctx context.Context, ask enrolment.AskEnrolment, address string) (enrolment.DeviceCode, error) {
	return c.beginWish(ctx, ofPerson, ask, address)
}

// FindSignIn returns the request of a command line that has the code which a person typed.
func (c *Centre) FindSignIn(ctx context.Context, typed string, who principal.Principal) (store.Enrolment, error) {
	return c.findWish(ctx, ofPerson, typed, who)
}

// DecideSignIn allows or denies the request of a command line with a typed code. If it is allowed, the
// command line answers for the person who has the session.
func (c *Centre) DecideSignIn(ctx context.Context, typed string, allow bool, session string) (store.Enrolment, error) {
	who, ends, err := c.findSession(ctx, c.hashSecret("session", session))
	if err != nil {
		return store.Enrolment{}, err
	}
	e, err := c.decideWish(ctx, ofPerson, typed, allow, who)
	if err != nil || !allow {
		return e, err
	}
	now := c.now()
	if most := now.Add(commandLife); ends.After(most) {
		ends = most
	}
	return e, c.Store.AddSession(ctx, c.commandHash(e.DeviceHash), who, now, ends)
}

// commandHash returns the hash of a command line's session. The session's secret is the device code.
func (c *Centre) commandHash(deviceHash string) string {
	return c.hashSecret("command session", deviceHash)
}

// PollSignIn answers a command line that asks whether a person has decided. The refusal has a code of RFC
// 8628.
func (c *Centre) PollSignIn(ctx context.Context, deviceCode string) (enrolment.SignIn, *enrolment.Refusal, error) {
	var none enrolment.SignIn
	hash := c.hashSecret("device"+ofPerson, deviceCode)
	if refusal, err := c.pollWish(ctx, hash); refusal != nil || err != nil {
		return none, refusal, err
	}
	p, ends, err := c.findSession(ctx, c.commandHash(hash))
	if errors.Is(err, store.ErrNone) {
		return none, &enrolment.Refusal{Error: enrolment.Expired, Description: "this sign-in has ended; run the command again"}, nil
	}
	return enrolment.SignIn{Token: personPrefix + deviceCode, Name: p.Name, Key: p.Key(), ExpiresIn: int(ends.Sub(c.now()) / time.Second)}, nil, err
}

// personPrefix begins the token of a person's command line. A laptop's token begins with clw_.
const personPrefix = "clp_"

func (c *Centre) tokenHash(token string) (hash string, ok bool) {
	code, ok := strings.CutPrefix(token, personPrefix)
	if !ok || len(token) > 200 {
		return "", false
	}
	return c.commandHash(c.hashSecret("device"+ofPerson, code)), true
}

// CheckPerson returns the person whose command line has a token. It returns ErrNoAccess if the token is not known
// or has ended.
func (c *Centre) CheckPerson(ctx context.Context, token string) (principal.Principal, error) {
	hash, ok := c.tokenHash(token)
	if !ok {
		return principal.Principal{}, ErrNoAccess
	}
	p, _, err := c.findSession(ctx, hash)
	if errors.Is(err, store.ErrNone) {
		err = ErrNoAccess
	}
	return p, err
}

// EndPerson ends the session of a person's command line.
func (c *Centre) EndPerson(ctx context.Context, token string) error {
	hash, ok := c.tokenHash(token)
	if !ok {
		return ErrNoAccess
	}
	return c.Store.EndSession(ctx, hash)
}
