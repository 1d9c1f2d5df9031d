package reply

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

// linked says that a member is an address that clients follow for their users: of a link to
// a resource, of one that is embedded, of an icon. What resources are called by in lists of
// them, and where they are read, is the server's own.
func linked(path []string, name string) bool {
	switch name {
	case "src":
		return len(path) > 2 && path[len(path)-3] == "icons"
	case "uri":
		return len(path) > 1 && (path[0] == "content" || path[0] == "messages")
	}
	return false
}

// public holds for addresses that the whole internet can reach.
var public = web.Public(true)

// What an address leads to that nobody who follows it may expect.
const (
	toInside    = "an address that leads to the reader's own machine or network"
	toElsewhere = "an address of another origin than the server's"
	toIcon      = "an icon that is not at an https address"
)

// leads says what is wrong with where an address leads; "" is nothing. The server has the
// origin, which is "" of one without an address.
func leads(address string, icon bool, origin string) string {
	scheme, _, found := strings.Cut(address, ":")
	scheme = strings.ToLower(strings.TrimLeft(scheme, " \t\r\n"))
	switch {
	case inward(address, scheme, found):
		return toInside
	case origin == "" || icon && found && scheme == "data":
		return ""
	case icon && (!found || scheme != "https"):
		return toIcon
	case found && isWeb(scheme) && web.Origin(address) != origin:
		return toElsewhere
	}
	return ""
}

// isWeb says that an address with this scheme has an origin; other schemes are names that a
// server gives.
func isWeb(scheme string) bool {
	return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" || scheme == "ftp"
}

// inward says that an address leads into the machine or the network of whoever follows
// it, or may: a file, a script, a host that is not surely a public one.
func inward(address, scheme string, found bool) bool {
	switch {
	case !found:
		return strings.HasPrefix(address, `//`) || strings.HasPrefix(address, `\\`)
	case isWeb(scheme):
		return public.Holds(where.Value{Kind: where.String, Text: address}, true) != where.Yes
	}
	return scheme == "file" || scheme == "javascript" || scheme == "vbscript" || scheme == "view-source" || scheme == "smb"
}
