package config

import (
	"crypto/sha256"
	"fmt"

	"github.com/clawai/clawai/policy"
)

// packTexts holds the digests of the packs that a policy names, or the reason why a pack cannot be
// read. If packTexts changes, the policy must be loaded again.
type packTexts string

// readPacks reads the packs that the policy at path names. It returns their digests and paths. It
// does not check whether the packs are valid; the parser of the policy does.
func readPacks(path string, src []byte) (texts packTexts, t resolvedPath) {
	for _, x := range policy.PackFiles(path, src) {
		at, err := ReferencePath(path, x.File)
		var text []byte
		if err == nil {
			var way resolvedPath
			text, way, err = readPolicy(at)
			t.entries = append(t.entries, way.entries...)
		}
		texts += packTexts(fmt.Sprintf("%q %x %v\n", at, sha256.Sum256(text), err))
	}
	return texts, t
}
