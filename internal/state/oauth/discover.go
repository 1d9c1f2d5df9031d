package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// resource is the resource for which a token is requested, with its authorization servers.
type resource struct {
	id      string   // the member "resource" of the token request (RFC 8707)
	servers []string // issuers of the authorization servers; at least one
	scopes  []string // the scopes that the metadata lists
}

// issuer is the metadata of an authorization server.
type issuer struct {
	oauthex.AuthServerMeta
	DeviceEndpoint string `json:"device_authorization_endpoint"` // "" if the server offers no device codes
}

// discovery finds and reads metadata.
type discovery struct {
	http    *http.Client
	server  *url.URL // the MCP server
	dropped []string // the reasons why documents were not used, each once; they explain a sign-in that fails later
	astray  bool     // some document described another resource than this server
}

// drop notes the reason why a document was not used.
func (d *discovery) drop(reason error) {
	if text := reason.Error(); !slices.Contains(d.dropped, text) {
		d.dropped = append(d.dropped, text)
	}
}

// explainError adds the reasons in dropped to err.
func (d *discovery) explainError(err error) error {
	if err == nil || len(d.dropped) == 0 {
		return err
	}
	return fmt.Errorf("%w (not followed: %s)", err, strings.Join(d.dropped, "; "))
}

// findResource reads the server's metadata (RFC 9728) at three kinds of addresses: the address in
// the server's challenge, the address for its path, and the address for its origin. If no document
// describes this server, ok is false, and the server's own origin is the authorization server, as
// in MCP 2025-03-26. The resource then has no query, because a query may hold a key, and other
// programs see the page's address.
func (d *discovery) findResource(ctx context.Context, challenges []oauthex.Challenge) (found resource, ok bool, err error) {
	root := url.URL{Scheme: d.server.Scheme, Host: d.server.Host}
	for _, at := range resourceAddresses(challenges, d.server) {
		var doc oauthex.ProtectedResourceMetadata
		if err := d.readMetadata(ctx, at, &doc); err != nil {
			if !errors.Is(err, errAbsent) { // a missing document is normal, because most servers have metadata at only one of the addresses
				d.drop(err)
			}
			continue
		}
		if err := matchResource(doc.Resource, d.server); err != nil {
			d.drop(err)
			d.astray = true
			continue
		}
		servers, err := checkServers(doc.AuthorizationServers)
		if err != nil {
			return resource{}, false, err
		}
		if len(servers) == 0 {
			servers = []string{root.String()}
		}
		return resource{doc.Resource, servers, doc.ScopesSupported}, true, nil
	}
	return resource{id: ServerKey(d.server), servers: []string{root.String()}}, false, nil
}

// checkServers returns the authorization servers to which requests may be sent. If there is no such
// server, it returns the error for the first of the named servers.
func checkServers(named []string) (servers []string, err error) {
	const most = 5 // limits the requests that a server's metadata can cause
	for _, server := range named[:min(len(named), most)] {
		failed := checkEndpoint(server)
		if failed == nil {
			servers = append(servers, server)
		} else if err == nil {
			err = fmt.Errorf("authorization server: %w", failed)
		}
	}
	if len(servers) > 0 {
		return servers, nil
	}
	return nil, err
}

// resourceAddresses returns the addresses at which the metadata of server may be.
func resourceAddresses(challenges []oauthex.Challenge, server *url.URL) (all []string) {
	if at := metadataAddress(challenges); at != "" {
		all = append(all, at)
	}
	path := strings.TrimLeft(server.EscapedPath(), "/")
	for _, path := range slices.Compact([]string{path, strings.TrimRight(path, "/"), ""}) {
		at := url.URL{Scheme: server.Scheme, Host: server.Host, RawQuery: server.RawQuery}
		text := at.Scheme + "://" + at.Host + "/.well-known/oauth-protected-resource"
		if path != "" {
			text += "/" + path
		}
		if at.RawQuery != "" {
			text += "?" + at.RawQuery
		}
		all = append(all, text)
	}
	return all
}

// metadataAddress returns the first metadata address in the challenges; "" if they have none.
func metadataAddress(challenges []oauthex.Challenge) string {
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			return at
		}
	}
	return ""
}

// matchResource returns an error if the metadata describes another resource than the server. The
// token for the resource will be sent to the server. So the resource must have the server's origin,
// and its path must be the server's path or a folder above that path (RFC 9728 section 3.3; MCP
// clients accept folders). A slash at the end makes no difference.
func matchResource(id string, server *url.URL) error {
	u, err := url.Parse(id)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" && u.RawQuery != server.RawQuery:
		return fmt.Errorf("the metadata speaks of a resource that is not an address (%.200q)", id)
	case originOf(u) != originOf(server):
		return fmt.Errorf("the metadata speaks of a resource at another origin (%.200q)", id)
	}
	folder, path := strings.TrimRight(u.EscapedPath(), "/")+"/", strings.TrimRight(server.EscapedPath(), "/")+"/"
	if !strings.HasPrefix(path, folder) {
		return fmt.Errorf("the metadata speaks of another resource of the server's origin (%.200q)", id)
	}
	return nil
}

// originOf returns the origin of an address in a form that can be compared.
func originOf(u *url.URL) string { return ServerKey(&url.URL{Scheme: u.Scheme, Host: u.Host}) }

// findIssuer reads the metadata of an authorization server (RFC 8414, OpenID Connect Discovery). If
// there is no metadata, the error is errAbsent.
func (d *discovery) findIssuer(ctx context.Context, server string, t terms) (*issuer, error) {
	failed := errAbsent
	for _, at := range issuerAddresses(server) {
		var meta issuer
		err := d.readMetadata(ctx, at, &meta)
		if err == nil {
			err = meta.check(server, t)
		}
		if err == nil {
			return &meta, nil
		}
		if errors.Is(failed, errAbsent) {
			failed = err
		}
	}
	if errors.Is(failed, errAbsent) {
		return nil, errAbsent
	}
	return nil, fmt.Errorf("failed to get authorization server metadata: %w", failed)
}

// check returns an error for metadata that clawai must not use.
func (m *issuer) check(server string, t terms) error {
	if strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(server, "/") {
		return fmt.Errorf("metadata issuer %.200q does not match issuer URL %.200q", m.Issuer, server)
	}
	for _, at := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint, m.DeviceEndpoint} {
		if at == "" {
			continue
		}
		if err := checkEndpoint(at); err != nil {
			return err
		}
	}
	// Entra supports PKCE, but does not list it. An owner who has registered a client there knows
	// the provider, and the request has a challenge in any case.
	if t.Grant == GrantCode && len(m.CodeChallengeMethodsSupported) == 0 && (m.CodeChallengeMethodsSupported != nil || t.id == "") {
		return fmt.Errorf("authorization server at %.200s does not implement PKCE", server)
	}
	return nil
}

// defaultIssuer returns the addresses of an authorization server without metadata (MCP 2025-03-26).
func defaultIssuer(server string) *issuer {
	base := strings.TrimRight(server, "/")
	return &issuer{AuthServerMeta: oauthex.AuthServerMeta{
		Issuer: server, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token", RegistrationEndpoint: base + "/register",
	}}
}

// issuerAddresses returns the addresses at which the metadata of an authorization server may be. It
// first removes a slash at the end of the issuer (RFC 8414 section 3.1), because the SDK does not.
func issuerAddresses(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	origin := u.Scheme + "://" + u.Host
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	if path == "" {
		return []string{origin + oauth, origin + openid}
	}
	return []string{origin + oauth + path, origin + openid + path, origin + path + openid}
}

// errAbsent means that there is no document at an address.
var errAbsent = errors.New("there is no metadata")

// readMetadata reads one metadata document. Its error contains the address without the query,
// because the query may contain the owner's secrets.
func (d *discovery) readMetadata(ctx context.Context, at string, into any) error {
	if err := checkEndpoint(at); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := d.http.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%.200q: %w", trimQuery(at), failed.Err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode >= 400 && !isTransient(resp.StatusCode):
		return errAbsent
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%.200q answers HTTP %d", trimQuery(at), resp.StatusCode)
	}
	const most = 1 << 20
	data, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%.200q holds no metadata", trimQuery(at))
	}
	return nil
}

// checkEndpoint returns an error for an address in metadata if clawai must not send requests to it.
func checkEndpoint(at string) error {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return fmt.Errorf("%.200q is not an address", at)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%.200q is not https", at)
}
