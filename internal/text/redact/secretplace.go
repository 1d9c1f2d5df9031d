package redact

import (
	"errors"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxPath bounds the text that is looked at as a path.
const maxPath = 4096

// often bounds how many times the length of the arguments is looked through for paths,
// and errDeep says that objects within objects would take more: they are read once more
// then, with every content as a secret.
const often = 8

var errDeep = errors.New("too many objects within objects")

// hasSecretPath reports whether a member of an object is the path of a secret place.
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
	if text == "" { // or no text
		text = string(v[1 : len(v)-1])
	}
	return textclass.HoldsSecrets(text)
}
