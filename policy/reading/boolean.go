package reading

import (
	"slices"
	"strings"
)

// booleans holds, for true and false, all spellings that a server may read as this boolean
// (pydantic in its lax mode, YAML 1.1). Letter case does not matter.
var booleans = map[string][]string{
	"true":  {"true", "t", "yes", "y", "on", "1"},
	"false": {"false", "f", "no", "n", "off", "0"},
}

// ParseBoolean returns the boolean that a server may read from a text; "" if there is none.
func ParseBoolean(s string) string {
	if len(s) > len("false") {
		return ""
	}
	s = strings.ToLower(s)
	for _, word := range []string{"true", "false"} {
		if slices.Contains(booleans[word], s) {
			return word
		}
	}
	return ""
}

// BooleanSpellings returns all texts that a server may read as the boolean word; nil if word is not
// a boolean.
func BooleanSpellings(word string) (all []string) {
	for _, s := range booleans[word] {
		cased := []string{""}
		for i := range s {
			lower, upper := s[i:i+1], strings.ToUpper(s[i:i+1])
			for _, head := range cased {
				if cased = append(cased, head+lower); upper != lower {
					cased = append(cased, head+upper)
				}
			}
			cased = slices.DeleteFunc(cased, func(c string) bool { return len(c) != i+1 })
		}
		all = append(all, cased...)
	}
	return all
}
