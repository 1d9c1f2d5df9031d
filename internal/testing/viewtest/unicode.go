package viewtest

import "strings"

// directions has texts that change the direction of text (UAX 9).
var directions = []row{
	{"right-to-left override", "U+202E turns a name's ending around; MITRE T1036.002", "/safe/\u202egpj.exe", all(`/safe/\u{202e}gpj.exe`), nil},
	{"override and its end", "Trojan Source, CVE-2021-42574", "if a\u202e\u2066// check\u2069\u2066 {", all(`if a\u{202e}\u{2066}// check\u{2069}\u{2066} {`), nil},
	{"isolates", "LRI, RLI, FSI, PDI; CVE-2021-42574", "\u2067a\u2069 \u2066b\u2069 \u2068c", all(`\u{2067}a\u{2069} \u{2066}b\u{2069} \u{2068}c`), nil},
	{"embeddings", "LRE, RLE, PDF", "\u202aa\u202bb\u202cc", all(`\u{202a}a\u{202b}b\u{202c}c`), nil},
	{"marks of direction", "LRM, RLM, ALM", "a\u200eb\u200fc\u061cd", all(`a\u{200e}b\u{200f}c\u{61c}d`), nil},
	{"Hebrew name", "right-to-left letters move the parts of a path", "/home/\u05e7\u05d5\u05d1\u05e5/file", all(`/home/\u{5e7}\u{5d5}\u{5d1}\u{5e5}/file`), nil},
	{"Arabic name", "the same, with digits", "/home/\u0645\u0644\u0641123/file", all(`/home/\u{645}\u{644}\u{641}123/file`), nil},
	{"Arabic digits", "digits of their own direction", "\u0661\u0662\u0663", all(`\u{661}\u{662}\u{663}`), nil},
	{"Arabic ligature", "one character as wide as a sentence", "a\ufdfdb", all(`a\u{fdfd}b`), nil},
	{"deprecated formats", "U+206A to U+206F", "a\u206a\u206fb", all(`a\u{206a}\u{206f}b`), nil},
}

// invisible has texts with characters that a screen does not draw.
var invisible = []row{
	{"zero width", "ZWSP, ZWNJ, ZWJ, BOM within a word", "pass\u200bword\u200c\u200d\ufeff", all(`pass\u{200b}word\u{200c}\u{200d}\u{feff}`), nil},
	{"word joiner", "WJ and invisible operators", "a\u2060b\u2061c\u2064d", all(`a\u{2060}b\u{2061}c\u{2064}d`), nil},
	{"soft hyphen", "SHY", "pass\u00adword", all(`pass\u{ad}word`), nil},
	{"tag characters", "a hidden order in U+E0000 to U+E007F (ASCII smuggling)", "hi\U000e0069\U000e0067\U000e006e\U000e007f", all(`hi\u{e0069}\u{e0067}\u{e006e}\u{e007f}`), nil},
	{"variation selectors", "hidden bytes behind an emoji", "a\ufe0f\U000e0101\U000e01ef", all(`a\u{fe0f}\u{e0101}\u{e01ef}`), nil},
	{"Mongolian separators", "FVS and MVS", "a\u180b\u180eb", all(`a\u{180b}\u{180e}b`), nil},
	{"Hangul filler", "a letter that is drawn as nothing", "a\u3164\u115fb\uffa0", all(`a\u{3164}\u{115f}b\u{ffa0}`), nil},
	{"Braille blank", "a symbol that is drawn as nothing", "a\u2800\u2800b", all(`a\u{2800}\u{2800}b`), nil},
	{"Khmer vowels", "letters that are drawn as nothing", "a\u17b4\u17b5b", all(`a\u{17b4}\u{17b5}b`), nil},
	{"musical null", "a symbol that is drawn as nothing", "a\U0001d159b", all(`a\u{1d159}b`), nil},
	{"joiner", "U+034F", "a\u034fb", all(`a\u{34f}b`), nil},
	{"annotations", "U+FFF9 to U+FFFB hide what they annotate", "\ufff9a\ufffab\ufffb", all(`\u{fff9}a\u{fffa}b\u{fffb}`), nil},
	{"no-break blanks", "blanks that shells do not take for blanks", "rm\u00a0-rf\u2009/\u3000x", all(`rm\u{a0}-rf\u{2009}/\u{3000}x`), nil},
	{"flag of tags", "an emoji that holds text", "\U0001f3f4\U000e0067\U000e0062\U000e007f", all(`\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}`), nil},
	{"joined emoji", "terminals disagree how wide it is", "\U0001f468\u200d\U0001f469\u200d\U0001f467!", all(`\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}!`), nil},
	{"combining flood", "marks climb over other lines; CVE-2021-27135 (xterm)", "a" + strings.Repeat("\u0335", 200), all(`a\u{335}\u{335}\u{335}`), nil},
	{"combining alone", "marks on our own quote", "\u0300\u0301x", all(`\u{300}\u{301}x`), nil},
	{"strike through", "an overlay turns one letter into another", "no\u0336t\u0338", all(`no\u{336}t\u{338}`), nil},
	{"enclosing", "a mark as large as several letters", "\u0436\u20dd\u0489x", all(`\u{20dd}\u{489}x`), nil},
	{"private use", "drawn as the font's owner likes", "a\ue0b0\U000f0000b", all(`a\u{e0b0}\u{f0000}b`), nil},
	{"unassigned", "drawn differently tomorrow", "a\u0378\U0001ffffb", all(`a\u{378}\u{1ffff}b`), nil},
	{"replacement", "what text that cannot be read looks like", "a\ufffd\ufffeb", all(`a\u{fffd}\u{fffe}b`), nil},
}

// alike has texts that look like other texts.
var alike = []row{
	{"mixed scripts", "a Cyrillic letter in a Latin word; CVE-2021-42694", "/home/us\u0435r/.ssh", all(`/home/us\u{435}r/.ssh`), nil},
	{"all look-alikes", "a Cyrillic word that reads as a Latin one (IDN homograph)", "\u0441\u043e\u0440\u0443", all(`\u{441}\u{43e}\u{440}\u{443}`), nil},
	{"domain", "an IDN homograph of a known one", "https://\u0440\u0430\u0443\u0440\u0430l.com", all(`https://\u{440}\u{430}\u{443}\u{440}\u{430}l.com`), nil},
	{"Greek omicron", "in a Latin word", "g\u03bf\u03bfgle", all(`g\u{3bf}\u{3bf}gle`), nil},
	{"fullwidth", "NFKC makes it /etc/passwd", "\uff0fetc\uff0fpasswd", all(`\u{ff0f}etc\u{ff0f}passwd`), nil},
	{"fullwidth letters", "NFKC makes it rm", "\uff52\uff4d -\uff52\uff46", all(`\u{ff52}\u{ff4d} -\u{ff52}\u{ff46}`), nil},
	{"mathematical", "NFKC makes it rm -rf", "\U0001d5cb\U0001d5c6 -\U0001d5cb\U0001d5bf", all(`\u{1d5cb}\u{1d5c6} -\u{1d5cb}\u{1d5bf}`), nil},
	{"slashes", "division and fraction slashes", "a\u2215b\u2044c\u29f8d", all(`a\u{2215}b\u{2044}c\u{29f8}d`), nil},
	{"dots and colons", "leader, ratio", "a\u2024b\u2236c\ua789", all(`a\u{2024}b\u{2236}c\u{a789}`), nil},
	{"click letter", "looks like an exclamation mark", "a\u01c3b", all(`a\u{1c3}b`), nil},
	{"Cherokee", "letters that all look Latin", "r\u13d2m", all(`r\u{13d2}m`), nil},
	{"ligature and Kelvin", "other forms of letters", "\ufb01le \u212a", all(`\u{fb01}le \u{212a}`), nil},
	{"decomposed", "one look, two spellings", "cafe\u0301", all(`cafe\u{301}`), nil},
	{"decomposed Korean", "letters that join to what one character is too", "\u1112\u1161\u11ab", all(`\u{1161}\u{11ab}`), nil},
	{"digits", "digits of another script", "1\u09672", all(`1\u{967}2`), nil},
	{"ideographic full stop", "browsers take it for a dot", "https://good.example\u3002evil.example", all(`https://good.example`, `evil.example`), nil},
}

// long has texts that are long enough to push something out of view.
var long = []row{
	{"very long", "the end is out of sight", strings.Repeat("a", 100000) + "TAIL", all("aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaTAIL", "100004 characters"), nil},
	{"long, the point in the middle", "head and tail are harmless", strings.Repeat("a", 400) + "; rm -rf / ;" + strings.Repeat("b", 400),
		all("aaaaaaaa", "bbbbbbbb", "812 characters"), nil},
	{"newline flood", "line ends push the question off the screen", "ls" + strings.Repeat("\n", 250) + "; rm -rf /", all("ls", "; rm -rf /"), nil},
	{"newlines by the thousand", "the same, and too long to show", "ls" + strings.Repeat("\n", 5000) + "; rm -rf /", all("ls", "; rm -rf /", "5012 characters"), nil},
	{"blank flood", "blanks push the rest out of sight", "ls" + strings.Repeat(" ", 250) + "; rm -rf /", all(`ls`, `\u{20}`, `; rm -rf /`), nil},
	{"tab flood", "tabs do", "ls" + strings.Repeat("\t", 60) + "; rm", all(`ls`, `; rm`), nil},
	{"wide", "two cells a character", strings.Repeat("\u6f22", 299), all(strings.Repeat("\u6f22", 299)), nil},
	{"escapes that are long", "each character becomes ten", strings.Repeat("\U0010ffff", 290) + "END", all(`\u{10ffff}\u{10ffff}`, `\u{10ffff}END`), nil},
	{"nothing", "an empty text is not a missing one", "", all(`""`), nil},
	{"blanks only", "they are seen between quotes", "   ", all(`""`), nil},
	{"blank at both ends", "tools trim it", " /etc/passwd ", all(`"/etc/passwd"`), nil},
}
