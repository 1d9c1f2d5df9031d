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

// inward says that an address leads into the machine or the network of whoever follows
// it, or may: a file, a script, a host that is not surely a public one. Other schemes are
// names that a server gives.
func inward(address string) bool {
	scheme, _, found := strings.Cut(address, ":")
	switch scheme = strings.ToLower(strings.TrimLeft(scheme, " \t\r\n")); {
	case !found:
		return strings.HasPrefix(address, `//`) || strings.HasPrefix(address, `\\`)
	case scheme == "http", scheme == "https", scheme == "ws", scheme == "wss", scheme == "ftp":
		return public.Holds(where.Value{Kind: where.String, Text: address}, true) != where.Yes
	}
	return scheme == "file" || scheme == "javascript" || scheme == "vbscript" || scheme == "view-source" || scheme == "smb"
}
