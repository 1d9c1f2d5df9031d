package servers

import (
	"net/url"
	"strings"
)

// parseRemote parses an address: https, default port, no user.
func parseRemote(text string) (identity, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.Port() != "" && u.Port() != "443" {
		return identity{}, false
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == ".." || part == "." {
			return identity{}, false
		}
	}
	return identity{address, strings.ToLower(u.Hostname()) + strings.TrimRight(u.Path, "/")}, true
}

// matchesAddress reports whether an address equals one in the catalogue, or lies below it.
func matchesAddress(to, known string) bool {
	return to == known || strings.HasPrefix(to, known+"/")
}
