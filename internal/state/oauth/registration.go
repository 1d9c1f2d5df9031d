package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// The ways in which a client shows who it is at the token endpoint (RFC 7591 section 2).
const (
	methodNone  = "none"
	methodPost  = "client_secret_post"
	methodBasic = "client_secret_basic"
)

// identity is the client that asks for tokens.
type identity struct {
	id, secret string
	style      oauth2.AuthStyle
}

// identifyClient gives the client for an authorization server: the owner's own, or one that is
// registered now. An id that is an address is a document (MCP 2025-11-25
// basic/authorization, client id metadata documents); a server that does not say that it
// reads such may know the id all the same.
func (c *Client) identifyClient(ctx context.Context, d *discovery, meta *oauthex.AuthServerMeta, redirect, id, secret string) (identity, error) {
	if id != "" {
		if secret == "" || meta.ClientIDMetadataDocumentSupported && isDocument(id) {
			return identity{id: id, style: oauth2.AuthStyleInParams}, nil
		}
		return identity{id, secret, secretStyle(meta.TokenEndpointAuthMethodsSupported)}, nil
	}
	if meta.RegistrationEndpoint == "" {
		return identity{}, errors.New("failed to register client: the authorization server has no registration")
	}
	var failed error
	for _, method := range registrationMethods(meta.TokenEndpointAuthMethodsSupported) {
		got, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
			ClientName:              "clawai",
			ApplicationType:         "native",
			RedirectURIs:            []string{redirect},
			GrantTypes:              []string{"authorization_code", "refresh_token"},
			ResponseTypes:           []string{"code"},
			TokenEndpointAuthMethod: method,
		}, d.http)
		if err == nil {
			return registeredIdentity(got, method, meta.TokenEndpointAuthMethodsSupported), nil
		}
		if failed == nil {
			failed = err
		}
		if refused, ok := errors.AsType[*oauthex.ClientRegistrationError](err); !ok || refused.ErrorCode != "invalid_client_metadata" {
			break
		}
	}
	return identity{}, fmt.Errorf("failed to register client: %w", failed)
}

// registrationMethods gives the methods to register with, the best one first. We run on the
// owner's machine and can keep no secret from them: none is the right one where the server
// takes it (RFC 8252 section 8.4).
func registrationMethods(supported []string) []string {
	if len(supported) == 0 {
		return []string{methodNone, methodBasic}
	}
	var all []string
	for _, method := range []string{methodNone, methodPost, methodBasic} {
		if slices.Contains(supported, method) {
			all = append(all, method)
		}
	}
	if len(all) == 0 { // it knows only ways that we do not
		return []string{methodNone}
	}
	return all
}

// registeredIdentity gives the client as the server has registered it, which may be with another
// method than was asked for. One that says no method, and gives a secret to a client that asked
// for none, wants it in a way that it lists. A client without a secret has none to show.
func registeredIdentity(got *oauthex.ClientRegistrationResponse, asked string, supported []string) identity {
	method := got.TokenEndpointAuthMethod
	if method == "" && asked != methodNone {
		method = asked
	}
	inParams := identity{got.ClientID, got.ClientSecret, oauth2.AuthStyleInParams}
	switch {
	case got.ClientSecret == "" || method == methodPost:
		return inParams
	case method != "" && method != methodNone:
		return identity{got.ClientID, got.ClientSecret, oauth2.AuthStyleInHeader}
	}
	style := secretStyle(supported)
	if method == methodNone || style == oauth2.AuthStyleAutoDetect && slices.Contains(supported, methodNone) {
		inParams.secret = "" // it says that it wants none
		return inParams
	}
	return identity{got.ClientID, got.ClientSecret, style}
}

// secretStyle gives how a client shows its secret where nobody says how.
func secretStyle(supported []string) oauth2.AuthStyle {
	switch {
	case slices.Contains(supported, methodPost): // preferred by OAuth 2.1
		return oauth2.AuthStyleInParams
	case slices.Contains(supported, methodBasic):
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleAutoDetect
}

// isDocument reports an id that is the https address of a metadata document.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && strings.Trim(u.Path, "/") != ""
}

// unregistered says what to do where the server lets no client register itself. Where metadata was
// of another resource that helps nobody: it may be the wrong server.
func (d *discovery) unregistered(err error) error {
	err = sanitizeError(err)
	if !d.astray {
		err = fmt.Errorf("%w; register a client at the server and use: clawai auth login --client-id ID", err)
	}
	return d.explainError(err)
}
