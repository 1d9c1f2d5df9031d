// Package upstream is what the servers of a hub are called: their ids, the names under
// which a client sees their tools, and the variables in their configuration. It is pure.
package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Separator stands between a server and a name of its own. No prefix holds it or ends
// in half of it, so that the first one splits a name however the rest of it is made.
const Separator = "__"

// Bounds of names, in bytes.
const (
	maxID = 20
	// Budget is what the strictest clients leave of their 64 when they have put a prefix
	// of their own, with the name of the hub's entry, before it.
	Budget = 50
)

// CheckID says why a server or a prefix must not be called so.
func CheckID(id string) error {
	switch {
	case id == "" || len(id) > maxID:
		return fmt.Errorf("%q is not 1 to %d characters long", id, maxID)
	case strings.Trim(id, idCharacters) != "":
		return fmt.Errorf("%q holds something other than a-z, 0-9, - and _", id)
	case id[0] == '-' || id[0] == '_':
		return fmt.Errorf("%q does not begin with a letter or a digit", id)
	case strings.Contains(id, Separator) || strings.HasSuffix(id, "_"):
		return fmt.Errorf("%q holds __ or ends in _, which separate a server from its tools", id)
	}
	return nil
}

const idCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-_"

// AdvertisedName gives what a client is told that a tool or a prompt of the server is called.
// It depends on nothing else: neither on other servers nor on other names. One that is too
// long, or that some client could not take, is cut and gets a digest of the original; so is
// one without a prefix that holds a separator, and could be another server's.
func AdvertisedName(id, prefix, name string) string {
	whole := name
	if prefix != "" {
		whole = prefix + Separator + name
	}
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, whole)
	for prefix == "" && strings.Contains(clean, Separator) {
		clean = strings.ReplaceAll(clean, Separator, "_")
	}
	if clean == whole && whole != "" && len(whole) <= Budget {
		return whole
	}
	sum := sha256.Sum256([]byte(id + "\x00" + name))
	end := "_" + hex.EncodeToString(sum[:4])
	clean = clean[:min(len(clean), Budget-len(end))]
	if prefix == "" {
		clean = strings.TrimSuffix(clean, "_") // with end it would separate again
	}
	return clean + end
}

// SplitName takes an advertised name apart. Of one that Advertised has cut, name is not the
// original.
func SplitName(advertised string) (prefix, name string, ok bool) {
	prefix, name, ok = strings.Cut(advertised, Separator)
	return prefix, name, ok && name != "" && CheckID(prefix) == nil
}

// CutName takes NAME= off; what stands before the first = of a path or an address
// with a / is no name.
func CutName(text string) (name, rest string, named bool) {
	name, rest, named = strings.Cut(text, "=")
	if !named || name == "" || strings.Contains(name, "/") {
		return "", text, false
	}
	return name, rest, true
}
