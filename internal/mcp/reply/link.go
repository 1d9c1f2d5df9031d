package reply

import (
	"cmp"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

// isLink reports whether a member is an address that clients open for their users: the address of a
// resource link, of an embedded resource, or of an icon. A URI that identifies a resource in a list
// or in a read result is not such an address, because only the server uses it.
func isLink(path []string, name string) bool {
	switch name {
	case "src":
		return len(path) > 2 && path[len(path)-3] == "icons"
	case "uri":
		return len(path) > 1 && (path[0] == "content" || path[0] == "messages")
	}
	return false
}

// public tells whether an address is reachable from the whole internet.
var public = web.NewPublic(true)

// Reasons why a client should not follow an address.
const (
	toInside    = "an address that leads to the reader's own machine or network"
	toElsewhere = "an address of another origin than the server's"
	toIcon      = "an icon that is not at an https address"
)

// checkAddress returns the reason why a client should not follow an address, or "". server is the
// URL of the server, or "".
func checkAddress(address string, icon bool, server string) string {
	read := strings.Map(func(r rune) rune { // without invisible characters, because browsers drop them too (WHATWG URL, 4.4)
		if textclass.OddInSyntax(r) {
			return -1
		}
		return r
	}, address)
	scheme, _, found := strings.Cut(read, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case ofNoScheme(read) || isInward(address, scheme):
		return toInside
	case server == "" || icon && found && scheme == "data":
		return ""
	case icon && (!found || scheme != "https"):
		return toIcon
	case found && isWeb(scheme) && web.OriginOf(address) != cmp.Or(web.OriginOf(server), server): // if the server's URL has no origin, every address is of another origin
		return toElsewhere
	}
	return ""
}

// isWeb reports whether an address with this scheme has an origin. With any other scheme,
// checkAddress compares no origins.
func isWeb(scheme string) bool {
	return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" || scheme == "ftp"
}

// ofNoScheme reports whether an address names a host but no scheme. The reader then adds a scheme.
func ofNoScheme(address string) bool {
	return len(address) > 1 && strings.Trim(address[:2], `/\`) == ""
}

// isInward reports whether an address leads, or may lead, into the reader's own machine or network.
// Such an address is a file, a script, or a host that is not certainly public.
func isInward(address, scheme string) bool {
	if isWeb(scheme) {
		return public.JudgeValue(where.Value{Kind: where.String, Text: address}, true) != where.Yes
	}
	return scheme == "file" || scheme == "javascript" || scheme == "vbscript" || scheme == "view-source" || scheme == "smb"
}
