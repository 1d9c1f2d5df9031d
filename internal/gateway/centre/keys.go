package centre

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/workload"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Limits of keys of machines.
const (
	MaxKeyDays  = 366
	maxKeyHours = 7 * 24 // hours for which a replaced key stays valid
)

// KeyError is the reason why no key is made: a mistake in the request.
type KeyError struct{ text string }

func (e *KeyError) Error() string { return e.text }

func keyErrorf(format string, a ...any) error { return &KeyError{fmt.Sprintf(format, a...)} }

// NewKey makes a key of a machine. token is the text that the machine sends; the centre stores only its hash,
// so it can be shown only now.
func (c *Centre) NewKey(ctx context.Context, name string, roles []string, days int) (k store.Key, token string, err error) {
	return c.addKey(ctx, name, roles, days, "", time.Time{})
}

// RotateKey makes a key with the name and the roles of an old key. The old key stays valid for some hours.
func (c *Centre) RotateKey(ctx context.Context, id string, days, hours int) (k store.Key, token string, err error) {
	if hours < 0 || hours > maxKeyHours {
		return k, "", keyErrorf("%d hours; the old key goes on for 0 to %d", hours, maxKeyHours)
	}
	old, _, err := c.Store.FindKey(ctx, id)
	if err != nil {
		return k, "", err
	}
	now := c.now()
	if old.IsOver(now) {
		return k, "", keyErrorf("the key %s is over; make a new one", id)
	}
	return c.addKey(ctx, old.Name, old.Roles, days, id, now.Add(time.Duration(hours)*time.Hour))
}

func (c *Centre) addKey(ctx context.Context, name string, roles []string, days int, instead string, ends time.Time) (k store.Key, token string, err error) {
	switch {
	case !enrolment.IsName(name) || len(name) > maxTextLen:
		return k, "", keyErrorf("%q is no name of a key; it has 1 to %d letters, digits, \".\", \"_\" and \"-\"", name, maxTextLen)
	case days < 1 || days > MaxKeyDays:
		return k, "", keyErrorf("%d days; a key lives 1 to %d", days, MaxKeyDays)
	case len(roles) == 0:
		return k, "", keyErrorf("a key without a role can do nothing; the roles of machines are: %s", strings.Join(principal.MachineRoles, ", "))
	}
	for _, role := range roles {
		if !slices.Contains(principal.MachineRoles, role) {
			return k, "", keyErrorf("%q is no role of machines; these are: %s", role, strings.Join(principal.MachineRoles, ", "))
		}
	}
	roles = slices.Compact(slices.Sorted(slices.Values(roles)))
	now := c.now().UTC()
	k = store.Key{ID: newWord("abcdefghijkmnpqrstuvwxyz23456789", 12), Name: name, Roles: roles, Created: now, Expires: now.Add(time.Duration(days) * 24 * time.Hour).Truncate(time.Second)}
	secret := newSecret()
	return k, "clw_" + k.ID + "_" + secret, c.Store.AddKey(ctx, k, c.hashSecret("machine key", keyText(&k, secret)), instead, ends)
}

// keyText returns the text that is hashed for a key. It contains the roles and the expiry, so a change of
// these in the database makes the key invalid.
func keyText(k *store.Key, secret string) string {
	return strings.Join([]string{k.ID, k.Name, strings.Join(k.Roles, ","), strconv.FormatInt(k.Expires.Unix(), 10), secret}, "\x00")
}

// Machine is a program that sends requests to the centre: the owner of a key, or a workload.
type Machine struct {
	principal.Principal
	workload *workload.Workload // nil if the machine has a key
}

// CheckMachine returns the machine that sends a key of the centre or the token of a workload, with its roles.
// ErrNoAccess: the key is wrong or not valid any more. *workload.Error: the token is not valid. ErrTooOften:
// too many wrong keys and tokens came from the network of this address.
func (c *Centre) CheckMachine(ctx context.Context, token, address string) (m Machine, err error) {
	if workload.IsToken(token) {
		var w workload.Workload
		w, err = c.workloads.Verify(ctx, token)
		m = Machine{w.Principal, &w}
	} else {
		m.Principal, err = c.findKey(ctx, token)
	}
	refused, ok := errors.AsType[*workload.Error](err)
	if (errors.Is(err, ErrNoAccess) || ok && !refused.IsIssuerFault()) && !c.wrongKeys.take(networkOf(address), c.now()) {
		err = ErrTooOften
	}
	return m, err
}

// UseMachine stores that a machine was let in. If once is true, it returns an error for a workload's token
// that was used before.
func (c *Centre) UseMachine(ctx context.Context, m Machine, once bool) error {
	now := c.now()
	if m.workload == nil {
		return c.Store.TouchKey(ctx, m.Subject, now)
	}
	if once {
		if m.workload.Token == "" {
			return workload.ErrNameless.WithSender(m.Issuer, m.Subject)
		}
		// At that time the token is too old for every rule, even if a clock is set back.
		until := now.Add(2 * workload.MaxMinutes * time.Minute)
		err := c.Store.UseToken(ctx, c.hashSecret("token of a workload", m.workload.Token), now, until)
		if errors.Is(err, store.ErrTwice) {
			return workload.ErrTwice.WithSender(m.Issuer, m.Subject)
		}
		if err != nil {
			return err
		}
	}
	for _, rule := range m.workload.Rules {
		if err := c.Store.TouchWorkload(ctx, store.WorkloadUse{Rule: rule, Issuer: m.Issuer, Subject: m.Subject, Used: now}); err != nil {
			return err
		}
	}
	return nil
}

// WorkloadRule is a [[workload]] with its last use.
type WorkloadRule struct {
	workload.Settings
	Use store.WorkloadUse
}

// ListWorkloads returns the rules of workloads in the order of gateway.toml. It ignores a stored use with
// another issuer: that was the use of an earlier rule with the same name.
func (c *Centre) ListWorkloads(ctx context.Context) (rules []WorkloadRule, err error) {
	uses, err := c.Store.ListWorkloadUses(ctx)
	for _, s := range c.Settings.Workloads {
		r := WorkloadRule{Settings: s}
		for _, u := range uses {
			if u.Rule == s.Name && u.Issuer == s.Issuer {
				r.Use = u
			}
		}
		rules = append(rules, r)
	}
	return rules, err
}

// StateOfKey returns a text that says whether a key is valid, and until when.
func StateOfKey(k *store.Key, now time.Time) string {
	end := k.Expires
	if !k.Ends.IsZero() && k.Ends.Before(end) {
		end = k.Ends
	}
	switch {
	case !k.Revoked.IsZero():
		return "revoked"
	case k.IsOver(now):
		return "over since " + end.UTC().Format(time.DateOnly)
	}
	return "until " + end.UTC().Format(time.DateTime)
}

// LookAtIssuers fetches the metadata of each issuer of workloads, and passes the results to the function in
// the parameter tell.
func (c *Centre) LookAtIssuers(ctx context.Context, tell func(address string, ahead time.Duration, known bool, err error)) {
	c.workloads.Look(ctx, tell)
}

func (c *Centre) findKey(ctx context.Context, token string) (p principal.Principal, err error) {
	id, secret, ok := splitToken(token)
	if !ok {
		return p, ErrNoAccess
	}
	k, hash, err := c.Store.FindKey(ctx, id)
	now := c.now()
	if errors.Is(err, store.ErrNone) || err == nil && (k.IsOver(now) || !c.isSecret("machine key", keyText(&k, secret), hash)) {
		return p, ErrNoAccess
	}
	if err != nil {
		return p, err
	}
	return principal.Principal{Issuer: principal.Machine, Subject: k.ID, Name: k.Name, GroupsKnown: true, Roles: k.Roles}, nil
}

// splitToken returns the id and the secret of clw_ID_SECRET.
func splitToken(token string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(token, "clw_")
	id, secret, both := strings.Cut(rest, "_")
	return id, secret, ok && both && len(token) <= 200 && enrolment.IsName(id)
}
