// Package signin signs people in at the team's identity provider, with the authorization code flow of
// OpenID Connect and PKCE. It stores nothing about an attempt to sign in. The caller computes the Flow
// of an attempt from a cookie of the browser.
package signin

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/gateway/issuer"
)

// Settings are the table [oidc] of gateway.toml.
type Settings struct {
	Issuer      string   `toml:"issuer"` // the provider's address, exactly as in its tokens
	ClientID    string   `toml:"client_id"`
	SecretFile  string   `toml:"client_secret_file"`
	SecretEnv   string   `toml:"client_secret_env"` // name of an environment variable
	Scopes      []string `toml:"scopes"`            // requested scopes besides openid
	GroupsClaim string   `toml:"groups_claim"`      // name of the claim with the groups, or a path with dots
	GroupsDays  int      `toml:"groups_days"`       // the groups of a laptop's owner are known for this many days after the owner's last sign-in
}

// DefaultSettings returns the settings that apply if gateway.toml does not set a key.
func DefaultSettings() Settings {
	return Settings{Scopes: []string{"profile", "email"}, GroupsClaim: "groups", GroupsDays: 30}
}

// Check returns an error if the settings cannot be used. Settings without an issuer and a client id
// mean that the team has no identity provider, and Check returns nil for them.
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
