// Package upstream handles the names of a hub's servers: their ids, the names under which a client
// sees their tools, and the variables in their configuration. It has no side effects.
package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Separator stands between a server's prefix and the name of its tool. A prefix never contains the
// separator and never ends with "_". So the first separator always splits a name correctly.
const Separator = "__"

// Limits of names, in bytes.
const (
	maxID = 20
	// Budget is the maximum length of an advertised name in bytes. The strictest clients allow 64
	// bytes. Some of these bytes are for the prefix of the client: the name of the hub's entry in
	// its configuration.
	Budget = 50
)

// CheckID returns an error for a name that a server or a prefix must not have.
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

// AdvertisedName returns the name under which a client sees a tool or a prompt of a server. The
// result depends only on the arguments, not on other servers or tools. If the name is too long, or
// if some client could not accept it, AdvertisedName changes the name and appends a digest of the
// original. It does the same if prefix is "" and the name contains a separator, because such a name
// could belong to another server.
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
		clean = strings.TrimSuffix(clean, "_") // without this, the "_" would form a separator with the "_" at the beginning of end
	}
	return clean + end
}

// SplitName splits an advertised name. If AdvertisedName has changed the name of the tool or
// prompt, the result name is the changed name.
func SplitName(advertised string) (prefix, name string, ok bool) {
	prefix, name, ok = strings.Cut(advertised, Separator)
	return prefix, name, ok && name != "" && CheckID(prefix) == nil
}

// CutName splits the text NAME=REST. If there is no name before the first =, named is false and
// rest is the whole text. A text with a / is not a name, but the beginning of a path or an address.
func CutName(text string) (name, rest string, named bool) {
	name, rest, named = strings.Cut(text, "=")
	if !named || name == "" || strings.Contains(name, "/") {
		return "", text, false
	}
	return name, rest, true
}
