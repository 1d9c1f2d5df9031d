package screen

import (
	"net/url"
	"path"
	"strings"
	"sync"
)

// HoldsSecrets says whether what is written to a path, as a tool is given it, lies in one
// of SecretPlaces then. A path is read in every way there may be: one too many costs a
// text in the record.
func HoldsSecrets(file string) bool {
	if len(file) > 7 && strings.EqualFold(file[:7], "file://") {
		file = file[len("file://"):]
	}
	plain := strings.ReplaceAll(file, `\`, "/")
	if secretPath(plain) {
		return true
	}
	for range 2 { // %252e is decoded twice by some
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
		if keys.begins[pair(lower[i], lower[i+1])]&(1<<(lower[i+2]&63)) == 0 {
			continue // as nearly everywhere
		}
		for n, key := range keys.of {
			if key != "" && strings.HasPrefix(lower[i:], key) && (SecretPlaces[n].Holds(lower) || SecretPlaces[n].Holds(path.Clean(lower))) {
				return true
			}
		}
	}
	return false
}

func pair(a, b byte) uint { return (uint(a)<<3 ^ uint(b)) & 1023 }

// pathKeys are, for each of SecretPlaces, a part of its path that every path there has, and
// what their first three bytes come to.
type pathKeys struct {
	of     []string
	begins [1024]uint64
}

var secretKeys = sync.OnceValue(func() *pathKeys {
	keys := &pathKeys{of: make([]string, len(SecretPlaces))}
	for i := range SecretPlaces {
		key := &keys.of[i]
		for part := range strings.FieldsFuncSeq(strings.ToLower(SecretPlaces[i].Path), func(r rune) bool { return r == '*' || r == '/' }) {
			if len(part) > len(*key) {
				*key = part
			}
		}
		if *key != "" {
			keys.begins[pair((*key)[0], (*key)[1])] |= 1 << ((*key)[2] & 63)
		}
	}
	return keys
})
