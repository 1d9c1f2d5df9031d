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

// The ways in which a client authenticates at the token endpoint (RFC 7591 section 2).
const (
	methodNone  = "none"
	methodPost  = "client_secret_post"
	methodBasic = "client_secret_basic"
)

// identity is the OAuth client that requests tokens.
type identity struct {
	id, secret string // secret is "" if the client has no secret
	style      oauth2.AuthStyle
	key        *signer // nil if the client has no key
	audience   string  // the audience of the client's assertions
}

// identifyClient returns the OAuth client for an authorization server. If the terms have an id, it
// returns the client with this id and secret. Otherwise identifyClient registers a client. An id
// that is an https address can name a document (MCP 2025-11-25 basic/authorization, client id
// metadata documents). A server that does not announce support for such documents may still know
// the id.
func (c *Client) identifyClient(ctx context.Context, d *discovery, meta *issuer, redirect string, t terms) (identity, error) {
	if t.id != "" {
		key, err := c.readKey(t.Choices)
		switch {
		case err != nil:
			return identity{}, err
		case key != nil:
			return identity{id: t.id, style: oauth2.AuthStyleInParams, key: key, audience: meta.Issuer}, nil
		case t.secret == "" || meta.ClientIDMetadataDocumentSupported && isDocument(t.id):
			return identity{id: t.id, style: oauth2.AuthStyleInParams}, nil
		}
		return identity{id: t.id, secret: t.secret, style: secretStyle(meta.TokenEndpointAuthMethodsSupported)}, nil
	}
	if meta.RegistrationEndpoint == "" {
		return identity{}, d.explainRegistration(errors.New("the authorization server registers no clients by itself"), t)
	}
	grants := []string{"authorization_code", "refresh_token"}
	if t.Grant == GrantDevice {
		grants = append(grants, deviceGrant)
	}
	var failed error
	for _, method := range registrationMethods(meta.TokenEndpointAuthMethodsSupported) {
		got, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
			ClientName:              "clawai",
			ApplicationType:         "native",
			RedirectURIs:            []string{redirect},
			GrantTypes:              grants,
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
	return identity{}, d.explainRegistration(failed, t)
}

// readKey reads the client's key. It returns nil if the owner has named no key.
func (c *Client) readKey(chosen Choices) (*signer, error) {
	if chosen.KeyFile == "" {
		return nil, nil
	}
	text, err := c.o.ReadFile(chosen.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the client's key: %w", err)
	}
	key, err := readSigner(text, chosen.KeyID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chosen.KeyFile, err)
	}
	return key, nil
}

// registrationMethods returns the authentication methods for a registration, the best first. clawai
// runs on the owner's machine and cannot hide a client secret there. So "none" is the right method
// if the server accepts it (RFC 8252 section 8.4).
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
	if len(all) == 0 { // the server lists only methods that clawai does not support
		return []string{methodNone}
	}
	return all
}

// registeredIdentity returns the client as the server has registered it. The parameter asked is the
// authentication method that clawai has requested; the server may have chosen another method. If
// clawai has requested "none", and the server names no method but issues a secret, the client uses
// a method that the server supports. A client without a secret uses the method "none".
func registeredIdentity(got *oauthex.ClientRegistrationResponse, asked string, supported []string) identity {
	method := got.TokenEndpointAuthMethod
	if method == "" && asked != methodNone {
		method = asked
	}
	inParams := identity{id: got.ClientID, secret: got.ClientSecret, style: oauth2.AuthStyleInParams}
	switch {
	case got.ClientSecret == "" || method == methodPost:
		return inParams
	case method != "" && method != methodNone:
		return identity{id: got.ClientID, secret: got.ClientSecret, style: oauth2.AuthStyleInHeader}
	}
	style := secretStyle(supported)
	if method == methodNone || style == oauth2.AuthStyleAutoDetect && slices.Contains(supported, methodNone) {
		inParams.secret = "" // the client uses the method "none"
		return inParams
	}
	return identity{id: got.ClientID, secret: got.ClientSecret, style: style}
}

// secretStyle returns the way in which a client sends its secret if the registration does not tell
// it. supported lists the methods that the server supports.
func secretStyle(supported []string) oauth2.AuthStyle {
	switch {
	case slices.Contains(supported, methodPost): // OAuth 2.1 prefers this method
		return oauth2.AuthStyleInParams
	case slices.Contains(supported, methodBasic):
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleAutoDetect
}

// isDocument reports whether an id is the https address of a metadata document.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && strings.Trim(u.Path, "/") != ""
}

// explainRegistration adds advice to the error of a server that does not register clients. If
// metadata described another resource, it gives no advice, because then the address of the server
// may be wrong.
func (d *discovery) explainRegistration(err error, t terms) error {
	if !d.astray {
		t.id = "ID"
		return &shownError{fmt.Sprintf("failed to register client: %v; register a client at the provider, then: %s",
			sanitizeError(err), t.loginCommand(ServerKey(d.server))), err}
	}
	return fmt.Errorf("failed to register client: %w", sanitizeError(err))
}
