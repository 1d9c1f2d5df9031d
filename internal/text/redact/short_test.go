package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// searchAll is the definition of search: it looks at each word and at each sign.
func (r *reading) searchAll(from, until int, named bool) (at span, found bool) {
	s := r.s
	for i := from; i < until; {
		c := s[i]
		if isWord[c] {
			begin := i
			if escaped := i > 0 && (s[i-1] == '\\' || s[i-1] == '%'); escaped || mayBegin(s, i) && (i == 0 || !isWord[s[i-1]]) {
				at = r.wordAt(i, from)
			}
			for ; i < len(s) && isWord[s[i]]; i++ {
				if s[i] == '_' && at.to == 0 && mayBegin(s, i+1) {
					if at = r.formAt(i+1, from); at.to == 0 && beginsAt(s, i+1) {
						at = r.startAt(i+1, from)
					}
				}
			}
			if i-begin >= 40 && s[i-1] == 'k' && at.to == 0 {
				at = innerAt(s, i-len("_mmk"), from)
			}
		} else {
			switch {
			case announces[c] || c == '.' && i+7 < len(s) && s[i+7] == '.':
				at = r.markAt(i, from, named)
			case c == '[' || c == esc || c == csi:
				if end := terminalEscape(s, i); end > 0 && mayBegin(s, end) {
					at = r.startAt(end, from)
				}
			}
			i++
		}
		if at.to > at.from {
			if at.kind == placedKind && at.from > i {
				if in, ok := r.searchAll(i, at.from, false); ok && in.from < at.from {
					at.from, at.to = in.from, max(in.to, at.to)
				}
			}
			return at, true
		}
		at.to = 0
	}
	return span{}, false
}

// compareSearches compares each search of a text, from each find on, with the definition.
func compareSearches(t *testing.T, text string) {
	for _, named := range []bool{false, true} {
		short, long := reading{s: []byte(text)}, reading{s: []byte(text)}
		for from, n := 0, 0; from <= len(text) && n < 40; n++ {
			got, found := short.search(from, len(text), named)
			want, is := long.searchAll(from, len(text), named)
			if got != want || found != is || short.unread != long.unread {
				t.Fatalf("%q from %d, names %v: %v (%v), want %v (%v)", text, from, named, got, found, want, is)
			}
			if !found {
				from += 1 + n // from the middle of words, too
				continue
			}
			from = got.from + 1
		}
	}
	// A text that FindUnnamed has read, and in which it has found nothing, is not read again.
	r, fresh := Read(text), Read(text)
	_, unnamed := r.FindUnnamed(0)
	got, found := r.Find(0)
	if want, is := fresh.Find(0); !unnamed && (got != want || found != is) {
		t.Fatalf("%q after the search without names: %v (%v), want %v (%v)", text, got, found, want, is)
	}
}

// pieces are parts of secrets and of what surrounds them.
var pieces = []string{"", " ", "\n", `"`, `\n`, `\"`, "%3D", "_", "__", ".", "-", "--", ":", "=", "|", "~", "[", "[32m", "\x1b[1m", "\x1b(B", "\u009b31m", "é", "k", "_mmk", "-us12", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijkl", "eyJ", "AKIAIOSFODNN7EXAMPLE", "Bearer ", "bearer abc123def456", "Basic dXNlcjpwYXNzd29yZA==", "password", "token: ", "api_key=", "x-api-key: ", "Authorization: ", "--password hunter2", " --token ",
	"postgres://me:secret@host/db", "https://", "user:pw@", "?sig=", "&key=", "key", "value", "mysql -psecret", "curl -u me:pw", "machine host login me password pw", "default", "data", "kind: Secret\ndata:\n  a: c2VjcmV0\n", "jdbc:oracle:thin:me/pw@", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n-----END PRIVATE KEY-----", "-----BEGIN ", "Private-Lines: 1\n",
	"123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "the function returns an error", "func main() {}", "a1b2c3", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "2026-11-30T10:00:00Z", "max_tokens: 10", "node.js", "a.bcdefg.h"}

func TestGeneratedTextsAreSearchedWhole(t *testing.T) {
	slow.Test(t)
	random := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		var b strings.Builder
		for range 1 + random.IntN(7) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		compareSearches(t, b.String())
	}
}

// FuzzSearch holds search to its definition.
func FuzzSearch(f *testing.F) {
	for i, piece := range pieces {
		f.Add(piece + " " + pieces[(i+7)%len(pieces)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<12 {
			compareSearches(t, text)
		}
	})
}
