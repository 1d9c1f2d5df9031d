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

// Verifier finds the workload that a token belongs to. It is safe for concurrent use.
type Verifier struct {
	rules   []rule
	issuers map[string]*issuer.Issuer // by the issuer's address
	now     func() time.Time
}

type rule struct {
	Settings
	claims map[string]pattern
}

// NewVerifier returns a verifier for rules that CheckSettings has accepted. It sends no request.
func NewVerifier(all []Settings, now func() time.Time) *Verifier {
	v := &Verifier{issuers: map[string]*issuer.Issuer{}, now: now}
	for i := range all {
		r := rule{all[i], map[string]pattern{}}
		for name, text := range r.Claims {
			r.claims[name], _ = newPattern(text) // ignore the error: CheckSettings has already compiled the pattern
		}
		v.rules = append(v.rules, r)
		if v.issuers[r.Issuer] == nil {
			v.issuers[r.Issuer] = issuer.New(r.Issuer, now, nil)
		}
	}
	return v
}

// Workload is the sender of a valid token.
type Workload struct {
	principal.Principal          // Name is the list of names in Rules
	Rules               []string // names of the rules that let the workload in
	Token               string   // identifies the token among the tokens of all issuers; "" if the token has no jti
}

// Error says why a token is not valid. Text is for the sender and does not describe the rules. Err is
// for the centre's administrator.
type Error struct {
	Status int // HTTP status
	Text   string
	Err    error
}

func (e *Error) Error() string {
	return "a token of a workload: " + strings.ToValidUTF8(e.Err.Error()[:min(len(e.Err.Error()), maxReport)], "")
}

func (e *Error) Unwrap() error { return e.Err }

// IsIssuerFault reports whether the fault lies with the issuer and not with the token.
func (e *Error) IsIssuerFault() bool { return e.Status == http.StatusServiceUnavailable }

// WithSender returns a copy of the error that also names the issuer and the subject of the token, for
// the administrator.
func (e *Error) WithSender(issuer, subject string) *Error {
	return &Error{e.Status, e.Text, fmt.Errorf("%s: %s: %w", issuer, cutText(subject), e.Err)}
}

// Errors of a token that may be used only once.
var (
	ErrTwice = &Error{http.StatusUnauthorized, "This token was used before, and publishes once: ask your platform for a new one.", errors.New("it was used before")}
	// Without a jti, the centre cannot tell a repeated use of a token from the use of another token.
	ErrNameless = &Error{http.StatusUnauthorized, "This token has no name of its own (jti), and one that publishes needs it.", errors.New("it has no jti")}
)

// Texts for the senders of refused tokens.
const (
	textInvalid  = "This token is not valid here: it cannot be read, or no issuer that this centre knows vouches for it now."
	textIssuer   = "Whether this token is valid cannot be said now: its issuer does not answer as it should, or does not know its key. Try again in a minute; if it stays so, tell the centre's administrator."
	textTime     = "This token counts no more, or not yet: ask your platform for a new one; if it stays so, compare the clocks."
	textAudience = "This token was made for another audience: ask your platform for one with this centre's audience alone."
	textRules    = "No rule of this centre lets this workload in; the centre's administrator sees in its log who asked."
)

// Maximum bytes of texts for the administrator: maxDetail of a claim, maxReport of a whole error.
const (
	maxDetail = 200
	maxReport = 1000
)

// Verify returns the workload that sent a token. The workload has the roles of all rules that the token
// meets.
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

// judge returns the workload of a verified token. It applies the rules for the token's issuer.
func (v *Verifier) judge(address, subject string, said map[string]any) (Workload, error) {
	var none Workload
	now := v.now()
	_, made, err := issuer.CheckTimes(said, now)
	if err != nil {
		return none, &Error{http.StatusUnauthorized, textTime, err}
	}
	// The library also accepts a claim whose name has other capitals, and Google's issuer without
	// https.
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

// isFor reports whether a token was made for audience and for no other audience. Another audience also
// receives the token and could send it here. If the token names the party that requested it (azp), this
// must be the same audience, unless the rule has a claim azp.
func isFor(said map[string]any, audience string, claims map[string]string) bool {
	got := said["aud"]
	if list, ok := got.([]any); ok && len(list) == 1 {
		got = list[0]
	}
	party, there := said["azp"]
	_, named := claims["azp"]
	return got == audience && (!there || named || party == audience)
}

// findLack returns a text about the first claim that does not match; "" if all claims match.
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

// cutText returns the beginning of a token's text, quoted for the administrator's log.
func cutText(s string) string {
	if len(s) > maxDetail {
		s = s[:maxDetail] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Look calls issuer.Issuer.Look for each issuer, and passes each result to the function in the
// parameter tell.
func (v *Verifier) Look(ctx context.Context, tell func(address string, ahead time.Duration, known bool, err error)) {
	for _, address := range slices.Sorted(maps.Keys(v.issuers)) {
		ahead, known, err := v.issuers[address].Look(ctx)
		tell(address, ahead, known, err)
	}
}
