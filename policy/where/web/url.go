package web

import (
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/authority"
)

// maxURL is the length, in bytes, of the longest text that is parsed as a URL. Browsers and proxies
// do not use longer URLs.
const maxURL = 1 << 16

// hostKind tells whether a text has a host, and how certain the host is.
type hostKind uint8

const (
	none     hostKind = iota // no URL
	hostless                 // a URL without a host, such as data: or file:///
	plain                    // a URL with the same host for all programs
	foreign                  // a text in the place of the host; with this scheme it may be something else than a host
	doubtful                 // there may be a host, but programs do not agree which host it is
)

// url is a text parsed as a URL.
type url struct {
	hostKind hostKind
	scheme   string // in lower case; "" if programs do not agree on it
	host     host   // set if hostKind is plain or foreign
	guessed  bool   // the text has no scheme; the url is what programs read after they add a scheme
}

// limitVerdict lowers a verdict to Maybe if only some programs read the text as a URL.
func (u url) limitVerdict(v where.Match) where.Match {
	if u.guessed {
		return min(v, where.Maybe)
	}
	return v
}

func parseURL(v where.Value) url {
	text := v.Text
	switch {
	case v.Kind != where.String || text == "":
		return url{}
	case len(text) > maxURL:
		return url{hostKind: doubtful}
	case hasOddRune(text):
		return parseOdd(text)
	}
	n := schemeLen(text)
	if n == 0 {
		return parseBare(text)
	}
	u := url{scheme: strings.ToLower(text[:n])}
	rest := text[n+1:]
	after, slashes := strings.CutPrefix(rest, "//")
	switch {
	case u.scheme == "file":
		u.hostKind = parseFile(rest)
	case slashes && n > 1:
		return u.parseHost(after)
	case isSpecial(u.scheme), authority.ConnectsToHost(u.scheme) && !hasPort(rest):
		u.hostKind = doubtful // http:host, http:/host, http:\\host; ssh:host to older parsers
	case hasPort(rest):
		return parseBare(text)
	case startsWithSlashes(rest), strings.Contains(text, "://"), namesHost(u.scheme, rest):
		return url{hostKind: doubtful} // jar:http://host, c://host, user:password@host
	case n == 1:
		return url{} // C: is a drive
	default:
		u.hostKind = hostless
	}
	if u.hostKind == doubtful && strings.Trim(rest, `/\`) == "" {
		return url{}
	}
	return u
}

// parseHost parses the text after the two slashes of a URL.
func (u url) parseHost(after string) url {
	text, tail := authority.CutAuthority(after)
	switch {
	case text == "" && authority.ConnectsToHost(u.scheme):
		if strings.Trim(after, `/\`) == "" {
			return url{}
		}
		u.hostKind = doubtful // in http:///host some programs find the host "host", and curl also finds it in ssh:///host
		return u
	case text == "":
		u.hostKind = hostless
		return u
	case tail != "" && tail[0] != '/' && strings.ContainsAny(tail, `@\`):
		// Parsers that are older than RFC 3986 do not end the authority at ? or #.
		u.hostKind = doubtful
		return u
	}
	h, doubt := authority.Parse(text)
	if doubt != authority.Sure {
		u.hostKind = doubtful
		return u
	}
	u.hostKind, u.host = plain, newHost(h)
	if !u.guessed && !authority.ConnectsToHost(u.scheme) {
		u.hostKind = foreign
	}
	return u
}

func isSpecial(scheme string) bool {
	_, special := authority.DefaultPort(scheme)
	return special
}

// parseFile parses the text after "file:". Some programs read a host there as another
// machine, others ignore it. curl reads file:@host without a slash as a user and a host.
func parseFile(rest string) hostKind {
	after, slashes := strings.CutPrefix(rest, "//")
	host, _, _ := strings.Cut(after, "/")
	if namesHost("file", rest) && rest[0] != '/' || strings.ContainsRune(rest, '\\') || slashes && (host != "" && host != "localhost" || strings.HasPrefix(after, "//")) {
		return doubtful
	}
	return hostless
}

// parseBare parses a text without a scheme. Many programs put http:// or https:// in
// front of it.
func parseBare(text string) url {
	switch {
	case startsWithSlashes(text), strings.Contains(text, "://"):
		return url{hostKind: doubtful}
	case strings.IndexByte(`/\.~?#`, text[0]) >= 0:
		return url{}
	}
	u := url{guessed: true}.parseHost(text)
	if u.hostKind == hostless {
		return url{}
	}
	return u
}

// startsWithSlashes reports whether a text begins with two slashes of any kind. Such a
// text begins with a host, without a scheme.
func startsWithSlashes(text string) bool {
	return len(text) > 1 && strings.IndexByte(`/\`, text[0]) >= 0 && strings.IndexByte(`/\`, text[1]) >= 0
}

// namesHost reports whether programs that put http:// in front of a text find a host after the
// colon. It returns false if the scheme is one for the address of a person, such as mailto.
func namesHost(scheme, rest string) bool {
	switch scheme {
	case "mailto", "sip", "sips", "xmpp", "acct", "mid", "cid", "im", "news", "data":
		return false
	}
	host, _ := authority.CutAuthority(rest)
	return strings.IndexByte(host, '@') >= 0
}

// hasPort reports whether the text after a colon is a port. Then the text before the
// colon is a host and not a scheme.
func hasPort(rest string) bool {
	digits := strings.TrimLeft(rest, "0123456789")
	return digits != rest && (digits == "" || strings.IndexByte("/?#", digits[0]) >= 0)
}

// hasOddRune reports whether a text has characters at which parsers disagree, because some drop
// them, stop at them or refuse them: blanks, control and format characters, invalid UTF-8.
func hasOddRune(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c <= ' ' || c >= 0x7F {
			return strings.ContainsFunc(text, textclass.OddInSyntax)
		}
	}
	return false
}

// parseOdd distinguishes prose, which has no host, from a URL with odd characters.
func parseOdd(text string) url {
	bare := strings.Map(func(r rune) rune {
		if textclass.OddInSyntax(r) {
			return -1
		}
		return r
	}, text)
	scheme := strings.ToLower(bare[:schemeLen(bare)])
	switch {
	case bare == "":
		return url{}
	case startsWithSlashes(bare), strings.Contains(bare, "://"), isSpecial(scheme), scheme == "file",
		authority.ConnectsToHost(scheme) && (strings.Contains(bare, "@") || !strings.HasPrefix(text[strings.IndexByte(text, ':')+1:], " ")): // "ssh: not found" is prose
		return url{hostKind: doubtful}
	case strings.IndexByte(`/\.~?#`, bare[0]) >= 0:
		return url{}
	}
	// Parsers drop tabs and line ends everywhere, but blanks only at both ends.
	trimmed := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
	host, _ := authority.CutAuthority(strings.TrimFunc(trimmed, textclass.OddInSyntax))
	if strings.ContainsRune(host, ' ') {
		return url{}
	}
	return url{hostKind: doubtful}
}

// schemeLen returns the length of the scheme at the beginning of a text (RFC 3986,
// section 3.1), without the colon; 0 when there is none.
func schemeLen(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && c == ':':
			return i
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

func parseCost(n int) int { return 300 + 40*min(n, maxURL) + 100*authority.MaxName }
