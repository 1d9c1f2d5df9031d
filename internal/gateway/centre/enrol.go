package centre

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Limits of an enrolment (RFC 8628).
const (
	codeLife    = 10 * time.Minute
	pollWait    = 2 * time.Second // shortest time between two polls of a laptop; each early poll adds slowStep
	slowStep    = 5 * time.Second
	maxWishes   = 100 // requests that wait for a decision at the same time
	maxTextLen  = 64  // bytes of a laptop's name, system and version
	codeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	codeLength  = 8
)

// Errors whose text a person or a laptop gets unchanged.
var (
	ErrNoKeys   = errors.New("this centre has no key of bundles yet: its administrator must put bundle_keys into gateway.toml and start it again")
	ErrTooOften = errors.New("too often; wait some minutes and try again")
	ErrNoCode   = errors.New("nothing waits with this code; it may have expired: run the command again that showed it")
	ErrNoAccess = errors.New("this token is not valid here")
)

// newSecret returns 256 random bits as text that needs no quoting in a shell or a URL.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// newWord returns random characters of an alphabet.
func newWord(alphabet string, length int) string {
	word := make([]byte, 0, length)
	for len(word) < length {
		var b [1]byte
		_, _ = rand.Read(b[:])                                   // never fails (crypto/rand)
		if n := int(b[0]); n < 256/len(alphabet)*len(alphabet) { // otherwise some characters would be more likely
			word = append(word, alphabet[n%len(alphabet)])
		}
	}
	return string(word)
}

// plainCode returns the form of a typed user code that is hashed: upper case, without dashes and blanks; ""
// if the text is no user code.
func plainCode(typed string) string {
	code := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToUpper(typed))
	if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return code
}

// cleanText returns a text that a database can store: valid UTF-8 without zero bytes. If it has more bytes
// than the parameter most, the rest is replaced by "…".
func cleanText(s string, most int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\u2400")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// BeginEnrolment stores a laptop's request to be enrolled. It returns the code for the laptop and the code
// that a person types. address is the network address from which the request came.
func (c *Centre) BeginEnrolment(ctx context.Context, ask enrolment.AskEnrolment, address string) (enrolment.DeviceCode, error) {
	if len(c.Settings.BundleKeys) == 0 {
		return enrolment.DeviceCode{}, ErrNoKeys
	}
	return c.beginWish(ctx, ofLaptop, ask, address)
}

// The kinds of requests that a person confirms with a code. The hash of a code depends on the kind, so a code
// of one kind is not valid for the other.
const (
	ofLaptop = ""
	ofPerson = " of a person" // a command line that wants to answer questions for a person
)

// beginWish stores a request that a person confirms with a code.
func (c *Centre) beginWish(ctx context.Context, kind string, ask enrolment.AskEnrolment, address string) (enrolment.DeviceCode, error) {
	if !c.begun.take(networkOf(address), c.now()) {
		return enrolment.DeviceCode{}, ErrTooOften
	}
	for _, text := range []*string{&ask.Name, &ask.OS, &ask.Version} {
		*text = cleanText(*text, maxTextLen)
	}
	if strings.TrimSpace(ask.Name) == "" {
		ask.Name = "(no name)"
	}
	device, user := newSecret(), newWord(codeLetters, codeLength)
	now := c.now()
	err := c.Store.AddEnrolment(ctx, store.Enrolment{
		DeviceHash: c.hashSecret("device"+kind, device), UserHash: c.hashSecret("user"+kind, user),
		Ask: ask, Address: address, Created: now, Expires: now.Add(codeLife), Interval: pollWait,
	}, maxWishes)
	if errors.Is(err, store.ErrMany) {
		err = ErrTooOften
	}
	return enrolment.DeviceCode{
		DeviceCode: device, UserCode: user[:codeLength/2] + "-" + user[codeLength/2:],
		ExpiresIn: int(codeLife / time.Second), Interval: int(pollWait / time.Second),
	}, err
}

// FindWish returns the enrolment request with a code that a person typed. Wrong codes count towards the
// limit of that person.
func (c *Centre) FindWish(ctx context.Context, typed string, who principal.Principal) (store.Enrolment, error) {
	return c.findWish(ctx, ofLaptop, typed, who)
}

func (c *Centre) findWish(ctx context.Context, kind, typed string, who principal.Principal) (store.Enrolment, error) {
	e, err := c.Store.FindEnrolment(ctx, c.hashSecret("user"+kind, plainCode(typed)))
	if err == nil && e.Expires.After(c.now()) {
		return e, nil
	}
	if err != nil && !errors.Is(err, store.ErrNone) {
		return store.Enrolment{}, err
	}
	if !c.guesses.take(who.Key(), c.now()) {
		return store.Enrolment{}, ErrTooOften
	}
	return store.Enrolment{}, ErrNoCode
}

// DecideWish allows or denies the enrolment request with a typed code. The person who allows a laptop
// becomes its owner.
func (c *Centre) DecideWish(ctx context.Context, typed string, allow bool, who principal.Principal) (store.Enrolment, error) {
	return c.decideWish(ctx, ofLaptop, typed, allow, who)
}

func (c *Centre) decideWish(ctx context.Context, kind, typed string, allow bool, who principal.Principal) (store.Enrolment, error) {
	e, err := c.findWish(ctx, kind, typed, who)
	if err != nil {
		return e, err
	}
	e.Status = store.Denied
	if allow {
		e.Status = store.Allowed
	}
	return e, c.Store.DecideEnrolment(ctx, e.UserHash, e.Status, who)
}

// PollToken answers a laptop that asks whether a person has decided. The refusal has a code of RFC
// 8628.
func (c *Centre) PollToken(ctx context.Context, deviceCode string) (enrolment.Grant, *enrolment.Refusal, error) {
	hash, now := c.hashSecret("device"+ofLaptop, deviceCode), c.now()
	if refusal, err := c.pollWish(ctx, hash); refusal != nil || err != nil {
		return enrolment.Grant{}, refusal, err
	}
	signs, err := c.CheckpointKey()
	if err != nil {
		return enrolment.Grant{}, nil, err
	}
	secret := newSecret()
	id, err := c.Store.AddLaptop(ctx, hash, store.Laptop{ID: newWord("abcdefghijkmnpqrstuvwxyz23456789", 12), Enrolled: now}, c.hashSecret("token", secret))
	if errors.Is(err, store.ErrTwice) {
		return enrolment.Grant{}, &enrolment.Refusal{Error: enrolment.Expired, Description: "this code was used; run clawai enroll again"}, nil
	}
	if err != nil {
		return enrolment.Grant{}, nil, err
	}
	return enrolment.Grant{Laptop: id, Token: "clw_" + id + "_" + secret, BundleKeys: c.Settings.BundleKeys, Offline: c.Settings.OfflineRule(), CheckpointKey: signs}, nil, nil
}

// pollWish returns nil if the request with the hash of a device code was allowed. Otherwise the refusal says
// why not.
func (c *Centre) pollWish(ctx context.Context, hash string) (*enrolment.Refusal, error) {
	refuse := func(code, text string) (*enrolment.Refusal, error) {
		return &enrolment.Refusal{Error: code, Description: text}, nil
	}
	now, tooEarly := c.now(), false
	e, err := c.Store.PollEnrolment(ctx, hash, func(e *store.Enrolment) {
		if tooEarly = now.Before(e.Polled.Add(e.Interval)); tooEarly {
			e.Interval += slowStep
		}
		e.Polled = now
	})
	switch {
	case errors.Is(err, store.ErrNone):
		return refuse(enrolment.Expired, "this code is not known or has expired; run the command again")
	case err != nil:
		return nil, err
	case !e.Expires.After(now):
		return refuse(enrolment.Expired, "nobody confirmed the code in time; run the command again")
	case e.Status == store.Denied:
		return refuse(enrolment.Refused, "it was denied at the centre")
	case e.Status != store.Allowed && tooEarly:
		return refuse(enrolment.SlowDown, "asked too early")
	case e.Status != store.Allowed:
		return refuse(enrolment.Pending, "nobody has confirmed the code yet")
	}
	return nil, nil
}

// CheckToken returns the laptop that has a token. ErrNoAccess: no laptop has it, or the laptop was revoked.
func (c *Centre) CheckToken(ctx context.Context, token string) (store.Laptop, error) {
	id, secret, ok := splitToken(token)
	if !ok {
		return store.Laptop{}, ErrNoAccess
	}
	l, hash, err := c.Store.FindLaptop(ctx, id)
	if errors.Is(err, store.ErrNone) || err == nil && (!l.Revoked.IsZero() || !c.isSecret("token", secret, hash)) {
		return store.Laptop{}, ErrNoAccess
	}
	return l, err
}
