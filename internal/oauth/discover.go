package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// resource is what a token is asked for, and who gives it.
type resource struct {
	id     string // RFC 8707: the request for a token names it
	server string // issuer of the authorization server
	scopes []string
}

// discovery looks for metadata. dropped are the documents that were not followed, and why:
// they explain a sign-in that fails later.
type discovery struct {
	http    *http.Client
	server  *url.URL
	dropped []error
}

// explain adds to err what was not followed.
func (d *discovery) explain(err error) error {
	if err == nil || len(d.dropped) == 0 {
		return err
	}
	return fmt.Errorf("%w (not followed: %w)", err, errors.Join(d.dropped...))
}

// findResource reads the metadata of the server (RFC 9728), at the address that its challenge
// names, at the one of its path and at the one of its origin. ok is false when there is none
// that speaks of this server: then the server's own origin is asked, as MCP 2025-03-26 has it.
func (d *discovery) findResource(ctx context.Context, challenges []oauthex.Challenge) (found resource, ok bool, err error) {
	for _, at := range resourceAddresses(challenges, d.server) {
		var doc oauthex.ProtectedResourceMetadata
		if d.read(ctx, at, &doc) != nil {
			continue // most servers have it at one of the addresses only
		}
		if err := matchResource(doc.Resource, d.server); err != nil {
			d.dropped = append(d.dropped, err)
			continue
		}
		if len(doc.AuthorizationServers) == 0 {
			return resource{}, false, errors.New("the server's metadata names no authorization server")
		}
		server := doc.AuthorizationServers[0]
		if err := checkEndpoint(server); err != nil {
			return resource{}, false, fmt.Errorf("authorization server: %w", err)
		}
		return resource{doc.Resource, server, doc.ScopesSupported}, true, nil
	}
	root := url.URL{Scheme: d.server.Scheme, Host: d.server.Host}
	return resource{id: d.server.String(), server: root.String()}, false, nil
}

// resourceAddresses are where the metadata of server may be.
func resourceAddresses(challenges []oauthex.Challenge, server *url.URL) (all []string) {
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			all = append(all, at)
			break
		}
	}
	path := strings.TrimLeft(server.EscapedPath(), "/")
	for _, path := range []string{path, strings.TrimRight(path, "/"), ""} {
		at := url.URL{Scheme: server.Scheme, Host: server.Host, RawQuery: server.RawQuery}
		text := at.Scheme + "://" + at.Host + "/.well-known/oauth-protected-resource"
		if path != "" {
			text += "/" + path
		}
		if at.RawQuery != "" {
			text += "?" + at.RawQuery
		}
		if len(all) == 0 || all[len(all)-1] != text {
			all = append(all, text)
		}
	}
	return all
}

// matchResource compares the resource that metadata speaks of with the server. A token for
// it goes to the server: it must be of the server's origin, and be the server's path or a
// folder above it (RFC 9728 section 3.3; MCP clients take folders). A slash at the end makes
// no difference.
func matchResource(id string, server *url.URL) error {
	u, err := url.Parse(id)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" && u.RawQuery != server.RawQuery:
		return fmt.Errorf("the metadata speaks of a resource that is no address (%.200q)", id)
	case originOf(u) != originOf(server):
		return fmt.Errorf("the metadata speaks of a resource at another origin (%.200q)", id)
	}
	folder, path := strings.TrimRight(u.EscapedPath(), "/")+"/", strings.TrimRight(server.EscapedPath(), "/")+"/"
	if !strings.HasPrefix(path, folder) {
		return fmt.Errorf("the metadata speaks of another resource of the server's origin (%.200q)", id)
	}
	return nil
}

// originOf is the origin of an address, by which servers are known.
func originOf(u *url.URL) string { return Key(&url.URL{Scheme: u.Scheme, Host: u.Host}) }

// findIssuer reads the metadata of an authorization server (RFC 8414, OpenID Connect
// Discovery). Without any, the addresses are those of MCP 2025-03-26.
func (d *discovery) findIssuer(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	var failed error
	for _, at := range issuerAddresses(issuer) {
		meta, err := oauthex.GetAuthServerMeta(ctx, at, issuer, d.http)
		if err == nil && meta != nil {
			return meta, nil
		}
		if failed == nil {
			failed = err
		}
	}
	if failed != nil {
		return nil, fmt.Errorf("failed to get authorization server metadata: %w", failed)
	}
	base := strings.TrimRight(issuer, "/")
	return &oauthex.AuthServerMeta{
		Issuer: issuer, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token", RegistrationEndpoint: base + "/register",
	}, nil
}

// issuerAddresses are where the metadata of an authorization server may be. A slash at the
// end of its issuer is taken off first (RFC 8414 section 3.1), which the SDK does not do.
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

// read reads one document of metadata.
func (d *discovery) read(ctx context.Context, at string, into any) error {
	if err := checkEndpoint(at); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := d.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	const most = 1 << 20
	what, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || what != "application/json" {
		return fmt.Errorf("%s: HTTP %d, %.60q", at, resp.StatusCode, what)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s holds no metadata", at)
	}
	return nil
}

// checkEndpoint says why nothing is asked at an address that metadata names.
func checkEndpoint(at string) error {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return fmt.Errorf("%.200q is no address", at)
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%.200q is not https", at)
}
