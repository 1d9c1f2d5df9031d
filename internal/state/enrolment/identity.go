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

// Who uses this laptop is kept in a small file, with the time at which the centre said it. The hook of
// an agent reads it at each call.

// IdentityLife is how long what the centre said of the caller counts without a further word of the
// centre. It is a day, so that a laptop that travels keeps its roles; a centre that is reached takes a
// role away within one poll.
const IdentityLife = 24 * time.Hour

const (
	// identityRefresh is the age at which the same identity is written again, with its new time.
	identityRefresh = 10 * time.Minute
	// identityAhead is how far the kept time may lie in the future, as clocks are set.
	identityAhead = 5 * time.Minute
	maxIdentity   = 64 << 10 // bytes of the file
)

// Caller is what is known of who makes the calls of this laptop's sessions. The zero value knows
// nothing.
type Caller struct {
	Who, Roles, Groups policy.NameSet
	Env                string // that the centre names; "" for none
}

// keptIdentity is the file's content.
type keptIdentity struct {
	At  time.Time `json:"at"`            // when the centre said it
	Who *Identity `json:"who,omitempty"` // nil: the centre does not know
}

func identityFile(state string) string { return filepath.Join(Folder(state), "identity.json") }

// KeepIdentity keeps what the centre said of the caller; nil means that it does not know. Something
// that cannot be used is kept as nil, and the error says why. It returns ErrNone if the laptop is not
// enrolled any more, and then writes nothing.
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

// FindCaller returns who makes the calls on an enrolled laptop, and whether it is enrolled. What the
// centre said too long ago, or what cannot be read, is not known. On a laptop that is not enrolled it
// costs one look at a file; see NameAccount.
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

// readIdentity reads the file. It returns an error if anybody else could have written it.
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

// caller returns the facts for rules, and an error if a text in the identity is no name. If the groups
// are not all known, nor are the roles, which groups give.
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
		return "" // an account with such a name is not known
	}
	return names
}
