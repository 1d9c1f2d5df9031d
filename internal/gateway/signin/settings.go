// Package signin signs people in at the team's identity provider, by the code flow of OpenID Connect
// with PKCE. It stores nothing about an attempt to sign in: the caller provides what binds the attempt to a
// browser.
package signin

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/gateway/issuer"
)

// Settings are the [oidc] of gateway.toml.
type Settings struct {
	Issuer      string   `toml:"issuer"` // as the provider writes it into its tokens
	ClientID    string   `toml:"client_id"`
	SecretFile  string   `toml:"client_secret_file"`
	SecretEnv   string   `toml:"client_secret_env"` // name of a variable of the environment
	Scopes      []string `toml:"scopes"`            // besides openid
	GroupsClaim string   `toml:"groups_claim"`      // name of a claim, or the path to it with dots
	GroupsDays  int      `toml:"groups_days"`       // after so many days without a sign-in, the groups of a laptop's owner are not known any more
}

// DefaultSettings returns what holds where gateway.toml says nothing.
func DefaultSettings() Settings {
	return Settings{Scopes: []string{"profile", "email"}, GroupsClaim: "groups", GroupsDays: 30}
}

// Check returns an error for settings that cannot be used. Those without an issuer are none, and pass.
func (s *Settings) Check() error {
	if s.Issuer == "" {
		if s.ClientID != "" {
			return errors.New("issuer is missing; it is the address that your identity provider writes into its tokens")
		}
		return nil
	}
	switch err := issuer.CheckAddress(s.Issuer); {
	case err != nil:
		return err
	case s.ClientID == "":
		return errors.New("client_id is missing; it is the name that your identity provider gave to this centre")
	case s.SecretFile != "" && s.SecretEnv != "":
		return errors.New("client_secret_file and client_secret_env are both there; keep one")
	case s.GroupsDays < 1:
		return fmt.Errorf("groups_days: %d; it is 1 or more", s.GroupsDays)
	case slices.Contains(s.Scopes, ""):
		return errors.New("scopes has an empty one")
	}
	return nil
}
