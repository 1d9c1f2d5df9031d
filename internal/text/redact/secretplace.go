package redact

import (
	"errors"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxPath is the maximum length in bytes of a text that is checked as a path.
const maxPath = 4096

// The constant often limits the bytes that are searched for paths, as a multiple of the arguments'
// length. errDeep means that nested objects would exceed this limit. The arguments are then read
// again, and all contents of files are treated as secrets.
const often = 8

var errDeep = errors.New("too many objects within objects")

// hasSecretPath reports whether a member of an object is a path of a secret place.
func hasSecretPath(object jsonscan.Value) bool {
	for name, value := range object.Members() {
		if memberSecrecy([]byte(name.Text())) == written {
			continue
		}
		if inPlace(value) {
			return true
		}
		for element := range value.Elements() {
			if inPlace(element) {
				return true
			}
		}
	}
	return false
}

func inPlace(v jsonscan.Value) bool {
	if v.Kind() != jsonscan.String || len(v) > maxPath {
		return false
	}
	text := v.Text()
	if text == "" { // an empty string, or a string that cannot be decoded
		text = string(v[1 : len(v)-1])
	}
	return textclass.HoldsSecrets(text)
}
