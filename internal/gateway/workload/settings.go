// Package workload lets in machines that have no key of the centre, such as jobs of CI and pods. Such a
// machine shows a token that its platform has signed. A [[workload]] of gateway.toml is a rule: it says
// whose tokens are valid, and which roles they give.
package workload

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/issuer"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Limits of a rule.
const (
	defaultMinutes = 60
	MaxMinutes     = 24 * 60
	maxRules       = 200
	maxName        = 64
	maxValue       = 1024 // maximum bytes of a claim
)

// Settings are one [[workload]] of gateway.toml.
type Settings struct {
	Name     string            `toml:"name"`     // for people to read
	Issuer   string            `toml:"issuer"`   // the issuer's address, exactly as in its tokens
	Audience string            `toml:"audience"` // the audience of the tokens; each token must be for this audience only
	Roles    []string          `toml:"roles"`    // some of principal.MachineRoles
	Minutes  *int              `toml:"minutes"`  // a token is valid for this many minutes after it was made; nil means defaultMinutes
	Claims   map[string]string `toml:"claims"`   // required claims, by name; each value is a text or a pattern
}

// Lifetime returns how long a token is valid after it was made.
func (s *Settings) Lifetime() time.Duration {
	minutes := defaultMinutes
	if s.Minutes != nil {
		minutes = *s.Minutes
	}
	return time.Duration(minutes) * time.Minute
}

// standard are the claims that the centre checks in every token.
var standard = []string{"iss", "aud", "exp", "nbf", "iat", "jti"}

// open lists hosts that give a token to anybody in the world. For each host it has the claims that
// identify the owner of a token. GitHub's claim job_workflow_ref is not in the list, because everybody
// can call a public workflow.
var open = map[string][]string{
	"token.actions.githubusercontent.com": {"repository", "repository_id", "repository_owner", "repository_owner_id"},
	"gitlab.com":                          {"project_path", "project_id", "namespace_path", "namespace_id"},
}

// shortNames has the claims that have another name in a subject (sub).
var shortNames = map[string]string{"repository": "repo"}

// CheckSettings returns an error if rules cannot be used. clientID is the client id of people's
// sign-ins. No rule may use it as audience, because people's tokens would then pass for tokens of
// workloads.
func CheckSettings(all []Settings, clientID string) error {
	if len(all) > maxRules {
		return fmt.Errorf("there are %d; at most %d are read", len(all), maxRules)
	}
	seen := map[string]bool{}
	for i := range all {
		s := &all[i]
		if !enrolment.IsName(s.Name) || len(s.Name) > maxName {
			return fmt.Errorf("number %d has the name %q; a name has 1 to %d letters, digits, \".\", \"_\" and \"-\"", i+1, s.Name, maxName)
		}
		if seen[s.Name] {
			return fmt.Errorf("%q is there twice; give each its own name", s.Name)
		}
		seen[s.Name] = true
		if err := s.check(clientID); err != nil {
			return fmt.Errorf("%q: %w", s.Name, err)
		}
	}
	return nil
}

func (s *Settings) check(clientID string) error {
	if err := issuer.CheckAddress(s.Issuer); err != nil {
		return err
	}
	switch {
	case !issuer.IsPlain(s.Audience, maxValue):
		return errors.New(`audience is missing; write the centre's address, such as "https://centre.example", and ask for tokens with it`)
	case s.Audience == s.Issuer:
		return errors.New("audience is the issuer itself, for which it makes tokens of other uses; write the centre's address")
	case clientID != "" && s.Audience == clientID:
		return errors.New("audience is the client_id of [oidc], and tokens of people would count; write the centre's address")
	case len(s.Roles) == 0:
		return fmt.Errorf("roles is missing; it has one or more of: %s", strings.Join(principal.MachineRoles, ", "))
	case s.Lifetime() < time.Minute || s.Lifetime() > MaxMinutes*time.Minute:
		return fmt.Errorf("minutes: %d; it is 1 to %d", *s.Minutes, MaxMinutes)
	}
	for _, role := range s.Roles {
		if !slices.Contains(principal.MachineRoles, role) {
			return fmt.Errorf("roles: %q is no role of machines; these are: %s", role, strings.Join(principal.MachineRoles, ", "))
		}
	}
	return s.checkClaims()
}

// checkClaims returns an error if the claims would let in everybody whom the issuer knows.
func (s *Settings) checkClaims() error {
	narrow := false
	for _, name := range slices.Sorted(maps.Keys(s.Claims)) {
		value := s.Claims[name]
		switch {
		case slices.Contains(standard, name):
			return fmt.Errorf("claims: %s is checked of every token; leave it out", name)
		case !issuer.IsPlain(name, maxName) || !issuer.IsPlain(value, maxValue):
			return fmt.Errorf("claims: %q = %q is no name with a text; each has 1 to %d bytes, of signs that can be seen", name, value, maxValue)
		}
		if _, err := newPattern(value); err != nil {
			return fmt.Errorf("claims: %s: %w", name, err)
		}
		narrow = narrow || strings.Trim(value, wildcards+separators+"/") != ""
	}
	if !narrow {
		return errors.New(`claims is missing, and whomever the issuer knows would be let in; say whose token counts, such as: claims = { repository = "team/policy", ref = "refs/heads/main" }`)
	}
	at, err := url.Parse(s.Issuer)
	if err != nil {
		return err
	}
	whose := open[strings.ToLower(at.Hostname())]
	if whose != nil && !slices.ContainsFunc(whose, s.namesOwner) {
		return fmt.Errorf("claims says not whose a token is, and everybody can get one at %s; add one of %s, or a sub that begins with one of them, with no wildcard before its first \"/\"", s.Issuer, strings.Join(whose, ", "))
	}
	return nil
}

// namesOwner reports whether the rule fixes the owner of a token: by the given claim, or by a sub that
// begins with this claim. Owners can choose the claims in the sub of their tokens. So a sub that begins
// with another claim could come from any owner.
func (s *Settings) namesOwner(claim string) bool {
	if isNarrow(s.Claims[claim]) {
		return true
	}
	name, rest, _ := strings.Cut(s.Claims["sub"], ":")
	if name != claim && (name == "" || name != shortNames[claim]) {
		return false
	}
	owner, _, _ := strings.Cut(rest, ":")
	return isNarrow(owner)
}

// isNarrow reports whether a text fixes an owner: the text has no wildcard, or no wildcard before its
// first "/".
func isNarrow(value string) bool {
	first, _, _ := strings.Cut(value, "/")
	return value != "" && (!hasWildcard(value) || first != value && !hasWildcard(first))
}
