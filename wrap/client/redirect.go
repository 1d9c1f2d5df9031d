package client

import (
	"encoding/base64"
	"net"
	"net/url"
	"slices"
	"strings"
)

// The other form of a remote entry behind clawai: its client goes on speaking
// HTTP, to a proxy of the owner's on this machine (clawai proxy --listen), and
// nothing of the entry changes but the url. What the url was stands in the
// query of the new one, so that the edit can be taken back without any other
// file; the proxy does not look at the query.

const (
	forQuery = "clawai-for" // the address itself
	asQuery  = "clawai-as"  // its token in the file, base64, where that is not the plain one
)

// redirectURL is what the url of such an entry says.
type redirectURL struct {
	proxyURL string // the url without its query
	server   string // the last part of its path
	original string // the address
	token    string // as the file wrote it
}

// readRedirection recognises the form by its shape alone.
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

// visibleHost gives the part of the proxy's url that may be shown.
func (r *redirectURL) visibleHost() string {
	scheme, rest, _ := strings.Cut(r.proxyURL, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// renderURL gives the url that readRedirection reads.
func (r *redirectURL) renderURL() string {
	text := r.proxyURL + "?" + forQuery + "=" + url.QueryEscape(r.original)
	if r.token != quoteText(r.original) {
		text += "&" + asQuery + "=" + base64.RawURLEncoding.EncodeToString([]byte(r.token))
	}
	return text
}

// findDifferences says what keeps a url from being the one that Redirect writes.
func (r *redirectURL) findDifferences(text, server string) (all []string) {
	if r.server != server {
		all = append(all, "the url names another server")
	}
	if r.renderURL() != text {
		all = append(all, "the url is written in another way than wrap writes it")
	}
	return all
}

// RedirectEntry puts proxyURL, the address of a server at clawai's own proxy, in the
// place of a remote entry's url. Headers and everything else stay with the
// client. An entry that leads there already is given back as it is, one that led
// to another proxy is brought up to this one.
//
// As Wrap does, it takes its own result back before it answers. On an error, an
// *EditError, no bytes are given.
func RedirectEntry(r Row, src []byte, e Entry, proxyURL string) ([]byte, error) {
	f, err := openFile(r, src)
	if err != nil {
		return nil, err
	}
	s, sh, err := f.findSlot(e)
	if err != nil {
		return nil, err
	}
	if sh.kind != Remote || sh.remote.original != nil {
		return nil, newEditError(src, s.at, "take the wrapper out first: clawai unwrap "+quoteText(s.name), "the entry of %q is no url that can lead elsewhere", s.name)
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

// PlainName reports a name that can stand in an address; proxy/remote/reverse has
// the same rule.
func PlainName(name string) bool {
	return strings.Trim(name, ".") != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

// originalURL gives the url its own bytes again.
func (f *file) originalURL(sh shape) []byte {
	v := sh.remote.url.value
	return spliceEdits(f.src, []edit{{v.start, v.end, sh.remote.redirected.token}})
}
