package textclass

// LatinLike are letters of other scripts that look like Latin letters. A reader takes a word of
// such letters for a Latin word.
const LatinLike = "асԁеһіјӏорԛѕухѵԝАВЕНІЈКМОРЅТХУЅԌԚԜ" +
	"οναιγκρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "օսոցզհքԼՏՕ"

// SignLike are characters that Unicode classifies as ordinary letters or signs, but that look like
// ASCII signs or letters: slashes, colons, bars, dots, and letters of the phonetic alphabet.
const SignLike = "\u2044\u2215\u2216\u29f8\u29f9\u2223\u2236\ua789\u02d0\u02d1\u02f8" +
	"\u01c0\u01c1\u01c2\u01c3\u0251\u0261\u0269\u2010\u2012\u2212\u02bc\u02bb\u02c8\u02cb\u02d7" +
	"\u06d4\u0701\u0702\u1427\u1735\u1803\u1809\u16eb\ua60e\ua4fa\ua4f8\u2039\u203a\u276e\u276f"

// WideProse is wide punctuation that is common in Chinese and Japanese prose. A reader does not
// mistake it for ASCII, because it is two cells wide.
const WideProse = "\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"

// NarrowRune returns the ASCII character of which r is the full-width form; otherwise r.
func NarrowRune(r rune) rune {
	if r >= 0xff01 && r <= 0xff5e {
		return r - 0xff01 + '!'
	}
	return r
}
