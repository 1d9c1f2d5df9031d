package shell

import "strings"

// readSed reads the words of sed. Options of sed may be anywhere. In GNU sed, the command e runs
// commands and w writes files; e and w are also flags of the command s.
func readSed(words []word) effect {
	e := effect{}
	script := false
	var operand = -1
	for at := 1; at < len(words); at++ {
		w := words[at]
		switch {
		case w.mayBeOption() || !w.known && operand < 0 && !script:
			return hiddenEffect()
		case !strings.HasPrefix(w.text, "-") || w.text == "-":
			if operand < 0 {
				operand = at
			}
		case listedIn("--quiet --silent --regexp-extended --null-data --separate --posix --sandbox --debug --unbuffered", w.text):
		case w.text == "-e" || strings.HasSuffix(w.text, "e") && strings.Count(w.text, "e") == 1 && strings.Trim(w.text, "-nErzsue") == "" && !strings.HasPrefix(w.text, "--"):
			script = true
			at++
			if at >= len(words) || !words[at].known || !isReadableSed(words[at].text) {
				return hiddenEffect()
			}
		case strings.Trim(w.text[1:], "nErzsu") == "":
		case attachedScript(w.text) != "":
			script = true
			if !isReadableSed(attachedScript(w.text)) {
				return hiddenEffect()
			}
		case w.text == "--in-place", strings.HasPrefix(w.text, "-i."),
			!strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text, "iI") && strings.Trim(w.text[1:], "nErzsuiI") == "":
			e.stays = append(e.stays, at)
		default:
			return hiddenEffect()
		}
	}
	if !script && (operand < 0 || !isReadableSed(words[operand].text)) {
		return hiddenEffect()
	}
	return e
}

// attachedScript returns the script in a word such as -ne's/a/b/p', or "".
func attachedScript(text string) string {
	letters, script, _ := strings.Cut(text, "e")
	if strings.HasPrefix(text, "--") || strings.Trim(letters[1:], "nErzsu") != "" {
		return ""
	}
	return script
}

// isReadableSed reports whether a sed script only prints, deletes, substitutes and reads files.
func isReadableSed(script string) bool {
	_, ok := readSedScript(script)
	return ok
}

// readSedScript returns the files that a readable sed script reads.
func readSedScript(script string) (files []string, readable bool) {
	s := sedScript(script)
	for s != "" {
		s = sedScript(strings.TrimLeft(string(s), " \t\n;{}"))
		if s == "" {
			return files, true
		}
		if s[0] == '#' || !s.takeAddresses() { // seds read #n in different ways
			return nil, false
		}
		if s[0] == 'r' {
			files = append(files, strings.TrimLeft(string(s[1:]), " \t"))
		}
		if !s.takeCommand() {
			return nil, false
		}
	}
	return files, true
}

// scriptReader returns a function that reads a word as a script in the program's language, and
// returns the files that the script names. Any word may be the script.
func scriptReader(program string) func(*word) []word {
	switch canonicalName(program) {
	case "sed", "gsed":
		return readSedNames
	case "awk", "gawk", "mawk", "nawk":
		return readAwkNames
	case "jq":
		return readJqNames
	}
	return func(*word) []word { return nil }
}

// findScript returns the index of the word that certainly is the script of sed or awk and not a
// path; 0 if there is no such word.
func findScript(words []word) int {
	switch canonicalName(words[0].text) {
	case "sed", "gsed":
		for i := 1; i < len(words) && !readSed(words).hidden; i++ {
			switch text := words[i].text; {
			case !strings.HasPrefix(text, "-"):
				return i
			case strings.Trim(text[1:], "nErzsu") != "" || text == "-":
				return 0
			}
		}
	case "awk", "gawk", "mawk", "nawk":
		for i := 1; i < len(words) && !readAwk(words).hidden; i++ {
			switch text := words[i].text; {
			case text == "-F" || text == "-v":
				i++
			case !strings.HasPrefix(text, "-"):
				return i
			}
		}
	}
	return 0
}

func readSedNames(w *word) (all []word) {
	script := w.text
	if strings.HasPrefix(script, "-") {
		script = attachedScript(script)
	}
	files, _ := readSedScript(script)
	for _, file := range files {
		// In some seds the file name ends at the end of the line, in others before one of these
		// characters.
		for _, end := range []string{"\n", ";", "}", " "} {
			if name, _, _ := strings.Cut(file, end); name != "" {
				all = append(all, word{text: name, known: true})
			}
		}
	}
	return all
}

// readJqNames returns an unknown word if a filter imports a file. The name is not known, because it
// may contain escapes.
func readJqNames(w *word) []word {
	if strings.ContainsAny(w.text, "\"") && (strings.Contains(w.text, "import") || strings.Contains(w.text, "include")) {
		return []word{{}}
	}
	return nil
}

// readAwkNames returns an unknown word if a program changes its list of files. The names are not
// known, because the program makes them while it runs.
func readAwkNames(w *word) []word {
	for _, list := range [...]string{"ARGV", "ARGC", "SYMTAB"} {
		if strings.Contains(w.text, list) {
			return []word{{}}
		}
	}
	return nil
}

// sedScript is the rest of a script.
type sedScript string

func (s *sedScript) skipSet(set string) { *s = sedScript(strings.TrimLeft(string(*s), set)) }

// takeAddresses takes the addresses before a command.
func (s *sedScript) takeAddresses() bool {
	for range 2 {
		switch {
		case *s == "":
			return false
		case (*s)[0] == '/':
			if *s = (*s)[1:]; !s.takeUntil('/') {
				return false
			}
			s.skipSet("IM")
		default:
			s.skipSet("0123456789$~+")
		}
		s.skipSet(" \t")
		if *s == "" || (*s)[0] != ',' {
			break
		}
		*s = (*s)[1:]
		s.skipSet(" \t")
	}
	s.skipSet("! \t")
	return *s != ""
}

// takeCommand takes one command, up to the separator before the next one.
func (s *sedScript) takeCommand() bool {
	c := (*s)[0]
	*s = (*s)[1:]
	switch {
	case c == '{':
		return true
	case strings.IndexByte("pPdDgGhHxnN=", c) >= 0:
	case c == 'r' && !strings.ContainsAny(string(*s), "\\\n"):
		*s = "" // the rest is the name of a file to read
	case strings.IndexByte(":btT", c) >= 0:
		s.skipSet(" ")
		s.skipSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
	case strings.IndexByte("qQl", c) >= 0:
		s.skipSet(" 0123456789")
	case c == 's' || c == 'y':
		if *s == "" || strings.IndexByte("/|,#:@%!_", (*s)[0]) < 0 {
			return false
		}
		delimiter := (*s)[0]
		*s = (*s)[1:]
		for range 2 { // reads the pattern and then the replacement
			if !s.takeUntil(delimiter) {
				return false
			}
		}
		if c == 's' {
			s.skipSet("gpiImM0123456789")
		}
	default:
		return false
	}
	s.skipSet(" \t")
	return *s == "" || strings.IndexByte(";\n}", (*s)[0]) >= 0
}

// takeUntil takes a text up to a delimiter. It refuses a delimiter inside brackets, because seds
// read such a delimiter in different ways.
func (s *sedScript) takeUntil(delimiter byte) bool {
	text := string(*s)
	bracket := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			return false
		case text[i] == '\\' && !bracket:
			i++
			if i < len(text) && text[i] == '\n' {
				return false
			}
		case text[i] == delimiter:
			if bracket {
				return false
			}
			*s = sedScript(text[i+1:])
			return true
		case text[i] == '\\': // in brackets
			if i+1 < len(text) && strings.IndexByte("]\\[", text[i+1]) >= 0 {
				return false // seds do not agree where the brackets end
			}
		case text[i] == '[' && bracket && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0:
			end := strings.Index(text[i+2:], text[i+1:i+2]+"]")
			if end < 0 || strings.IndexByte(text[i:i+2+end], delimiter) >= 0 {
				return false
			}
			i += end + 3
		case text[i] == '[' && !bracket:
			bracket = true
			if i+1 < len(text) && text[i+1] == '^' {
				i++
			}
			if i+1 < len(text) && text[i+1] == ']' {
				i++
			}
		case text[i] == ']':
			bracket = false
		}
	}
	return false
}
