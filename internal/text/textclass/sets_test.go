package textclass

import (
	"strings"
	"testing"
	"unicode"

	"github.com/clawai/clawai/internal/testing/slow"
)

// What each consumer refused, dropped or marked by a set of its own, before there was
// this package, and what the union takes besides.
func TestTheUnionsHoldWhatTheyReplaced(t *testing.T) {
	slow.Test(t)
	ignorable := func(r rune) bool {
		return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	}
	printed := func(r rune) bool { return unicode.IsPrint(r) && !ignorable(r) }
	for _, c := range []struct {
		name        string
		now, was    func(rune) bool
		more, fewer string
	}{
		{"names", OddInName, func(r rune) bool {
			return r < ' ' || r >= 0x7f && (r == 0xfffd || r == 0x2800 || ignorable(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z, unicode.Co))
		}, noncharacters + "\U0001d159", ""},
		{"paths", func(r rune) bool { return r >= 0xad && OddInPath(r) }, func(r rune) bool {
			return r >= 0xad && (unicode.Is(unicode.Cf, r) || 0xe0000 <= r && r <= 0xe0fff || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe ||
				strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0", r))
		}, "\u2065\u2800\ufff0\ufff1\ufff2\ufff3\ufff4\ufff5\ufff6\ufff7\ufff8\U0001d159", ""},
		{"URLs", OddInSyntax, func(r rune) bool {
			return r <= ' ' || r == 0x7f || r >= 0x80 && (r == 0xfffd || unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp))
		}, "", ""},
		{"commands", OddInSyntax, func(r rune) bool {
			return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == 0xfffd
		}, "", ""},
		{"control characters of paths", IsControl, func(r rune) bool { return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 }, "", ""},
		{"hosts", Ignorable.HasRune, func(r rune) bool { return r == 0x34f || ignorable(r) }, "", ""},
		{"what is learned", IsSeen, printed, "", "\u2800\U0001d159"},
		{"marks of direction", Direction.HasRune, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }, "", ""},
		{"hidden in a question", IsHidden, func(r rune) bool {
			return ignorable(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r != ' ' && r != 0x3000 && unicode.Is(unicode.Zs, r) || r == 0x2800 || r == 0x1d159
		}, "", ""},
		{"not drawn", func(r rune) bool { return r != 0x180e && IsUndrawn(r) }, func(r rune) bool { // U+180E has the category Cf
			return ignorable(r) || r != 0x180e && strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0\U0001d159", r)
		}, "", ""},
	} {
		more, fewer := map[rune]bool{}, map[rune]bool{}
		for _, r := range c.more {
			more[r] = true
		}
		for _, r := range c.fewer {
			fewer[r] = true
		}
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if r == 0x40000 {
				r = 0xdfffe // nothing is assigned between
			}
			if now, was := c.now(r), c.was(r); now != was && !(now && more[r]) && !(was && fewer[r]) || !now && more[r] || now && fewer[r] {
				t.Errorf("%s: %U: %v", c.name, r, now)
			}
		}
	}
}

const noncharacters = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6\ufdd7\ufdd8\ufdd9\ufdda\ufddb\ufddc\ufddd\ufdde\ufddf" +
	"\ufde0\ufde1\ufde2\ufde3\ufde4\ufde5\ufde6\ufde7\ufde8\ufde9\ufdea\ufdeb\ufdec\ufded\ufdee\ufdef\ufffe\uffff" +
	"\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe\U0003ffff\U0004fffe\U0004ffff\U0005fffe\U0005ffff\U0006fffe\U0006ffff" +
	"\U0007fffe\U0007ffff\U0008fffe\U0008ffff\U0009fffe\U0009ffff\U000afffe\U000affff\U000bfffe\U000bffff\U000cfffe\U000cffff" +
	"\U000dfffe\U000dffff\U000efffe\U000effff\U000ffffe\U000fffff\U0010fffe\U0010ffff"

// What the comments say of the sets.
func TestTheSetsAreWhatTheyAreCalled(t *testing.T) {
	slow.Test(t)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, c := range []struct {
			name        string
			part, whole bool
		}{
			{"direction is format", Direction.HasRune(r), Format.HasRune(r)},
			{"an emoji's selector is ignorable", EmojiSelector.HasRune(r), Ignorable.HasRune(r)},
			{"a tag is format or ignorable", Tag.HasRune(r), Format.HasRune(r) || Ignorable.HasRune(r)},
			{"a line break is one of LineBreaks", LineBreak.HasRune(r), strings.ContainsRune(LineBreaks, r)},
			{"LineBreaks are Controls", r != 0xfffd && strings.ContainsRune(LineBreaks, r), IsControl(r)},
			{"what is like a blank is none", BlankLike.HasRune(r), !Blank.HasRune(r) && !Ignorable.HasRune(r)},
			{"Blanks are Blank", strings.ContainsRune(Blanks, r), Blank.HasRune(r)},
			{"Blank is Blanks", Blank.HasRune(r), strings.ContainsRune(Blanks, r)},
		} {
			if c.part && !c.whole {
				t.Errorf("%U: not so: %s", r, c.name)
			}
		}
	}
	if NarrowRune('Ａ') != 'A' || NarrowRune('！') != '!' || NarrowRune('～') != '~' || NarrowRune('é') != 'é' || NarrowRune('｟') != '｟' {
		t.Error("full-width forms are not made narrow")
	}
}
