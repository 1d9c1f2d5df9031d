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

// resource is what a token is asked for, and who gives it.
type resource struct {
	id     string // RFC 8707: the request for a token names it
	server string // issuer of the authorization server
	scopes []string
}

// discovery looks for metadata. dropped are the documents that were not followed, and why:
// they explain a sign-in that fails later; astray says that one was of another resource.
type discovery struct {
	http    *http.Client
	server  *url.URL
	dropped []string
	astray  bool
}

// drop notes once why a document was not followed.
func (d *discovery) drop(reason error) {
	if text := reason.Error(); !slices.Contains(d.dropped, text) {
		d.dropped = append(d.dropped, text)
	}
}

// explainError adds to err what was not followed.
func (d *discovery) explainError(err error) error {
	if err == nil || len(d.dropped) == 0 {
		return err
	}
	return fmt.Errorf("%w (not followed: %s)", err, strings.Join(d.dropped, "; "))
}

// findResource reads the metadata of the server (RFC 9728), at the address that its challenge
// names, at the one of its path and at the one of its origin. ok is false when there is none
// that speaks of this server: then the server's own origin is asked, as MCP 2025-03-26 has it.
func (d *discovery) findResource(ctx context.Context, challenges []oauthex.Challenge) (found resource, ok bool, err error) {
	root := url.URL{Scheme: d.server.Scheme, Host: d.server.Host}
	for _, at := range resourceAddresses(challenges, d.server) {
		var doc oauthex.ProtectedResourceMetadata
		if err := d.readMetadata(ctx, at, &doc); err != nil {
			if !errors.Is(err, errAbsent) { // most servers have it at one of the addresses only
				d.drop(err)
			}
			continue
		}
		if err := matchResource(doc.Resource, d.server); err != nil {
			d.drop(err)
			d.astray = true
			continue
		}
		server := root.String()
		if len(doc.AuthorizationServers) > 0 {
			server = doc.AuthorizationServers[0]
		}
		if err := checkEndpoint(server); err != nil {
			return resource{}, false, fmt.Errorf("authorization server: %w", err)
		}
		return resource{doc.Resource, server, doc.ScopesSupported}, true, nil
	}
	return resource{id: d.server.String(), server: root.String()}, false, nil
}

// resourceAddresses gives where the metadata of server may be.
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

// metadataAddress gives where a challenge says that the metadata is.
func metadataAddress(challenges []oauthex.Challenge) string {
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			return at
		}
	}
	return ""
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

// originOf gives the origin of an address, by which servers are known.
func originOf(u *url.URL) string { return ServerKey(&url.URL{Scheme: u.Scheme, Host: u.Host}) }

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

// issuerAddresses gives where the metadata of an authorization server may be. A slash at the
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

// errAbsent is a document that is not where it may be.
var errAbsent = errors.New("there is no metadata")

// readMetadata reads one document of metadata; its error names the address without what it asks, which may
// hold the owner's secrets.
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

// checkEndpoint says why nothing is asked at an address that metadata names.
func checkEndpoint(at string) error {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return fmt.Errorf("%.200q is no address", at)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%.200q is not https", at)
}
