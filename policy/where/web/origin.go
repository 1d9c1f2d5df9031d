package web

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/authority"
)

// OriginOf gives the scheme, host and port of a web address (RFC 6454, section 4), in the form
// in which two of them are compared; "" of a text that is none, or not surely one.
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
