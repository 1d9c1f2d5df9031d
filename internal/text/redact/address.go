package redact

import "strings"

// Hidden stands in place of a text that people must not see.
const Hidden = "•••"

// MaskAddress returns an address without its user, query and fragment, because they may be secrets. It
// also reads addresses that net/url cannot parse: an error of net/url may contain a part of a password.
func MaskAddress(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if scheme += "://"; !found || strings.ContainsAny(scheme, "@?#") {
		scheme, rest = "", text
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = Hidden + rest[at:]
	}
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at+1] + Hidden
	}
	return scheme + rest
}
