package viewtest

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Check fails t if the screen does not show the call of c as it will be executed. It also fails if
// the screen contains characters that hide, move, reorder or imitate text. screen is the text that
// a person sees: the rows of an emulator, the text of a page, or a message.
func Check(t testing.TB, c Case, screen string) {
	t.Helper()
	report(t, c, screen, Problems(c, screen))
}

// CheckHarmless is like Check for a text that has no room for the complete call, such as a
// notification or a log line. It checks only that the text contains nothing forbidden.
func CheckHarmless(t testing.TB, c Case, screen string) {
	t.Helper()
	report(t, c, screen, harms(c, screen))
}

func report(t testing.TB, c Case, screen string, problems []string) {
	t.Helper()
	if len(problems) > 0 {
		t.Errorf("%s (%s):\n%s\nscreen:\n%s", c.Name, c.Technique, strings.Join(problems, "\n"), screen)
	}
}

// Problems returns the problems that Check would report, or nil if there are none.
func Problems(c Case, screen string) []string {
	problems := harms(c, screen)
	seen := squeeze(screen)
	for _, s := range append([]string{c.Server}, c.Tools...) {
		if !strings.Contains(seen, squeeze(s)) {
			problems = append(problems, "not seen: "+s)
		}
	}
	rest := seen
	for _, s := range c.Shows {
		_, after, found := strings.Cut(rest, squeeze(s))
		if !found {
			problems = append(problems, "not seen, or not in its place: "+s)
			continue
		}
		rest = after
	}
	return problems
}

// frames are the characters that draw borders or mark continued rows. A screen never shows
// characters of the box drawing range as part of a value.
const frames = "│┃║▌▐|─━┄┆↳"

// squeeze removes the spaces and frames that a screen adds to a text.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune(frames, r) {
			return -1
		}
		return r
	}, s)
}

// harms returns a problem for each forbidden character or text on the screen.
func harms(c Case, screen string) []string {
	var problems []string
	if !utf8.ValidString(screen) {
		problems = append(problems, "not UTF-8")
	}
	marks := 0
	for _, r := range screen {
		if why := harm(r); why != "" {
			problems = append(problems, fmt.Sprintf("%U: %s", r, why))
		}
		if marks++; !unicode.IsMark(r) {
			marks = 0
		} else if marks > 4 {
			problems = append(problems, "marks are stacked")
			break
		}
	}
	for line := range strings.Lines(screen) {
		start := strings.ReplaceAll(strings.TrimLeft(line, " │┃║|"), " ", "")
		for _, never := range c.Never {
			if strings.HasPrefix(start, strings.ReplaceAll(never, " ", "")) {
				problems = append(problems, "a value made this line: "+line)
			}
		}
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if mixed(word) {
				problems = append(problems, fmt.Sprintf("letters that look alike: %+q", word))
			}
		}
	}
	return problems
}

// harm returns the reason why a character is forbidden on a screen, or "" if it is allowed. It uses
// no code of the packages that these tests check.
func harm(r rune) string {
	switch {
	case r == '\n':
		return ""
	case unicode.IsControl(r):
		return "control character"
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return "invisible, or turns the direction of text"
	case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko):
		return "turns the direction of text"
	case unicode.In(r, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point), r == utf8.RuneError:
		return "nobody knows how it is drawn"
	case unicode.IsSpace(r) && r != ' ', strings.ContainsRune("\u2800\u3164\u115f\u1160\uffa0\U0001d159", r):
		return "blank that is none"
	case r >= 0xff01 && r <= 0xff5e && !strings.ContainsRune("！（），：；？", r), r >= 0x1d400 && r <= 0x1d7ff:
		return "another form of an ASCII character"
	case strings.ContainsRune("\u2044\u2215\u29f8\u2236\ua789\u01c3\u2024", r):
		return "drawn like ASCII punctuation"
	case !unicode.IsPrint(r):
		return "not printable"
	}
	return ""
}

// mixed reports whether a word may imitate another word. Such a word mixes Latin letters with
// letters of another script, or it has only Cyrillic letters that look like Latin letters.
func mixed(word string) bool {
	latin, foreign, alike := false, false, true
	for _, r := range word {
		latin = latin || unicode.Is(unicode.Latin, r)
		foreign = foreign || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
		alike = alike && strings.ContainsRune("асеорхуіјѕАВЕКМНОРСТХ", r)
	}
	return latin && foreign || alike && foreign
}
