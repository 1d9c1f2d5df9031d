package reply

import (
	"cmp"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

// isLink says that a member is an address that clients follow for their users: of a link to
// a resource, of one that is embedded, of an icon. What resources are called by in lists of
// them, and where they are read, is the server's own.
func isLink(path []string, name string) bool {
	switch name {
	case "src":
		return len(path) > 2 && path[len(path)-3] == "icons"
	case "uri":
		return len(path) > 1 && (path[0] == "content" || path[0] == "messages")
	}
	return false
}

// public holds for addresses that the whole internet can reach.
var public = web.NewPublic(true)

// What an address leads to that nobody who follows it may expect.
const (
	toInside    = "an address that leads to the reader's own machine or network"
	toElsewhere = "an address of another origin than the server's"
	toIcon      = "an icon that is not at an https address"
)

// checkAddress says what is wrong with where an address leads; "" is nothing. The server is at a URL,
// or has none.
func checkAddress(address string, icon bool, server string) string {
	read := strings.Map(func(r rune) rune { // as browsers do, which drop what cannot be seen (WHATWG URL, 4.4)
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
	case found && isWeb(scheme) && web.OriginOf(address) != cmp.Or(web.OriginOf(server), server): // of a server that cannot be compared, nothing has the origin
		return toElsewhere
	}
	return ""
}

// isWeb says that an address with this scheme has an origin; other schemes are names that a
// server gives.
func isWeb(scheme string) bool {
	return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" || scheme == "ftp"
}

// ofNoScheme says that an address names a host, and its scheme is its reader's to choose.
func ofNoScheme(address string) bool {
	return len(address) > 1 && strings.Trim(address[:2], `/\`) == ""
}

// isInward says that an address leads into the machine or the network of whoever follows
// it, or may: a file, a script, a host that is not surely a public one.
func isInward(address, scheme string) bool {
	if isWeb(scheme) {
		return public.JudgeValue(where.Value{Kind: where.String, Text: address}, true) != where.Yes
	}
	return scheme == "file" || scheme == "javascript" || scheme == "vbscript" || scheme == "view-source" || scheme == "smb"
}
