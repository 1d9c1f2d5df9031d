package reply

import (
	"cmp"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

// isLink reports whether a member is an address that clients follow for their users: of a
// resource link, of an embedded resource, of an icon. The URIs that identify resources in lists
// and in read results belong to the server.
func isLink(path []string, name string) bool {
	switch name {
	case "src":
		return len(path) > 2 && path[len(path)-3] == "icons"
	case "uri":
		return len(path) > 1 && (path[0] == "content" || path[0] == "messages")
	}
	return false
}

// public judges whether the whole internet can reach an address.
var public = web.NewPublic(true)

// Reasons why following an address is unexpected.
const (
	toInside    = "an address that leads to the reader's own machine or network"
	toElsewhere = "an address of another origin than the server's"
	toIcon      = "an icon that is not at an https address"
)

// checkAddress returns the problem with an address; "" for none. server is the server's URL, or
// "".
func checkAddress(address string, icon bool, server string) string {
	read := strings.Map(func(r rune) rune { // browsers drop invisible characters too (WHATWG URL, 4.4)
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
	case found && isWeb(scheme) && web.OriginOf(address) != cmp.Or(web.OriginOf(server), server): // if the server's URL has no origin, no address is of the same origin
		return toElsewhere
	}
	return ""
}

// isWeb reports whether an address with this scheme has an origin; other schemes are names that a
// server chooses.
func isWeb(scheme string) bool {
	return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" || scheme == "ftp"
}

// ofNoScheme reports whether an address names a host and leaves the scheme to its reader.
func ofNoScheme(address string) bool {
	return len(address) > 1 && strings.Trim(address[:2], `/\`) == ""
}

// isInward reports whether an address leads, or may lead, into the machine or network of its
// reader: a file, a script, a host that is not certainly public.
func isInward(address, scheme string) bool {
	if isWeb(scheme) {
		return public.JudgeValue(where.Value{Kind: where.String, Text: address}, true) != where.Yes
	}
	return scheme == "file" || scheme == "javascript" || scheme == "vbscript" || scheme == "view-source" || scheme == "smb"
}
