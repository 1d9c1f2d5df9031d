//go:build attack

package url_test

import (
	"net/netip"
	"net/url"
	"path"
	"strings"
)

// promise is a policy, and what it says of every call that it allows: that no program
// goes elsewhere.
type promise struct {
	name, policy string
	keeps        func(p place) bool
	schemed      bool // of URLs with a scheme: what a program puts in front of others no glob can know
}

func rule(action, conditions string) string {
	return "[[rule]]\naction = \"" + action + "\"\ntool = \"fetch\"\n" + conditions + "\n"
}

var promises = []promise{
	{"glob on a domain", rule("allow", `args.url = "https://*.example.com/**"`), func(p place) bool {
		return p.at("https", "443") && strings.HasSuffix(p.host, ".example.com")
	}, false},
	{"glob on a host", rule("allow", `args.url = ["https://api.example.com/**", "http://api.example.com:8443/**"]`), func(p place) bool {
		return p.host == "api.example.com" && (p.at("https", "443") || p.at("http", "8443") && p.port != "")
	}, false},
	{"glob on a path", rule("allow", `args.url = "https://api.example.com/v1/**"`), func(p place) bool {
		return p.at("https", "443") && p.host == "api.example.com" && p.surelyUnder("/v1")
	}, false},
	{"glob in another case", rule("allow", `args.url = "HTTPS://API.Example.com:443/**"`), func(p place) bool {
		return p.at("https", "443") && p.host == "api.example.com"
	}, false},
	{"host", rule("allow", `where.url.host = ["*.example.com", "example.com"]`), func(p place) bool {
		return p.host == "example.com" || strings.HasSuffix(p.host, ".example.com")
	}, false},
	{"host and scheme", rule("allow", `where.url = { scheme = ["https"], host = ["*.example.com"] }`), func(p place) bool {
		return p.scheme == "https" && strings.HasSuffix(p.host, ".example.com")
	}, false},
	{"public", rule("allow", `where.url = { scheme = ["http", "https"], public = true }`), func(p place) bool {
		return p.public() && (p.scheme == "http" || p.scheme == "https")
	}, false},
	{"deny by a glob", rule("deny", `args.url = ["https://evil.example/**", "http://127.0.0.1/**"]`) + rule("allow", `args.url = "**"`), func(p place) bool {
		return !p.connects() || !(p.scheme == "https" && p.host == "evil.example" || p.scheme == "http" && p.host == "127.0.0.1")
	}, true},
	{"deny by a path", rule("deny", `args.url = "https://api.example.com/admin/**"`) + rule("allow", `args.url = "https://api.example.com/**"`), func(p place) bool {
		return p.at("https", "443") && p.host == "api.example.com" && !p.perhapsUnder("/admin")
	}, false},
	{"deny by host", rule("deny", `where.url.host = ["evil.example", "127.0.0.1"]`) + rule("allow", ""), func(p place) bool {
		return !p.connects() || p.host != "evil.example" && p.host != "127.0.0.1"
	}, false},
	{"deny what is not public", rule("deny", `where.url.public = false`) + rule("allow", ""), func(p place) bool {
		return !p.connects() || p.host == "" || p.public()
	}, false},
}

// planted says more than its policy holds: what a regex matches is no host.
var planted = promise{"planted", rule("allow", `where.url.regex = 'https?://[^/]*\.example\.com/.*'`), promises[4].keeps, false}

// connects says whether programs connect to the host of a URL with this scheme: those
// of curl and of the libraries for databases, queues and repositories.
func (p place) connects() bool {
	switch p.scheme {
	case "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "scp", "ssh", "smb", "smtp", "smtps", "imap", "pop3", "gopher", "dict", "telnet",
		"tftp", "ldap", "mqtt", "rtsp", "rtmp", "git", "redis", "postgres", "mysql", "mongodb", "amqp":
		return true
	}
	return false
}

// at says whether a program uses a scheme at a port, which may be left out.
func (p place) at(scheme, port string) bool {
	return p.scheme == scheme && (p.port == "" || p.port == port)
}

// under says whether a path leads below a folder, for servers that resolve it as it
// is, or decoded once.
func (p place) under(folder string) (as, decoded bool) {
	below := func(text string) bool {
		text = "/" + strings.ReplaceAll(text, `\`, "/")
		clean := path.Clean(text)
		if strings.HasSuffix(text, "/") && clean != "/" {
			clean += "/"
		}
		return strings.HasPrefix(clean, folder+"/")
	}
	text, err := url.PathUnescape(p.path)
	if err != nil {
		text = p.path
	}
	return below(p.path), below(text)
}

func (p place) surelyUnder(folder string) bool  { a, b := p.under(folder); return a && b }
func (p place) perhapsUnder(folder string) bool { a, b := p.under(folder); return a || b }

// public says that a host is no address of a network of one's own, nor a name for one.
func (p place) public() bool {
	if a, err := netip.ParseAddr(p.host); err == nil {
		return a.IsGlobalUnicast() && !a.IsPrivate()
	}
	return p.host != "localhost" && p.host != "" && p.host != "evil.example"
}
