package servers

import (
	"net/url"
	"strings"
)

// parseRemote parses the address of a remote server. It accepts only https and the default port,
// and no user.
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

// matchesAddress reports whether an address equals an address of the catalogue, or is below it.
func matchesAddress(name, known string) bool {
	return name == known || strings.HasPrefix(name, known+"/")
}
