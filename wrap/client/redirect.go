package client

import (
	"encoding/base64"
	"net"
	"net/url"
	"slices"
	"strings"
)

// A redirect is the second way to wrap a remote entry; the first is the bridge. Only the url of the
// entry changes, and the client connects over HTTP to the owner's proxy on this machine (clawai
// proxy --listen). The query of the new url contains the old url, so that the edit can be undone
// without another file. The proxy ignores the query.

const (
	forQuery = "clawai-for" // the original address
	asQuery  = "clawai-as"  // the token of the original address, in base64; only if quoteText would give another token
)

// redirectURL holds the parts of the url of a redirected entry.
type redirectURL struct {
	proxyURL string // the url without its query
	server   string // the last part of the url's path
	original string // the original address
	token    string // the original address in the notation of the file
}

// readRedirection splits the url of a redirected entry. It returns nil for another url.
func readRedirection(text string) *redirectURL {
	proxyURL, query, found := strings.Cut(text, "?")
	if !found || !strings.HasPrefix(query, forQuery+"=") {
		return nil
	}
	u, err := url.Parse(proxyURL)
	values, err2 := url.ParseQuery(query)
	if err != nil || err2 != nil || !isLoopback(u.Hostname()) || len(values[forQuery]) != 1 {
		return nil
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) < 3 || parts[1] != "mcp" {
		return nil
	}
	r := &redirectURL{proxyURL: proxyURL, server: parts[len(parts)-1], original: values.Get(forQuery)}
	r.token = quoteText(r.original)
	if as := values.Get(asQuery); as != "" {
		raw, err := base64.RawURLEncoding.DecodeString(as)
		if err != nil {
			return nil
		}
		r.token = string(raw)
	}
	return r
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// visibleHost returns the part of the proxy's url that may be shown.
func (r *redirectURL) visibleHost() string {
	scheme, rest, _ := strings.Cut(r.proxyURL, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// renderURL returns the complete url. readRedirection splits it again.
func (r *redirectURL) renderURL() string {
	text := r.proxyURL + "?" + forQuery + "=" + url.QueryEscape(r.original)
	if r.token != quoteText(r.original) {
		text += "&" + asQuery + "=" + base64.RawURLEncoding.EncodeToString([]byte(r.token))
	}
	return text
}

// findDifferences returns how a url differs from the url that RedirectEntry writes.
func (r *redirectURL) findDifferences(text, server string) (all []string) {
	if r.server != server {
		all = append(all, "the url names another server")
	}
	if r.renderURL() != text {
		all = append(all, "the url is written in another way than wrap writes it")
	}
	return all
}

// RedirectEntry replaces the url of a remote entry by proxyURL, the address of the server at
// clawai's own proxy. Everything else stays, also the headers. If the entry already has this url,
// the file stays unchanged. If the entry has another address of the proxy, RedirectEntry replaces
// it.
//
// RedirectEntry checks that its result can be undone. After an error, which is an *EditError, it
// returns no bytes.
func RedirectEntry(r Row, src []byte, e Entry, proxyURL string) ([]byte, error) {
	f, s, sh, err := openSlot(r, src, e)
	if err != nil {
		return nil, err
	}
	if sh.kind != Remote || sh.remote.original != nil {
		return nil, newEditError(src, s.at, "take the wrapper out first: clawai unwrap "+quoteText(s.name), "the entry of %q is not a url that can lead elsewhere", s.name)
	}
	address := sh.remote.url.value
	if r.fillsText(address.text) {
		return nil, newEditError(src, address.start, "use --remote=bridge, or write the url out",
			"the url of %q holds a variable, and clawai's proxy would not know its value", s.name)
	}
	now := &redirectURL{proxyURL: proxyURL, original: address.text, token: f.rawText(address)}
	if old := sh.remote.redirected; old != nil {
		now.original, now.token = old.original, old.token
	}
	text := now.renderURL()
	if text == address.text {
		return slices.Clone(src), nil
	}
	after := spliceEdits(src, []edit{{address.start, address.end, quoteText(text)}})
	if err := f.proveEdit(s, after, proof{remote: true, undo: sh.remote.redirected == nil}); err != nil {
		return nil, err
	}
	return after, nil
}

// PlainName reports whether a name can be a part of an address. Package proxy/remote/reverse has
// the same rule.
func PlainName(name string) bool {
	return strings.Trim(name, ".") != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

// originalURL returns the text of the file with the original url of the entry, written exactly as
// before.
func (f *file) originalURL(sh shape) []byte {
	v := sh.remote.url.value
	return spliceEdits(f.src, []edit{{v.start, v.end, sh.remote.redirected.token}})
}
