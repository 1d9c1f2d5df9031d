package inspect

import (
	"slices"
	"strings"
	"unicode"
)

// phraseWords are words that documents write in place of a secret, as in "your-api-key-here".
var phraseWords = strings.Fields(`your my our the an some any this put insert enter add paste fill use with here goes go in to of for from is
	replace replaced change me update set real actual valid new old default key keys token tokens secret secrets password passwd pass pwd
	passphrase credential credentials value string text data name user username account id client app api access refresh auth bearer bot
	personal private public project proj service svcacct admin org team workspace cert certificate crt tls ssl ca pem base b64 encoded
	encode binary anthropic openai openrouter slack github gitlab google aws azure huggingface ai test example sample demo dummy fake mock
	placeholder todo tbd none null empty redacted hidden ant or v pat`)

// maxPhrase is the maximum length of a phrase without blanks and signs.
const maxPhrase = 128

// isPhrase reports whether a text consists only of phraseWords, short numbers after them, and
// letters or digits in order (abcd, 1234). Such a text is a placeholder, not a secret.
func isPhrase(text string) bool {
	pieces := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return len(pieces) > 0 && !slices.ContainsFunc(pieces, func(piece string) bool { return !isWordRow(piece) })
}

// isWordRow reports whether a text of letters and digits consists only of the parts that isPhrase
// accepts.
func isWordRow(text string) bool {
	if len(text) > maxPhrase {
		return false
	}
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return false
	}
	ends := make([]bool, len(text)+1) // ends[i] means that a word may end at i
	ends[0] = true
	for at := range text {
		if !ends[at] {
			continue
		}
		for _, word := range phraseWords {
			if strings.HasPrefix(lower[at:], word) {
				ends[at+len(word)] = true
				for n := range 3 { // up to two digits may follow the word: base64, v1
					if end := at + len(word) + n; end == len(text) || lower[end] < '0' || lower[end] > '9' {
						break
					} else {
						ends[end+1] = true
					}
				}
			}
		}
		if n := orderLength(text[at:]); n >= 4 {
			ends[at+n] = true
		}
	}
	return ends[len(text)]
}

// orderLength returns the length of a run such as abcd or 8901 at the start of a text. In the run,
// each letter or digit is the successor of the one before it. 0 is the successor of 9.
func orderLength(text string) (n int) {
	for n = 1; n < len(text) && (text[n] == text[n-1]+1 || text[n-1] == '9' && text[n] == '0'); n++ {
	}
	return n
}

// behindKind returns a key without the short word at its start that shows its kind, such as sk-; ""
// if the key has no such word.
func behindKind(key string) string {
	if n := strings.IndexAny(key, "-_"); n > 0 && n <= len("github") {
		return key[n+1:]
	}
	return ""
}

// hasData reports whether the data of a Kubernetes Secret have a real value, not only templates and
// placeholders.
func hasData(block string) bool {
	block, literals := cutTemplates(block)
	if slices.ContainsFunc(literals, isData) {
		return true
	}
	quoted := !slices.ContainsFunc(strings.Split(block, "\n"), func(line string) bool { // a tool wrote # before each line
		return !strings.HasPrefix(strings.TrimSpace(line), "#")
	})
	for part := range strings.FieldsFuncSeq(block, func(r rune) bool { return r == '\n' || r == ',' || r == '{' || r == '}' }) {
		part = strings.TrimSpace(part)
		if !quoted && strings.HasPrefix(part, "#") {
			continue
		}
		if isData(valueOf(part)) {
			return true
		}
	}
	return false
}

// valueOf returns the value in a line of YAML or a member of JSON, without the name and without a
// comment. If there is no name, it returns the whole text.
func valueOf(part string) string {
	for at := 0; at < len(part); at++ {
		if part[at] == ':' && (at+1 == len(part) || strings.IndexByte(" \t\"'\\", part[at+1]) >= 0) {
			part = part[at+1:]
			break
		}
	}
	part, _, _ = strings.Cut(part, " #")
	return part
}

// isData reports whether a value may be a secret.
func isData(value string) bool {
	value = strings.Trim(value, " \t\r\"'\\|>-+~")
	if variable, is := strings.CutPrefix(value, "$"); is && variable != "" && strings.Trim(variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return false
	}
	value = cutExampleWords(value)
	letters := 0
	for _, r := range value {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters > 0 && !isPhrase(value)
}

// maxTemplate is the maximum length of a template, in bytes.
const maxTemplate = 512

// templates are the marks at the beginning and the end of a text that a program or a reader
// replaces by a value.
var templates = [...]struct{ begin, end string }{{"{{", "}}"}, {"${", "}"}, {"$(", ")"}, {"<", ">"}}

// cutTemplates returns a text without its templates. literals are the quoted values inside the
// templates, such as "abc" in {{ "abc" | b64enc }}.
func cutTemplates(text string) (left string, literals []string) {
	var rest strings.Builder
	for at := 0; at < len(text); {
		n := 1
		for _, t := range templates {
			if !strings.HasPrefix(text[at:], t.begin) {
				continue
			}
			line, _, _ := strings.Cut(text[at:min(len(text), at+maxTemplate)], "\n")
			if end := strings.Index(line, t.end); end >= 0 {
				n = end + len(t.end)
				literals = append(literals, quotedIn(text[at:at+n])...)
				break
			}
		}
		if n == 1 {
			rest.WriteByte(text[at])
		}
		at += n
	}
	return rest.String(), literals
}

// namers are functions of templates. A quoted text after them is a name or a message, not a value.
var namers = []string{"include", "template", "lookup", "required", "fail", "index", "get", "tpl", "printf", "-"}

// quotedIn returns the quoted texts in a template that can be values.
func quotedIn(template string) (quoted []string) {
	before, rest, found := strings.Cut(template, `"`)
	for found {
		value, behind, _ := strings.Cut(rest, `"`)
		words := strings.Fields(before)
		if len(words) == 0 || !slices.Contains(namers, words[len(words)-1]) {
			quoted = append(quoted, value)
		}
		before, rest, found = strings.Cut(behind, `"`)
	}
	return quoted
}
