package term

import (
	"strings"
	"testing"
	"unicode"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/visibletest"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "rm -rf /tmp/a_b?x=1&y=2", "rm -rf /tmp/a_b?x=1&y=2"},
		{"empty", "", ""},
		{"backslash and quote", `C:\a "b"`, `C:\\a \"b\"`},
		{"escape sequence", "\x1b[2Jx", `\u{1b}[2Jx`},
		{"one byte C1", "\x9b2J", `\x{9b}2J`},
		{"C1", "\u009b2J", `\u{9b}2J`},
		{"line ends", "a\r\nb\tc", `a\u{d}\nb\tc`},
		{"nul and delete", "\x00\x7f", `\u{0}\u{7f}`},
		{"written escape", `\u{1b}`, `\\u{1b}`},
		{"bidi override", "a\u202etxt.exe", `a\u{202e}txt.exe`},
		{"isolates and marks", "\u2066\u2069\u200e\u061c", `\u{2066}\u{2069}\u{200e}\u{61c}`},
		{"zero width", "a\u200bb\u200dc\ufeffd\u2060", `a\u{200b}b\u{200d}c\u{feff}d\u{2060}`},
		{"soft hyphen, joiner", "a\u00adb\u034fc", `a\u{ad}b\u{34f}c`},
		{"tags", "a\U000e0041\U000e007f", `a\u{e0041}\u{e007f}`},
		{"variation selectors", "a\ufe0f\U000e0100", `a\u{fe0f}\u{e0100}`},
		{"fillers", "a\u3164b\u115f\uffa0\u2800", `a\u{3164}b\u{115f}\u{ffa0}\u{2800}`},
		{"separators", "a\u2028b\u2029c", `a\u{2028}b\u{2029}c`},
		{"spaces", "a\u00a0b\u3000c\u2009", `a\u{a0}b\u{3000}c\u{2009}`},
		{"many spaces", "a      b", `a   \u{20}\u{20}\u{20}b`},
		{"private and unassigned", "\ue000\U00100000\u0378\uffff", `\u{e000}\u{100000}\u{378}\u{ffff}`},
		{"not UTF-8", "a\xffb\xc0\xaf\xed\xa0\x80", `a\x{ff}b\x{c0}\x{af}\x{ed}\x{a0}\x{80}`},
		{"replacement character", "a\ufffd", `a\u{fffd}`},
		{"letters", "Größe naïve żółć", "Größe naïve żółć"},
		{"cyrillic", "привет мир", "привет мир"},
		{"greek", "Καλημέρα", "Καλημέρα"},
		{"chinese", "你好，世界", "你好，世界"},
		{"japanese", "ファイルを読むAPI", "ファイルを読むAPI"},
		{"korean", "안녕 세계", "안녕 세계"},
		{"hindi", "नमस्ते", "नमस्ते"},
		{"mixed scripts", "pаypal", `p\u{430}ypal`},
		{"mixed by digit", "a०", `a\u{966}`},
		{"mixed digits", "1१2", `1\u{967}2`},
		{"digits of a script", "१०", "१०"},
		{"all look-alikes", "сору", `\u{441}\u{43e}\u{440}\u{443}`},
		{"look-alike between slashes", "/рас/x", `/\u{440}\u{430}\u{441}/x`},
		{"hebrew", "שלום", `\u{5e9}\u{5dc}\u{5d5}\u{5dd}`},
		{"arabic", "ملف1", `\u{645}\u{644}\u{641}1`},
		{"decomposed", "e\u0301", `e\u{301}`},
		{"decomposed korean", "\u1112\u1161\u11ab", "\u1112" + `\u{1161}\u{11ab}`},
		{"old korean", "\u1112\ud7b0\ud7fb", "\u1112" + `\u{d7b0}\u{d7fb}`},
		{"decomposed cyrillic", "и\u0306", `и\u{306}`},
		{"strike through", "a\u0336b\u0338", `a\u{336}b\u{338}`},
		{"zalgo", "ж" + strings.Repeat("\u0336", 5), "ж\u0336\u0336\u0336" + `\u{336}\u{336}`},
		{"mark alone", "\u0301a", `\u{301}a`},
		{"mark on an escape", "\u202e\u0301", `\u{202e}\u{301}`},
		{"enclosing", "ж\u20dd", `ж\u{20dd}`},
		{"fullwidth", "ｒｍ／", `\u{ff52}\u{ff4d}\u{ff0f}`},
		{"mathematical", "𝗋𝗆", `\u{1d5cb}\u{1d5c6}`},
		{"ligature and kelvin", "ﬁ\u212a", `\u{fb01}\u{212a}`},
		{"ellipsis", "a…", `a\u{2026}`},
		{"greek question mark", "a\u037e", `a\u{37e}`},
		{"slashes", "a\u2215b\u2044c\u29f8d\u2571", `a\u{2215}b\u{2044}c\u{29f8}d\u{2571}`},
		{"click letter", "a\u01c3", `a\u{1c3}`},
		{"symbols whose width has changed", "\u2630\u2637\u268a\u4dc0\u4dff\U0001d360", `\u{2630}\u{2637}\u{268a}\u{4dc0}\u{4dff}\u{1d360}`},
		{"box", "│ ─ █", `\u{2502} \u{2500} \u{2588}`},
		{"emoji", "ok 😀👍🏽", `ok \u{1f600}\u{1f44d}\u{1f3fd}`},
		{"typography", "“quoted” – price 5 € ½", `“quoted” – price 5 € \u{bd}`},
		{"annotation", "\ufff9a\ufffb", `\u{fff9}a\u{fffb}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := VisibleLine(c.in); got != c.want {
				t.Errorf("Visible(%+q)\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

func TestValueFolds(t *testing.T) {
	short := strings.Repeat("é", headRunes+tailRunes)
	if got := VisibleValue(short); got != `"`+short+`"` {
		t.Errorf("a value of %d characters was folded: %s", headRunes+tailRunes, got)
	}
	long := strings.Repeat("a", headRunes) + "HIDDEN" + strings.Repeat("z", tailRunes)
	got := VisibleValue(long)
	want := `"` + strings.Repeat("a", headRunes) + `" … "` + strings.Repeat("z", tailRunes) + `" (306 characters, SHA-256 `
	if !strings.HasPrefix(got, want) || strings.Contains(got, "HIDDEN") {
		t.Errorf("got %s\nwant %s…", got, want)
	}
	if other := VisibleValue(strings.Replace(long, "HIDDEN", "hidden", 1)); other == got {
		t.Error("two long values that differ in the middle are shown alike")
	}
	if fake := `"` + ` … "z" (9 characters, SHA-256 000000000000)`; strings.Contains(VisibleValue(fake), `" …`) {
		t.Errorf("a value imitates the mark of a fold: %s", VisibleValue(fake))
	}
	if n := len(VisibleValue(strings.Repeat("\x1b", 1<<20))); n > 4096 {
		t.Errorf("a long value is shown in %d bytes", n)
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{
		"", "a b", `\u{1b}`, "\x1b]52;c;eA==\a", "a\u202eb", "e\u0301", "\xff\xfe", "pаypal", strings.Repeat("x ", 200),
		"\U000e0041", "﷽", "नमस्ते", "a        b", `\`, `"`, "\u0600\u0301",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := VisibleLine(s)
		if err := visibletest.Harmless(v); err != nil {
			t.Fatalf("Visible(%+q) = %+q: %v", s, v, err)
		}
		got, err := visibletest.Back(v)
		if err != nil || got != s {
			t.Fatalf("Visible(%+q) = %+q reads back as %+q (%v)", s, v, got, err)
		}
		if slow := unescape().Replace(v); VisibleText(s) != slow {
			t.Fatalf("Text(%+q) = %+q, not %+q", s, VisibleText(s), slow)
		}
		if err := visibletest.Harmless(VisibleValue(s)); err != nil {
			t.Fatalf("Value(%+q): %v", s, err)
		}
	})
}

// Whatever single character comes, alone or after a letter: it is harmless.
func TestEveryCharacterIsHarmless(t *testing.T) {
	slow.Test(t)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x32400 && (r < 0xe0000 || r > 0xe1000) && r%997 != 0 {
			continue // unassigned or private, thousands alike
		}
		for _, s := range []string{string(r), "ж" + string(r)} {
			if err := visibletest.Harmless(VisibleLine(s)); err != nil {
				t.Fatalf("%U: %v", r, err)
			}
		}
	}
}

func TestCutText(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"äöü", 3, "äöü"}, {"äöüx", 3, "äöü…"}, {"a\xff\xfeb", 3, "a\xff\xfe…"}, {"x", 0, "…"}} {
		if got := CutText(c.text, c.most); got != c.want {
			t.Errorf("%q, %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
