package reading

import "strings"

// words holds the name of each stage for people.
var words = map[Transforms]string{
	decoded:  "percent-decoded",
	slashed:  "backslashes as slashes",
	Located:  "host in its plain form",
	named:    "as Windows trims names",
	cleaned:  "cleaned",
	composed: "accents composed",
	compat:   "compatibility forms replaced",
	folded:   "case folded",
}

// MadeBy returns, in words, the stages that changed the value as sent into this reading.
// r.Transforms may also hold stages that changed only the pattern.
func (r *Reading) MadeBy(home string) []string {
	for decodings := 1; decodings <= maxDecodings; decodings++ {
		for i, text := range []string{r.Raw, strings.TrimSpace(r.Raw), WindowsForm(r.Raw)} {
			var made []string
			if word := [...]string{"", "blanks around it dropped", "in the form of Windows"}[i]; text != r.Raw {
				made = append(made, word)
			}
			for _, stage := range stages {
				before := text
				for n := 0; r.Transforms&stage != 0 && (n == 0 || stage == decoded && n < decodings); n++ {
					text = transformStage(text, stage, home)
				}
				if text != before {
					made = append(made, stageWord(stage, before))
				}
			}
			if text == r.Text {
				return made
			}
		}
	}
	if r.Recast || r.AsForm || windowsShaped(r.Raw) {
		return []string{"as Windows may take it"}
	}
	return []string{"number in plain digits"}
}

func stageWord(stage Transforms, text string) string {
	if stage == Located {
		switch {
		case text[0] == '~':
			return "~ as home"
		case IsFile(text):
			return "file: URI as path"
		}
	}
	return words[stage]
}
