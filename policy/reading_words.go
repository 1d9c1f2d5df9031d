package policy

import "strings"

// words for the stages, as people know them.
var words = map[transforms]string{
	decoded:  "percent-decoded",
	slashed:  "backslashes as slashes",
	located:  "host in its plain form",
	named:    "as Windows trims names",
	cleaned:  "cleaned",
	composed: "accents composed",
	compat:   "compatibility forms replaced",
	folded:   "case folded",
}

// madeBy gives the stages that made a reading of what was sent, in words. It is
// marked with those too that change its pattern alone.
func (r *reading) madeBy(home string) []string {
	for decodings := 1; decodings <= maxDecodings; decodings++ {
		for _, text := range []string{r.raw, strings.TrimSpace(r.raw)} {
			var made []string
			if text != r.raw {
				made = append(made, "blanks around it dropped")
			}
			for _, stage := range stages {
				before := text
				for n := 0; r.transforms&stage != 0 && (n == 0 || stage == decoded && n < decodings); n++ {
					text = transform(text, stage, home)
				}
				if text != before {
					made = append(made, word(stage, before))
				}
			}
			if text == r.s {
				return made
			}
		}
	}
	return []string{"number in plain digits"}
}

func word(stage transforms, text string) string {
	if stage == located {
		switch {
		case text[0] == '~':
			return "~ as home"
		case isFile(text):
			return "file: URI as path"
		}
	}
	return words[stage]
}
