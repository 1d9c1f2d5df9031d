package flow

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPhrase is the largest number of pieces in a row that are marked together. A longer value is
// recognized by all its phrases of that length.
const maxPhrase = 8

// piece is a part of a text between blanks. starts and ends are the places in the piece at which a
// value that the user names may begin and end: before and after quotes, brackets, commas and the
// like.
type piece struct {
	from, end    int
	starts, ends []int
	glued        bool // the piece is in a path that continues after the next blank
}

// splitPieces returns the pieces of a text. If places is true, it also sets the places in each
// piece. A value needs no places, because it is compared exactly.
func splitPieces(text string, places bool, all []piece) []piece {
	for i := 0; i < len(text); {
		size := blankLength(text[i:])
		if size > 0 {
			i += size
			continue
		}
		p := piece{from: i}
		for i < len(text) && blankLength(text[i:]) == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
		if p.end = i; places {
			p.findPlaces(text)
		}
		all = append(all, p)
	}
	if places {
		gluePaths(text, all)
	}
	return all
}

// gluePaths joins the pieces of each path that contains blanks. Such a path is in quotes, or has a
// backslash before each blank. A value then cannot begin or end inside the path: "/a/b (old)" does
// not name "/a/b".
func gluePaths(text string, all []piece) {
	closing := openQuote{}
	for i := range len(all) - 1 {
		p, next := &all[i], &all[i+1]
		word := text[p.from:p.end]
		closing = closing.readWord(word, text[p.end:])
		inQuotes := closing.by != "" && closing.findEnd(text[next.from:]) >= 0 && !isPathLead(text[next.from:next.end])
		escaped := strings.HasSuffix(word, `\`) && (strings.Contains(word, "/") || strings.Count(word, `\`) == 1)
		if inQuotes || escaped {
			p.glued, p.ends, next.starts = true, nil, nil
		}
	}
}

// openQuote is a quote that is not closed yet, and that contains a path or follows one. The zero
// value means that no quote is open.
type openQuote struct {
	by      string // the characters that close the quote
	escapes bool   // a backslash before a closing character keeps the quote open; false in a Windows path
}

// readWord returns the quote that is still open after a word. The parameter more is the text after
// the word.
func (q openQuote) readWord(word, more string) openQuote {
	at := 0
	if q.by != "" {
		if at = q.findEnd(word); at < 0 {
			return q
		}
	}
	for at < len(word) {
		by, size := closingQuotes(word[at:])
		if by == "" {
			at++
			continue
		}
		before, rest := word[:at], word[at+size:]
		opened := openQuote{by, !strings.Contains(rest, `:\`)}
		at += size
		if end := opened.findEnd(rest); end >= 0 {
			at += end
		} else if strings.ContainsAny(rest, `/\~`) || strings.ContainsAny(before, `/\~`) && (rest == "" || by != "'" && by != "’") { // the quote in "Bob's" opens no path
			return opened
		} else if (before == "" || !isAlphanumeric(before[len(before)-1]|0x20)) && by != "`" && opened.holdsPath(more) {
			return opened
		}
	}
	return openQuote{}
}

// holdsPath reports whether the text up to the end of the quote is the rest of a path whose first
// name has a blank: "old stuff/tmp". A text that contains an address or the beginning of another
// path is a sentence. The caller does not call holdsPath for a text in backticks, because such a
// text is probably a command.
func (q openQuote) holdsPath(text string) bool {
	end := q.findEnd(text)
	if end < 0 || !strings.ContainsAny(text[:end], `/\`) {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(text[:end]), isPathLead)
}

// findEnd returns the place after the closing quote, or -1 if there is no closing quote.
func (q openQuote) findEnd(text string) int {
	for i, r := range text {
		if strings.ContainsRune(q.by, r) && !(q.escapes && i > 0 && text[i-1] == '\\') {
			return i + markLength(text[i:])
		}
	}
	return -1
}

// quotePairs lists quotes, each with the characters that close it.
var quotePairs = [...][2]string{
	{"\"", "\""}, {"`", "`"}, {"'", "'"}, {"“", "”"}, {"”", "”"}, {"„", "“”"}, {"‘", "’"}, {"’", "’"}, {"‚", "‘’"},
	{"«", "»"}, {"»", "«»"}, {"‹", "›"}, {"›", "‹›"}, {"「", "」"}, {"『", "』"}, {"《", "》"},
}

// closingQuotes returns the characters that close the quote at the beginning of a text, and the
// length of that quote. It returns "" if the text begins with no quote.
func closingQuotes(text string) (by string, size int) {
	for _, pair := range quotePairs {
		if strings.HasPrefix(text, pair[0]) {
			return pair[1], markLength(text)
		}
	}
	return "", 0
}

// markLength returns the length of the quote at the beginning of a text. Several backticks in a row
// are one quote, as in Markdown.
func markLength(text string) int {
	if less := strings.TrimLeft(text, "`"); less != text {
		return len(text) - len(less)
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// isPathLead reports whether a text begins like an absolute path, a path that begins with a dot, or
// an address.
func isPathLead(text string) bool {
	if strings.HasPrefix(text, `\"`) {
		return false // \" is a quote inside quotes
	}
	for _, lead := range [...]string{"/", `\`, "~", "./", `.\`, "../", `..\`} {
		if strings.HasPrefix(text, lead) {
			return true
		}
	}
	i := strings.IndexByte(text, ':')
	return i > 0 && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '\\') && strings.IndexFunc(text[:i], isSeparator) < 0
}

// blankLength returns the length of the blank at the beginning of a text; 0 if the text begins with
// no blank.
func blankLength(text string) int {
	if text[0] < utf8.RuneSelf {
		if text[0] <= ' ' || text[0] == 0x7f {
			return 1
		}
		return 0
	}
	if ends, size := startsSeparator(text); ends && !strings.ContainsRune(longMarks, firstRune(text)) {
		return size
	}
	return 0
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// findPlaces finds the places at which a value may begin and end. A bracket inside a word, as in
// "a(1)" or "a/{b,c}", is part of the word.
func (p *piece) findPlaces(text string) {
	p.starts, p.ends = append(p.starts, p.from), append(p.ends, p.end)
	word, before := p.from, p.from // before is the end of the previous word
	for i := p.from; i <= p.end; {
		is, size := true, 1
		if i < p.end {
			is, size = startsSeparator(text[i:])
		}
		if !is {
			i += size
			continue
		}
		if i < p.end && strings.IndexByte("([{", text[i]) >= 0 {
			if end := skipBrackets(text, i, p.end); i > word || end < p.end && !startsApart(text[end:]) {
				i = end
				continue
			} else if end <= p.end {
				p.ends = addPlace(p.ends, end)
			}
		}
		if i > word {
			p.addWord(text, word, i, p.continuesPath(text, before, word, i), p.goesOn(text, word, i))
			before = i
		}
		i += size
		word = i
	}
}

// goesOn reports whether a path continues after the character at its end. The path is
// text[from:end]. A path continues in "/a/b,c" and "/a/<b>/c", but not in "/a/b,/a/c".
func (p *piece) goesOn(text string, from, end int) bool {
	word := text[from:end]
	if end == p.end {
		return false
	}
	_, size := startsSeparator(text[end:])
	next := text[end+size : p.end]
	if next == "" || strings.HasPrefix(text[end:p.end], "</") {
		return false
	}
	if next[0] == '@' && len(next) > 1 && strings.IndexByte(",;|([{", text[end]) < 0 {
		return true // the quoted name of a mailbox, as in "a"@host
	}
	if mark := text[end : end+size]; strings.Contains("\"`“”„«»‹›「」『』《》", mark) && (p.isPattern(text, next) || joinsQuote(next)) ||
		strings.Contains(">)]}", mark) && next[0] == '.' && joinsQuote(next) {
		return true
	}
	if !strings.ContainsAny(word, `/\`) {
		return false
	}
	if filter := next[:len(next)-len(strings.TrimLeft(next, "abcdefghijklmnopqrstuvwxyz"))]; text[end] == '|' && filters[filter] && (len(filter) == len(next) || next[len(filter)] == '|') {
		return false // for example "cat /a|grep x"
	}
	list := strings.IndexByte(",;|", text[end]) >= 0
	r := firstRune(next)
	switch {
	case r < utf8.RuneSelf && (isAlphanumeric(byte(r)|0x20) || strings.ContainsRune(`/\_$~`, r)):
	case strings.ContainsRune("-.", r) && strings.Trim(next, "-.'!?:*") != "":
	case r >= utf8.RuneSelf && list && unicode.IsLetter(r):
	default:
		return false
	}
	if strings.IndexByte(")]}>", text[end]) >= 0 && r != '/' {
		return false
	}
	return !list || !isPathLead(next) && (isPathLead(word) || !strings.ContainsAny(next, `/\`))
}

// joinsQuote reports whether the text after a closing quote belongs to the quoted text. The
// parameter next is the text after the quote. These do not belong to the quoted text: the end of a
// sentence, the next item of a list, a tag, an "s", or a word of a language without blanks.
func joinsQuote(next string) bool {
	if next[0] == ':' {
		return len(next) > 1 && next[1] >= '0' && next[1] <= '9' // a port
	}
	rest := strings.TrimLeft(next, "'’‘“”„«»‹›「」『』《》…\"`!?.:*_~")
	if less, is := strings.CutPrefix(rest, "s"); is && (less == "" || !isAlphanumeric(less[0]|0x20)) {
		return false
	}
	if rest == "" || strings.IndexByte(",;|<>&)]}", rest[0]) >= 0 {
		return false
	}
	stands, _ := standsBeside(rest)
	return !stands || rest[0] < utf8.RuneSelf
}

// isPattern reports whether the text after a closing quote turns the quoted text into a pattern.
// The parameter next is the text after the quote. The end of a sentence and a mark of emphasis make
// no pattern.
func (p *piece) isPattern(text, next string) bool {
	switch next[0] {
	case '*':
		stars := next[:len(next)-len(strings.TrimLeft(next, "*"))]
		return !strings.HasPrefix(text[p.from:p.end], stars)
	case '?':
		return strings.Trim(next, "'’:!?.*_") != ""
	}
	return next[0] == '['
}

// filters holds programs that people write after a pipe.
var filters = setOf("awk bat cat column cut diff fgrep egrep grep head jq less md more nl od paste perl rev rg sed sort tac tail tee tr uniq wc xargs xxd yq")

// continuesPath reports whether the text between two places is the rest of a path, such as the "/b"
// in "<a>/b". Two things are not the rest of a path: the next item of a list, and the value after
// ":" or "=".
func (p *piece) continuesPath(text string, before, from, end int) bool {
	place := strings.TrimPrefix(text[from:end], ":") // "ana@nas":/srv is on another machine
	if before == p.from || place == "" || place[0] != '/' && place[0] != '\\' || strings.IndexByte(":=", text[before-1]) >= 0 {
		return false
	}
	between := text[before:from]
	if text[p.from:before] == "!" {
		return true // the "!" excludes the quoted path
	}
	if between == ">" && strings.HasPrefix(text[end:], "</") { // for example "<path>/a</path>"
		return false
	}
	_, size := startsSeparator(between)
	return size == len(between) && strings.IndexByte(",;|([{<", between[0]) < 0 && !strings.HasPrefix(text[end:], between)
}

// skipBrackets returns the place after the closing bracket of the bracket at i.
func skipBrackets(text string, i, end int) int {
	depth := 0
	for ; i < end; i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return end
}

// addWord adds the places at both ends of a word: with and without the punctuation around the word,
// and after its scheme. If the parameter continues is true, the word continues an earlier path, and
// addWord adds no place at its beginning. If the parameter goesOn is true, the path goes on after
// the word, and addWord adds no place at its end.
func (p *piece) addWord(text string, from, end int, continues, goesOn bool) {
	starts, ends := p.starts, p.ends
	defer func() {
		if continues {
			p.starts = starts
		}
		if goesOn {
			p.ends = ends
		}
	}()
	p.starts, p.ends = addPlace(p.starts, from), addPlace(p.ends, end)
	inner := text[from:end]
	begin := from + leadingMarks(inner)
	plain := text[begin:end]
	emphasis := plain[:len(plain)-len(strings.TrimLeft(plain, "*_~"))]
	if bare := strings.TrimRight(plain, "'’:!?."); emphasis != "" && emphasis != "~" && len(bare) > 2*len(emphasis) && !isGlob(plain) && strings.HasSuffix(bare, emphasis) {
		n := len(emphasis)
		plain = bare
		end = begin + len(plain) - n
		plain = plain[n : len(plain)-n]
	}
	p.starts = addPlace(p.starts, end-len(plain))
	p.ends = addPlace(p.ends, end)
	if rest, by := trimSchemes(strings.ToLower(plain)); by != noLead && len(rest) < len(plain) && countSlashes(rest) == 0 {
		p.starts = addPlace(p.starts, end-len(rest))
	}
	for _, marks := range [...]string{"'’‘:!?.", "/\\"} {
		less := strings.TrimRight(plain, marks)
		less = plain[:len(less)+ownSegment(less, plain[len(less):])]
		if marks == "/\\" && len(plain)-len(less) > 1 || less == "" {
			continue
		}
		end -= len(plain) - len(less)
		plain = less
		p.ends = addPlace(p.ends, end)
	}
	if n := positionLength(plain); n > 0 {
		p.ends = addPlace(p.ends, end-n)
	}
	for _, possessive := range [...]string{"'s", "’s"} {
		if less, is := strings.CutSuffix(plain, possessive); is {
			p.ends = addPlace(p.ends, end-len(plain)+len(less))
		}
	}
}

// leadingMarks returns the length of the marks before a word that are not part of it. Before a
// path, three marks are part of the word: "!" excludes the path, "?" begins a pattern, and "@"
// begins the name of a package. In "@docs/a.md" the "@" is not part of the path, because people
// write names of files in this way.
func leadingMarks(word string) int {
	plain := strings.TrimLeft(word, "'‘’:!?#@")
	marks := word[:len(word)-len(plain)]
	if !strings.ContainsAny(plain, `/\`) || strings.Trim(marks, "'‘’:#") == "" {
		return len(marks)
	}
	name := strings.TrimRight(plain, "'’:!?.")
	if strings.Trim(marks, "'‘’:#") == "@" && (isPathLead(plain) || strings.HasSuffix(name, "/") || strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ".")) {
		return len(marks)
	}
	return len(marks) - len(strings.TrimLeft(marks, "'‘’:#"))
}

// ownSegment returns the length of the marks after a word if they are the last segment of its path:
// "..", "..." or "?".
func ownSegment(word, marks string) int {
	if word == "" || strings.IndexByte(`/\`, word[len(word)-1]) < 0 {
		return 0
	}
	dots := len(marks) - len(strings.TrimLeft(marks, "."))
	switch {
	case dots > 1:
		return dots
	case strings.HasPrefix(marks, "?"):
		return 1
	}
	return 0
}

// positionLength returns the length of the line and column after a file name, in the form that
// compilers write: "src/main.go:12:5".
func positionLength(word string) int {
	name := word
	for range 2 {
		less := strings.TrimRight(name, "0123456789")
		if less == name || !strings.HasSuffix(less, ":") {
			break
		}
		name = less[:len(less)-1]
	}
	if dot := strings.LastIndexByte(name, '.'); dot < 0 || !files()[strings.ToLower(name[dot+1:])] && (countSlashes(name) > 1 || !strings.ContainsAny(name[:dot], `/\`)) {
		return 0
	}
	return len(word) - len(name)
}

// isGlob reports whether the stars around a word make it a pattern, as in "**/a/**".
func isGlob(word string) bool {
	inner := strings.Trim(word, "*_~'’:!?.")
	return len(inner) > 1 && countSlashes(inner) > 0 && strings.IndexByte(`/\`, inner[len(inner)-1]) >= 0
}

func startsApart(text string) bool {
	is, _ := startsSeparator(text)
	return is
}

func addPlace(places []int, one int) []int {
	if slices.Contains(places, one) {
		return places
	}
	return append(places, one)
}

// edges limits the number of places in a piece at which a phrase of several pieces may begin or
// end. A phrase inside one piece may end at twice as many places.
const edges = 8

// visitPhrases visits the phrases of a typed text, in every form in which a value may be written.
func visitPhrases(text string, visit func(phrase string)) {
	all := splitPieces(text, true, nil)
	for i := range all {
		p := &all[i]
		for _, from := range p.starts {
			behind := 0
			for _, end := range p.ends {
				if from < end && behind < 2*edges {
					behind++
					visit(text[from:end])
					webForms(text[from:end], visit)
				}
			}
		}
		for j := i + 1; j < len(all) && j < i+maxPhrase; j++ {
			ends, glued := all[j].ends, slices.ContainsFunc(all[i:j], func(one piece) bool { return one.glued })
			starts := p.starts
			if j == i+maxPhrase-1 { // a phrase of full length may be part of a longer value
				starts, ends = addPlace(slices.Clip(starts), p.from), addPlace(slices.Clip(ends), all[j].end)
			}
			for _, from := range starts[:min(len(starts), edges)] {
				for _, end := range ends[:min(len(ends), edges)] {
					phrase := text[from:end]
					visit(phrase)
					if plain := strings.ReplaceAll(phrase, `\ `, " "); glued && plain != phrase {
						visit(plain)
					}
					if even := strings.Join(strings.Fields(phrase), " "); !glued && even != phrase {
						visit(even)
					}
				}
			}
		}
	}
}

// webForms visits the other spellings of a web address that the user has typed.
func webForms(typed string, visit func(phrase string)) {
	rest, by := trimSchemes(strings.ToLower(typed))
	host := rest
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		host = rest[:end]
	}
	if strings.Contains(host, "@") || by == noLead && !isDotted(strings.TrimRight(host, "0123456789:")) || by == schemeOf || host == "" {
		return
	}
	if name, _, _ := strings.Cut(host, ":"); by == noLead && !strings.HasPrefix(name, "www.") && !isNumbered(name) && !bareHosts()[name[strings.LastIndexByte(name, '.')+1:]] {
		return // "install.sh" counts as a file, because the user has typed no scheme
	}
	// The host is in lower case; the rest stays as it was typed.
	lead, path := strings.ToLower(typed[:len(typed)-len(rest)]), typed[len(typed)-len(rest)+len(host):]
	if lead == "" {
		lead = "https://"
		visit(host + path)
	}
	visit(lead + host + path)
	if path == "" {
		visit(lead + host + "/")
	}
}

// bareHosts holds the endings that make a name without a scheme a host name. Other top-level
// domains are also endings of files: main.tf, main.cc, Photo.app, Dockerfile.dev.
var bareHosts = sync.OnceValue(func() map[string]bool {
	return setOf(`com org net edu gov mil int biz io cloud tech online shop blog test example
	at au be ca ch cn cz de dk ee es eu fi fr gr hk hu ie il it jp kr lt lv mx nl no nz ph ru se sg sk th tw ua uk us vn za
	рф 中国 香港 台湾`)
})

// foldPhrase returns a phrase in lower case, for comparisons. It returns two kinds of phrases
// unchanged. In a path, case matters. And some letters, such as the sign for Kelvin ("K"), have a
// plain letter as lower case, so the result could name another host.
func foldPhrase(phrase string) string {
	if strings.ContainsAny(phrase, `/\`) {
		return phrase
	}
	for _, r := range phrase {
		if r >= utf8.RuneSelf && strings.ToLower(norm.NFC.String(string(r)))[0] < utf8.RuneSelf {
			return phrase
		}
	}
	for i := range len(phrase) {
		if c := phrase[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return strings.ToLower(norm.NFC.String(phrase))
		}
	}
	return phrase
}
