package flow

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPhrase is how many pieces in a row, with blanks between them, are marked together. A
// longer value is known by all its phrases of that length.
const maxPhrase = 8

// piece is a part of a text between blanks, and the places at which a value that somebody
// names may begin and end in it: before and behind quotes, brackets, commas and the like.
type piece struct {
	from, end    int
	starts, ends []int
}

// pieces are those of a text; of a value, which is compared exactly, only from and end count.
func pieces(text string, places bool, all []piece) []piece {
	for i := 0; i < len(text); {
		size := blank(text[i:])
		if size > 0 {
			i += size
			continue
		}
		p := piece{from: i}
		for i < len(text) && blank(text[i:]) == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
		if p.end = i; places {
			p.find(text)
		}
		all = append(all, p)
	}
	return all
}

// blank is how long the blank is with which a text begins, 0 where it begins with none.
func blank(text string) int {
	if text[0] < utf8.RuneSelf {
		if text[0] <= ' ' || text[0] == 0x7f {
			return 1
		}
		return 0
	}
	if ends, size := apart(text); ends && !strings.ContainsRune("“”«»…", firstRune(text)) {
		return size
	}
	return 0
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// find fills in where a value may begin and end. A bracket within a word, as in "a(1)" or
// "a/{b,c}", is a part of it.
func (p *piece) find(text string) {
	p.starts, p.ends = append(p.starts, p.from), append(p.ends, p.end)
	word := p.from
	for i := p.from; i <= p.end; {
		is, size := true, 1
		if i < p.end {
			is, size = apart(text[i:])
		}
		if !is {
			i += size
			continue
		}
		if i < p.end && strings.IndexByte("([{", text[i]) >= 0 {
			if end := skipBrackets(text, i, p.end); i > word || end < p.end && !startsApart(text[end:]) {
				i = end
				continue
			}
		}
		if i > word {
			p.word(text, word, i)
		}
		i += size
		word = i
	}
}

// skipBrackets is where the word goes on that has a bracket at i.
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

// word adds the places at the ends of a word, with and without what people write around
// one, and behind the scheme in front of it.
func (p *piece) word(text string, from, end int) {
	p.starts, p.ends = addPlace(p.starts, from), addPlace(p.ends, end)
	inner := text[from:end]
	plain := strings.TrimLeft(inner, "'‘’:!?#@")
	emphasis := plain[:len(plain)-len(strings.TrimLeft(plain, "*_~"))]
	if n := len(emphasis); n > 0 && len(plain) > 2*n && strings.HasSuffix(strings.TrimRight(plain, "'’:!?."), emphasis) {
		plain = strings.TrimRight(plain, "'’:!?.")
		end = from + len(inner) - len(strings.TrimLeft(inner, "'‘’:!?#@")) + len(plain) - n
		plain = plain[n : len(plain)-n]
	} else {
		end = from + len(inner) - len(strings.TrimLeft(inner, "'‘’:!?#@")) + len(plain)
	}
	p.starts = addPlace(p.starts, end-len(plain))
	p.ends = addPlace(p.ends, end)
	if rest, by := unled(strings.ToLower(plain)); by != noLead && len(rest) < len(plain) {
		p.starts = addPlace(p.starts, end-len(rest))
	}
	for _, marks := range [...]string{"'’:!?.", "/\\"} {
		less := strings.TrimRight(plain, marks)
		if marks == "/\\" && len(plain)-len(less) > 1 || less == "" {
			continue
		}
		end -= len(plain) - len(less)
		plain = less
		p.ends = addPlace(p.ends, end)
	}
	for _, possessive := range [...]string{"'s", "’s"} {
		if less, is := strings.CutSuffix(plain, possessive); is {
			p.ends = addPlace(p.ends, end-len(plain)+len(less))
		}
	}
}

func startsApart(text string) bool {
	is, _ := apart(text)
	return is
}

func addPlace(places []int, one int) []int {
	if slices.Contains(places, one) {
		return places
	}
	return append(places, one)
}

// edges bounds how many places of a piece a phrase may begin and end at where it has more
// pieces; within one piece it ends at the next of twice as many.
const edges = 8

// phrases visits the phrases of what somebody typed, each as a value may have it.
func phrases(text string, visit func(phrase string)) {
	all := pieces(text, true, nil)
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
			ends := all[j].ends
			for _, from := range p.starts[:min(len(p.starts), edges)] {
				for _, end := range ends[:min(len(ends), edges)] {
					phrase := text[from:end]
					visit(phrase)
					if even := strings.Join(strings.Fields(phrase), " "); even != phrase {
						visit(even)
					}
				}
			}
		}
	}
}

// webForms visits how else a web address is written that somebody typed.
func webForms(typed string, visit func(phrase string)) {
	rest, by := unled(strings.ToLower(typed))
	host := rest
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		host = rest[:end]
	}
	if strings.Contains(host, "@") || by == noLead && !isDotted(strings.TrimRight(host, "0123456789:")) || by == schemeOf || host == "" {
		return
	}
	// The host is in lower case, what stands behind it as it was typed.
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

// compared is a phrase as it is compared: in lower case, unless it has a path, of which
// other letters are another one.
func compared(phrase string) string {
	if strings.ContainsAny(phrase, `/\`) {
		return phrase
	}
	for i := range len(phrase) {
		if c := phrase[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return strings.ToLower(norm.NFC.String(phrase))
		}
	}
	return phrase
}
