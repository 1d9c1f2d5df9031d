package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/issuer"
	"github.com/clawai/clawai/internal/gateway/principal"
)

// Verifier says which workload sends a token. It is safe for concurrent use.
type Verifier struct {
	rules   []rule
	issuers map[string]*issuer.Issuer // by address
	now     func() time.Time
}

type rule struct {
	Settings
	claims map[string]pattern
}

// NewVerifier returns the verifier of rules that CheckSettings has let pass. It sends nothing.
func NewVerifier(all []Settings, now func() time.Time) *Verifier {
	v := &Verifier{issuers: map[string]*issuer.Issuer{}, now: now}
	for i := range all {
		r := rule{all[i], map[string]pattern{}}
		for name, text := range r.Claims {
			r.claims[name], _ = newPattern(text) // CheckSettings has tried it; what cannot be read accepts nothing
		}
		v.rules = append(v.rules, r)
		if v.issuers[r.Issuer] == nil {
			v.issuers[r.Issuer] = issuer.New(r.Issuer, now, nil)
		}
	}
	return v
}

// Workload is who sent a token that counts.
type Workload struct {
	principal.Principal          // Name is that of the rules that let it in
	Rules               []string // names of these rules
	Token               string   // names the token among all; "" if the issuer gave it no name (jti)
}

// Error is why a token does not count. Text is for whoever sent it, and says nothing of the rules; Err is for
// the centre's administrator.
type Error struct {
	Status int // of HTTP
	Text   string
	Err    error
}

func (e *Error) Error() string {
	return "a token of a workload: " + strings.ToValidUTF8(e.Err.Error()[:min(len(e.Err.Error()), maxReport)], "")
}

func (e *Error) Unwrap() error { return e.Err }

// IsIssuerFault reports whether the issuer, and not the token, is at fault.
func (e *Error) IsIssuerFault() bool { return e.Status == http.StatusServiceUnavailable }

// WithSender returns the error with the sender of the token, for the administrator.
func (e *Error) WithSender(issuer, subject string) *Error {
	return &Error{e.Status, e.Text, fmt.Errorf("%s: %s: %w", issuer, cutText(subject), e.Err)}
}

// Errors of a token that counts once.
var (
	ErrTwice = &Error{http.StatusUnauthorized, "This token was used before, and publishes once: ask your platform for a new one.", errors.New("it was used before")}
	// Without a name, two uses of a token could not be told from two tokens.
	ErrNameless = &Error{http.StatusUnauthorized, "This token has no name of its own (jti), and one that publishes needs it.", errors.New("it has no jti")}
)

// What those who send a token are told.
const (
	textInvalid  = "This token is not valid here: it cannot be read, or no issuer that this centre knows vouches for it now."
	textIssuer   = "Whether this token is valid cannot be said now: its issuer does not answer as it should, or does not know its key. Try again in a minute; if it stays so, tell the centre's administrator."
	textTime     = "This token counts no more, or not yet: ask your platform for a new one; if it stays so, compare the clocks."
	textAudience = "This token was made for another audience: ask your platform for one with this centre's audience alone."
	textRules    = "No rule of this centre lets this workload in; the centre's administrator sees in its log who asked."
)

// Bounds of what the administrator is told: of a claim, and of all.
const (
	maxDetail = 200
	maxReport = 1000
)

// Verify returns which workload sends a token, with the roles of all rules that it meets.
func (v *Verifier) Verify(ctx context.Context, raw string) (Workload, error) {
	var none Workload
	address, err := readIssuer(raw)
	if err != nil {
		return none, &Error{http.StatusUnauthorized, textInvalid, err}
	}
	is := v.issuers[address]
	if is == nil {
		return none, &Error{http.StatusUnauthorized, textInvalid, fmt.Errorf("no rule names its issuer %s; issuer in gateway.toml is that text to the last sign", cutText(address))}
	}
	m, err := is.Find(ctx)
	if err != nil {
		return none, &Error{http.StatusServiceUnavailable, textIssuer, fmt.Errorf("%s: %w", address, err)}
	}
	token, said, err := m.Verify(ctx, raw)
	if away, ok := errors.AsType[*issuer.KeysError](err); ok {
		return none, &Error{http.StatusServiceUnavailable, textIssuer, fmt.Errorf("%s: %w", address, away)}
	}
	if err != nil {
		return none, &Error{http.StatusUnauthorized, textInvalid, fmt.Errorf("%s: %w", address, err)}
	}
	who, err := v.judge(address, token.Subject, said)
	if refused, ok := errors.AsType[*Error](err); ok {
		err = refused.WithSender(address, token.Subject)
	}
	return who, err
}

// judge returns who a verified token is about, by the rules of its issuer.
func (v *Verifier) judge(address, subject string, said map[string]any) (Workload, error) {
	var none Workload
	now := v.now()
	_, made, err := issuer.CheckTimes(said, now)
	if err != nil {
		return none, &Error{http.StatusUnauthorized, textTime, err}
	}
	// The library takes a member of another case for the claim, and a name of Google without https.
	if said["iss"] != address || said["sub"] != subject || !issuer.IsPlain(subject, maxValue) {
		return none, &Error{http.StatusUnauthorized, textInvalid, errors.New("its issuer or subject cannot be read in one way")}
	}
	who := Workload{Principal: principal.Principal{Issuer: address, Subject: subject, GroupsKnown: true}}
	refused := &Error{http.StatusUnauthorized, textAudience, fmt.Errorf("its audience (aud) %s is that of no rule alone, or it was asked for by another party (azp)", cutText(fmt.Sprint(said["aud"])))}
	for i := range v.rules {
		r := &v.rules[i]
		if r.Issuer != address || !isFor(said, r.Audience, r.Claims) {
			continue
		}
		if lack := r.findLack(said); lack != "" {
			if refused.Text == textAudience {
				refused = &Error{http.StatusForbidden, textRules, errors.New("it meets no rule")}
			}
			refused.Err = fmt.Errorf("%w; %s: %s", refused.Err, r.Name, lack)
			continue
		}
		if now.Sub(made) >= r.Lifetime() {
			refused = &Error{http.StatusUnauthorized, textTime, fmt.Errorf("it was made at %s, and the rule %s takes tokens for %v (minutes)", made.UTC().Format(time.RFC3339), r.Name, r.Lifetime())}
			continue
		}
		who.Rules = append(who.Rules, r.Name)
		for _, role := range r.Roles {
			if !slices.Contains(who.Roles, role) {
				who.Roles = append(who.Roles, role)
			}
		}
	}
	if len(who.Rules) == 0 {
		return none, refused
	}
	who.Name = strings.Join(who.Rules, ", ")
	if id, _ := said["jti"].(string); issuer.IsPlain(id, maxValue) {
		who.Token = address + "\x00" + id
	}
	return who, nil
}

// isFor reports whether a token was made for an audience and for no other: another one could send it here.
// The party that asked for it (azp) is this audience too, or one that the rule names.
func isFor(said map[string]any, audience string, claims map[string]string) bool {
	got := said["aud"]
	if list, ok := got.([]any); ok && len(list) == 1 {
		got = list[0]
	}
	party, there := said["azp"]
	_, named := claims["azp"]
	return got == audience && (!there || named || party == audience)
}

// findLack returns which claim does not hold; "" if all do.
func (r *rule) findLack(said map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(r.claims)) {
		value, ok := said[name].(string)
		p := r.claims[name]
		switch {
		case said[name] == nil:
			return name + " is missing"
		case !ok:
			return name + " is no text"
		case !issuer.IsPlain(value, maxValue) || !p.accepts(value):
			return name + " is " + cutText(value)
		}
	}
	return ""
}

// cutText returns a text of a token as the administrator's log has it.
func cutText(s string) string {
	if len(s) > maxDetail {
		s = s[:maxDetail] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Look asks each issuer what it says of itself, and tells how far its clock is ahead of ours, if it is known.
func (v *Verifier) Look(ctx context.Context, tell func(address string, ahead time.Duration, known bool, err error)) {
	for _, address := range slices.Sorted(maps.Keys(v.issuers)) {
		ahead, known, err := v.issuers[address].Look(ctx)
		tell(address, ahead, known, err)
	}
}
