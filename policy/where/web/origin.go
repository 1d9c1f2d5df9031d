package web

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/authority"
)

// OriginOf returns the scheme, host and port of a web address (RFC 6454, section 4),
// in a form that can be compared. It returns "" for a text that is not certainly a web
// address.
func OriginOf(address string) string {
	u := parseURL(where.Value{Kind: where.String, Text: address})
	port, special := authority.DefaultPort(u.scheme)
	if u.hostKind != plain || !special {
		return ""
	}
	at, _ := authority.CutAuthority(address[len(u.scheme+"://"):])
	if colon := strings.LastIndexByte(at, ':'); colon > strings.LastIndexByte(at, ']') {
		port = at[colon+1:]
	}
	return u.scheme + "://" + u.host.Name + ":" + port
}
