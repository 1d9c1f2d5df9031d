package shell

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// namesDenied reports whether the words of a program that may run other programs name a denied
// command. The name may be separate words, or may be inside one word that is a text in any
// language.
func (j *judge) namesDenied(words []word) bool {
	for i := range words {
		if j.shownAt(words[i:]) {
			return true
		}
		if text := words[i].text; len(text) > 2 && text[0] == '-' && text[1] != '-' { // -Orm in git grep -Orm
			behind := append([]word{{text: text[2:], known: true}}, words[i+1:min(len(words), i+1+2*maxPast)]...)
			if j.namesDenied(behind[:1]) || j.shownAt(behind) {
				return true
			}
		}
		if strings.IndexFunc(words[i].text, isSeparator) < 0 {
			continue
		}
		var parts []word
		for part := range strings.FieldsFuncSeq(words[i].text, isSeparator) {
			parts = append(parts, word{text: part, known: true})
		}
		for at := range parts {
			if j.shownAt(parts[at:]) {
				return true
			}
		}
	}
	return false
}

// maxPast is the largest number of options between the words of a pattern.
const maxPast = 32

// isSeparator reports whether a character cannot be part of the name of a program or
// an option.
func isSeparator(r rune) bool {
	return r < 0x80 && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && strings.IndexByte("_./+-%~", byte(r)) < 0
}

func (j *judge) shownAt(words []word) bool {
	if words[0].text == "" || words[0].text[0] == '-' {
		return false
	}
	for _, name := range deniedNames(words[0].text) {
		for _, p := range j.patterns {
			if len(p.texts) == 0 || isBareGlob(p.texts[0]) || !p.mayBegin(name) {
				continue
			}
			// Words far after the pattern's words do not matter, so they are cut off.
			named := append([]word{{text: name, known: true}}, words[1:min(len(words), len(p.texts)+maxPast)]...)
			if p.matchWords(named) != where.No || p.matchesPastOptions(named) {
				return true
			}
		}
	}
	return false
}
