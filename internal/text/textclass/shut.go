package textclass

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// NamesShut reports whether a path, or a wildcard for files, may name a denied file of
// SecretPlaces. Upper and lower case are equal. It tries the path as it is, with \ as /, after
// path.Clean, and as a short name of Windows.
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

// MayNameShut reports whether a text may contain a denied name: it has some letters of a denied
// name, or signs that may stand for letters. This quick check rules out most texts.
func MayNameShut(text string) bool {
	keys := shutKeys()
	var a, b byte // the two letters before the current one
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

// beginsText reports whether a text begins with one of the keys, in any case.
func (k *pathKeys) beginsText(text string) bool {
	return slices.ContainsFunc(k.of, func(key string) bool { return len(text) >= len(key) && strings.EqualFold(text[:len(key)], key) })
}

func toLower(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}

// shutKeys holds, for each denied name, a part that all spellings of the name contain.
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

// isSpared reports whether a path only looks like a path in the place (Spare, SpareIn).
func (p *Place) isSpared(parts []string, last string) bool {
	return slices.ContainsFunc(p.Spare, func(spare string) bool { return matchesName(spare, last) }) ||
		slices.ContainsFunc(p.SpareIn, func(folder string) bool { return slices.Contains(parts, folder) })
}

// isShortName reports whether a name can be the short name that Windows gives to a longer name:
// ENV~1 for .env, SECRET~1.YML.
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
		return true // from the fifth similar name on, Windows keeps two letters and adds a hash, so any short name can match
	case open:
		return strings.HasPrefix(stem, spelt[:min(6, len(spelt))])
	}
	return stem == spelt[:min(6, len(spelt))]
}
