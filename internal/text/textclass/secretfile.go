package textclass

import (
	"net/url"
	"path"
	"strings"
	"sync"
)

// HoldsSecrets reports whether a path is in one of SecretPlaces. It reads the path in every
// possible way. A wrong match has little effect: one text is missing from the record.
func HoldsSecrets(file string) bool {
	if len(file) > 7 && strings.EqualFold(file[:7], "file://") {
		file = file[len("file://"):]
	}
	plain := strings.ReplaceAll(file, `\`, "/")
	if secretPath(plain) {
		return true
	}
	for range 2 { // twice, because some programs also decode %252e
		decoded, err := url.PathUnescape(plain)
		if err != nil || decoded == plain {
			return false
		}
		if plain = strings.ReplaceAll(decoded, `\`, "/"); secretPath(plain) {
			return true
		}
	}
	return false
}

func secretPath(plain string) bool {
	lower, keys := strings.ToLower(plain), secretKeys()
	for i := range max(0, len(lower)-2) {
		if keys.begins[pairHash(lower[i], lower[i+1])]&(1<<(lower[i+2]&63)) == 0 {
			continue // most paths get here
		}
		for n, key := range keys.of {
			if key != "" && strings.HasPrefix(lower[i:], key) && (SecretPlaces[n].ContainsPath(lower) || SecretPlaces[n].ContainsPath(path.Clean(lower))) {
				return true
			}
		}
	}
	return false
}

func pairHash(a, b byte) uint { return (uint(a)<<3 ^ uint(b)) & 1023 }

// pathKeys holds parts of paths in lower case, and a table of the hashes of their first three
// bytes.
type pathKeys struct {
	of     []string
	begins [1024]uint64
}

func (k *pathKeys) addKey(key string) {
	k.of = append(k.of, key)
	if key != "" {
		k.begins[pairHash(key[0], key[1])] |= 1 << (key[2] & 63)
	}
}

// longestPart returns the longest part of a path pattern that has no wildcard, in lower case.
func longestPart(plain string) (longest string) {
	from := 0
	for i := 0; i <= len(plain); i++ {
		if i < len(plain) && plain[i] != '*' && plain[i] != '/' {
			continue
		}
		if i-from > len(longest) {
			longest = plain[from:i]
		}
		from = i + 1
	}
	return strings.ToLower(longest)
}

// secretKeys holds, for each place in SecretPlaces, a part that every path in the place contains.
var secretKeys = sync.OnceValue(func() *pathKeys {
	keys := &pathKeys{}
	for i := range SecretPlaces {
		keys.addKey(longestPart(SecretPlaces[i].Path))
	}
	return keys
})
