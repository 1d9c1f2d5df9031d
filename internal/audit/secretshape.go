package audit

import (
	"bytes"
	"strings"
)

// shape is a secret that is known by how it begins.
type shape struct {
	start string
	kind  string // one word for the marker
	min   int    // characters that must follow
	more  string // what may follow besides letters and digits
	digit bool   // a digit must follow: the start is also an ordinary word's
}

// shapes is ordered: a longer start before one it begins with.
var shapes = []shape{
	{start: "github_pat_", kind: "github", min: 20, more: "_"},
	{start: "ghp_", kind: "github", min: 20}, {start: "gho_", kind: "github", min: 20},
	{start: "ghu_", kind: "github", min: 20}, {start: "ghs_", kind: "github", min: 20, more: "_-."},
	{start: "ghr_", kind: "github", min: 20},
	{start: "glpat-", kind: "gitlab", min: 16, more: "_-."}, {start: "glptt-", kind: "gitlab", min: 16, more: "_-"},
	{start: "gldt-", kind: "gitlab", min: 16, more: "_-"}, {start: "glrt-", kind: "gitlab", min: 16, more: "_-."},
	{start: "sk-ant-", kind: "anthropic", min: 16, more: "_-"},
	{start: "sk-", kind: "sk", min: 16, more: "_-", digit: true},
	{start: "sk_live_", kind: "stripe", min: 10}, {start: "sk_test_", kind: "stripe", min: 10},
	{start: "rk_live_", kind: "stripe", min: 10}, {start: "rk_test_", kind: "stripe", min: 10},
	{start: "whsec_", kind: "stripe", min: 16, more: "+/="},
	{start: "xoxb-", kind: "slack", min: 10, more: "-"}, {start: "xoxp-", kind: "slack", min: 10, more: "-"},
	{start: "xoxa-", kind: "slack", min: 10, more: "-"}, {start: "xoxr-", kind: "slack", min: 10, more: "-"},
	{start: "xoxs-", kind: "slack", min: 10, more: "-"}, {start: "xoxe-", kind: "slack", min: 10, more: "-"},
	{start: "xoxe.", kind: "slack", min: 10, more: "-."}, {start: "xapp-", kind: "slack", min: 10, more: "-"},
	{start: "AKIA", kind: "aws", min: 16}, {start: "ASIA", kind: "aws", min: 16, digit: true},
	{start: "AIza", kind: "google", min: 30, more: "_-"},
	{start: "ya29.", kind: "google", min: 16, more: "_-."}, {start: "GOCSPX-", kind: "google", min: 16, more: "_-"},
	{start: "npm_", kind: "npm", min: 30}, {start: "pypi-", kind: "pypi", min: 30, more: "_-"},
	{start: "rubygems_", kind: "rubygems", min: 30},
	{start: "hf_", kind: "huggingface", min: 20}, {start: "gsk_", kind: "groq", min: 20},
	{start: "xai-", kind: "xai", min: 20}, {start: "r8_", kind: "replicate", min: 20},
	{start: "pplx-", kind: "perplexity", min: 20}, {start: "tvly-", kind: "tavily", min: 16, more: "-"},
	{start: "dop_v1_", kind: "digitalocean", min: 20}, {start: "shpat_", kind: "shopify", min: 20},
	{start: "dckr_pat_", kind: "docker", min: 16, more: "_-"}, {start: "sbp_", kind: "supabase", min: 20},
	{start: "glsa_", kind: "grafana", min: 20, more: "_"}, {start: "lin_api_", kind: "linear", min: 20},
	{start: "ntn_", kind: "notion", min: 20}, {start: "figd_", kind: "figma", min: 20, more: "_-"},
	{start: "PMAK-", kind: "postman", min: 20, more: "-"}, {start: "ATATT", kind: "atlassian", min: 30, more: "_-="},
	{start: "hvs.", kind: "vault", min: 16, more: "_-"}, {start: "SG.", kind: "sendgrid", min: 20, more: "_-."},
	{start: "tskey-", kind: "tailscale", min: 16, more: "-"}, {start: "AGE-SECRET-KEY-1", kind: "age", min: 20},
}

// maxLook bounds how far one start is followed that may yet be none, so that a
// text made of starts costs no square of its length.
const maxLook = 512

// shapesAt holds, for each first byte, the shapes that begin with it.
var shapesAt = func() (t [256][]shape) {
	for _, s := range shapes {
		t[s.start[0]] = append(t[s.start[0]], s)
	}
	return t
}()

// seconds holds, for each first byte, the second bytes of the shapes that begin
// with it, one bit for each value modulo 64: most words end there.
var seconds = func() (t [256]uint64) {
	for _, s := range shapes {
		t[s.start[0]] |= 1 << (s.start[1] & 63)
	}
	t['e'] |= 1 << ('y' & 63) // of a JSON web token
	return t
}()

// shapeAt returns the length and kind of the secret that begins s, if one does.
func shapeAt(s []byte) (int, string) {
	if len(s) < 2 || seconds[s[0]]&(1<<(s[1]&63)) == 0 {
		return 0, ""
	}
	for i := range shapesAt[s[0]] {
		sh := &shapesAt[s[0]][i]
		if len(s) < len(sh.start)+sh.min || string(s[:len(sh.start)]) != sh.start {
			continue
		}
		n, digit := len(sh.start), !sh.digit
		for n < len(s) && (n < maxLook || digit) && (isAlnum[s[n]] || strings.IndexByte(sh.more, s[n]) >= 0) {
			digit = digit || s[n] >= '0' && s[n] <= '9'
			n++
		}
		if digit && n-len(sh.start) >= sh.min {
			return n, sh.kind
		}
	}
	if s[0] == 'e' && bytes.HasPrefix(s, []byte("eyJ")) {
		return jwtAt(s)
	}
	return 0, ""
}

// jwtAt reads header.payload.signature of RFC 7515, all base64url.
func jwtAt(s []byte) (int, string) {
	n, dots := 0, 0
	for n < len(s) && (n < maxLook || dots > 0) && (isAlnum[s[n]] || s[n] == '-' || s[n] == '_' || s[n] == '.' && dots < 4) {
		if s[n] == '.' {
			dots++
		}
		n++
	}
	if dots < 2 || n < 24 {
		return 0, ""
	}
	return n, "jwt"
}

// pemAt reads a private key in PEM armour (RFC 7468); one that is cut off ends
// with the text.
func pemAt(s []byte) (int, string) {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	if !bytes.HasPrefix(s, []byte(begin)) {
		return 0, ""
	}
	label := s[len(begin):min(len(s), len(begin)+64)]
	if i := bytes.Index(label, []byte(dashes)); i >= 0 {
		label = label[:i]
	}
	if !bytes.Contains(label, []byte("PRIVATE KEY")) {
		return 0, ""
	}
	stop := bytes.Index(s, []byte(end))
	if stop < 0 {
		return len(s), "pem"
	}
	stop += len(end)
	if i := bytes.Index(s[stop:], []byte(dashes)); i >= 0 {
		return stop + i + len(dashes), "pem"
	}
	return len(s), "pem"
}
