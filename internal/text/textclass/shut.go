package textclass

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// NamesShut reports whether a path, or a wildcard of files, may name a denied file of
// SecretPlaces. Capitals and small letters are equal. It also tries the path with \ as /, after
// path.Clean, and as a short name that Windows makes.
func NamesShut(file string) bool {
	if !MayNameShut(file) {
		return false
	}
	if choosesAny(file) {
		return true
	}
	slashed := strings.ReplaceAll(file, `\`, "/")
	return slashed != file && choosesAny(slashed) || strings.Contains(slashed, "/.") && choosesAny(path.Clean(slashed))
}

func choosesAny(file string) bool {
	names, reaches := ChoosesSecrets(file)
	return len(names) > 0 || reaches
}

// MayNameShut reports whether a text contains letters of a denied name, or signs that may stand
// for letters. This quick check rules out most texts.
func MayNameShut(text string) bool {
	keys := shutKeys()
	var a, b byte // the two letters before
	for i := range len(text) {
		c := toLower(text[i])
		switch {
		case c == '*', c == '?', c == '[', c == '{', b == '~' && c-'0' < 10:
			return true
		case keys.begins[pairHash(a, b)]&(1<<(c&63)) != 0 && keys.beginsText(text[max(0, i-2):]):
			return true
		}
		a, b = b, c
	}
	return false
}

// beginsText reports whether a text begins with one of the keys, in letters of any case.
func (k *pathKeys) beginsText(text string) bool {
	return slices.ContainsFunc(k.of, func(key string) bool { return len(text) >= len(key) && strings.EqualFold(text[:len(key)], key) })
}

func toLower(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}

// shutKeys holds a part of each denied name that all its spellings contain.
var shutKeys = sync.OnceValue(func() *pathKeys {
	keys := &pathKeys{of: make([]string, 0, 2*len(SecretPlaces))}
	for i := range SecretPlaces {
		for _, shut := range SecretPlaces[i].Shut {
			for _, spelt := range spellings(shut) {
				if key := longestPart(spelt); !slices.Contains(keys.of, key) {
					keys.addKey(key)
				}
			}
		}
	}
	return keys
})

// isSpared reports whether a path only looks like the place.
func (p *Place) isSpared(parts []string, last string) bool {
	return slices.ContainsFunc(p.Spare, func(spare string) bool { return matchesName(spare, last) }) ||
		slices.ContainsFunc(p.SpareIn, func(folder string) bool { return slices.Contains(parts, folder) })
}

// isShortName reports whether a name may be the short name that Windows makes for a longer name
// in a place: ENV~1 for .env, SECRET~1.YML.
func isShortName(short, place string) bool {
	stem, rest, found := strings.Cut(short, "~")
	ending := strings.TrimLeft(rest, "0123456789")
	if !found || len(stem) < 2 || len(stem) > 6 || ending == rest || ending != "" && ending[0] != '.' {
		return false
	}
	name := strings.TrimLeft(strings.ReplaceAll(place, " ", ""), ".")
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		if extension := name[dot+1:]; extension != "*" && ending != "."+extension[:min(3, len(extension))] {
			return false
		}
		name = name[:dot]
	} else if ending != "" && !strings.HasSuffix(name, "*") {
		return false
	}
	spelt, _, open := strings.Cut(strings.ReplaceAll(name, ".", ""), "*")
	switch {
	case spelt == "":
		return open && ending != ""
	case len(stem) == 6 && len(spelt) > 1 && stem[:2] == spelt[:2] && strings.Trim(stem[2:], "0123456789abcdef") == "":
		return true // from the fifth similar name on, Windows keeps only two letters and adds a hash
	case open:
		return strings.HasPrefix(stem, spelt[:min(6, len(spelt))])
	}
	return stem == spelt[:min(6, len(spelt))]
}
