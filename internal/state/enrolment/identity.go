package enrolment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
)

// A small file holds the identity of the person who uses this laptop, and the time at which the
// centre sent the identity. An agent's hook reads the file at each call.

// IdentityLife is how long an identity is valid after the centre has sent it. It is one day, so
// that a laptop that cannot reach the centre for some hours keeps its roles. A laptop that reaches
// the centre loses a removed role at the next poll.
const IdentityLife = 24 * time.Hour

const (
	// identityRefresh is the age at which an unchanged identity is written again with its new time.
	identityRefresh = 10 * time.Minute
	// identityAhead is how far the stored time may lie in the future, because clocks are not exact.
	identityAhead = 5 * time.Minute
	maxIdentity   = 64 << 10 // maximum size of the file, in bytes
)

// Caller holds the known facts about the person who makes the calls of this laptop's sessions. In
// the zero value nothing is known.
type Caller struct {
	Who, Roles, Groups policy.NameSet
	Env                string // the environment that the centre gives to the laptop; "" for none
}

// keptIdentity is the content of the file with the identity.
type keptIdentity struct {
	At  time.Time `json:"at"`            // the time at which the centre sent the identity
	Who *Identity `json:"who,omitempty"` // nil if the centre does not know the person
}

func identityFile(state string) string { return filepath.Join(Folder(state), "identity.json") }

// KeepIdentity stores the identity that the centre has sent; nil means that the centre does not
// know the person. If the identity cannot be used, KeepIdentity stores nil and returns the reason
// as an error. If the laptop is no longer enrolled, KeepIdentity returns ErrNone and writes
// nothing.
func KeepIdentity(state string, said *Identity, now time.Time) error {
	if !IsEnrolled(state) {
		return ErrNone
	}
	next := keptIdentity{now.UTC(), said}
	var unusable error
	if _, unusable = said.caller(); unusable != nil {
		next.Who = nil
		unusable = fmt.Errorf("what the centre says of who uses this laptop cannot be used: %w", unusable)
	}
	if old, err := readIdentity(state); err == nil && sameIdentity(old.Who, next.Who) && now.Sub(old.At).Abs() < identityRefresh {
		return unusable
	}
	return errors.Join(unusable, writeJSON(identityFile(state), next))
}

func sameIdentity(a, b *Identity) bool {
	x, err := json.Marshal(a)
	y, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(x, y)
}

// FindCaller returns the facts about the caller on an enrolled laptop, and whether the laptop is
// enrolled. If the stored identity is too old or cannot be read, the facts are empty. On a laptop
// that is not enrolled, FindCaller only checks whether a file exists; there NameAccount returns the
// caller's name.
func FindCaller(state string, now time.Time) (c Caller, enrolled bool) {
	if !IsEnrolled(state) {
		return c, false
	}
	kept, err := readIdentity(state)
	if age := now.Sub(kept.At); err != nil || age >= IdentityLife || age < -identityAhead {
		return Caller{}, true
	}
	if c, err = kept.Who.caller(); err != nil {
		return Caller{}, true
	}
	return c, true
}

// readIdentity reads the file with the identity. It returns an error if another user could have
// written the file.
func readIdentity(state string) (kept keptIdentity, err error) {
	src, err := config.ReadFile(identityFile(state))
	if err == nil {
		kept, err = parseIdentity(src)
	}
	return kept, err
}

func parseIdentity(src []byte) (kept keptIdentity, err error) {
	if len(src) > maxIdentity {
		return kept, errors.New("it is too long")
	}
	if err = json.Unmarshal(src, &kept); err != nil {
		return keptIdentity{}, err
	}
	return kept, nil
}

// caller returns the identity as facts for rules. It returns an error if a text in the identity is
// not a valid name. Roles follow from groups, so the roles count as unknown if not all groups are
// known.
func (i *Identity) caller() (c Caller, err error) {
	if i == nil {
		return c, nil
	}
	if i.Env != "" && !policy.IsIdentityName(i.Env) {
		return c, fmt.Errorf("%q is no name of an environment", i.Env)
	}
	names := []string{i.Who}
	if i.Key != "" && i.Key != i.Who {
		names = append(names, i.Key)
	}
	if c.Who, err = policy.NewNameSet(names); err == nil && i.GroupsKnown {
		if c.Groups, err = policy.NewNameSet(i.Groups); err == nil {
			c.Roles, err = policy.NewNameSet(i.Roles)
		}
	}
	if err != nil {
		return Caller{}, err
	}
	c.Env = i.Env
	return c, nil
}

func localName(account string) policy.NameSet {
	names, err := policy.NewNameSet([]string{"local:" + account})
	if err != nil {
		return "" // rules cannot have a name like this, so the account is unknown to them
	}
	return names
}
