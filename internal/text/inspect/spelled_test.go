package inspect

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

// A key is found however its letters are spelled, from its first letter to its last.
func TestKeysInAnotherSpelling(t *testing.T) {
	each := func(before string, of func(byte) string) string {
		var b strings.Builder
		for i := range len(key) {
			b.WriteString(before + of(key[i]))
		}
		return b.String()
	}
	hexOf := func(c byte) string { return hex.EncodeToString([]byte{c}) }
	const first, rest = "ghp_16C7e42F292c", "6912E7710c838347Ae178B4a"
	b64 := base64.StdEncoding.EncodeToString
	for name, spelled := range map[string]string{
		"percent, the underscore": "ghp%5F" + key[4:], "percent, all": each("%", hexOf), "percent, the first": "%67hp_" + key[4:], "percent, within": first + "%36" + rest[1:],
		"percent, twice": "ghp%255f" + key[4:], "percent, three times": "ghp%25255F" + key[4:],
		"decimal reference": "&#103;hp_" + key[4:], "hexadecimal reference": "gh&#x70;_" + key[4:], "reference without its semicolon": "gh&#112_" + key[4:], "reference by name": "ghp&lowbar;" + key[4:], "reference that is not drawn": first + "&shy;" + rest, "a wide blank of no width": first + "&ZeroWidthSpace;" + rest,
		"Markdown": `ghp\_` + key[4:], "Markdown in JSON": `ghp\\_` + key[4:], "x": each(`\x`, hexOf), "u": `\u0067\u0068\u0070\u005f` + key[4:], "u in a text in a text": `ghp\\u005f` + key[4:], "u with braces": `\u{67}hp_` + key[4:], "x with braces": `\x{67}hp_` + key[4:], "U": `\U00000067hp_` + key[4:], "octal": `\147hp_` + key[4:],
		"quoted-printable": "ghp=5F" + key[4:], "quoted-printable, a line goes on": first + "=\r\n" + rest, "quoted-printable, with LF": first + "=\n" + rest, "shell, a line goes on": first + "\\\n   " + rest,
		"zero width": first + "\u200b" + rest, "soft hyphen": first + "\u00ad" + rest, "word joiner": "gh\u2060p_" + key[4:], "selector": first + "\ufe0f" + rest, "NUL": strings.Join(strings.Split(key, ""), "\x00"), "escaped NUL": strings.Join(strings.Split(key, ""), `\u0000`), "escaped zero width": first + `\u200b` + rest,
		"wide letters": "ｇｈｐ＿" + key[4:], "letters of mathematics": "\U0001d420\U0001d421\U0001d429_" + key[4:],
		"color": first + "\x1b[1m" + rest, "escaped color": first + `\x1b[1m` + rest, "color as \\e": first + `\e[1;31m` + rest, "octal color": first + `\033[0m` + rest,
		"bold": "<b>ghp_</b>" + key[4:], "a place to break": first + "<wbr>" + rest, "a place to break, closed": first + "<wbr/>" + rest, "a comment": first + "<!-- x -->" + rest, "highlighted": `<span class="k">gh</span><span class="v">p_` + key[4:], "capitals": first + "<SPAN STYLE='x'></SPAN>" + rest,
		"base64": strings.TrimRight(b64([]byte(key)), "="), "base64 for addresses": base64.RawURLEncoding.EncodeToString([]byte("token=" + key)), "base64 of JSON": strings.TrimRight(b64([]byte(`{"t":"`+key+`"}`)), "="), "hexadecimal": hex.EncodeToString([]byte(key)), "base64 of two bytes a letter": strings.TrimRight(b64([]byte(strings.Join(strings.Split(key, ""), "\x00")+"\x00")), "="),
		"base64 of an address": strings.TrimRight(b64([]byte("postgres://ana:tr0ub4dor-3x@db.internal/app")), "="), "percent and a tag": "ghp%5F" + first[4:] + "<b>" + rest,
	} {
		for _, around := range [][2]string{{"", ""}, {"token: ", " x"}, {"https://h.example/x/", "&y=1"}, {"?t=", ""}, {`{"a":"`, `"}`}, {"日本", "語"}, {"<p>", "</p>"}} {
			text := around[0] + spelled + around[1]
			found := false
			for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
				found = found || f.Start <= len(around[0])+2*len("<span class=") && f.End >= len(around[0])+len(spelled)
			}
			if !found {
				t.Errorf("%s: %q: %v", name, text, SearchText(text, kindsOf([]Kind{Secret})))
			}
		}
	}
}

// A program that joins strings has the key, and so has who reads the program.
func TestKeysInPieces(t *testing.T) {
	const first, middle, rest = "ghp_", "16C7e42F292c6912E77", "10c838347Ae178B4a"
	for _, text := range []string{
		`k = "` + first + `" + "` + middle + rest + `"`, `k="` + first + `"+"` + middle + `"+"` + rest + `"`, `k = 'gh' + 'p_' + '` + middle + `' + '` + rest + `'`, `"` + first + middle + `" + "` + rest + `"`, "`" + first + "` + `" + middle + rest + "`",
		`$k = "` + first + `" . "` + middle + rest + `";`, `$k = '` + first + `'.'` + middle + rest + `';`, `local k = "` + first + `" .. "` + middle + rest + `"`, `k = "` + first + `" & "` + middle + rest + `"`, `SELECT '` + first + `' || '` + middle + rest + `'`, `k = "` + first + `" << "` + middle + rest + `"`, `k = "` + first + `" <> "` + middle + rest + `"`,
		"k = (\"" + first + "\"\n     \"" + middle + "\"\n     \"" + rest + "\")", `k = "` + first + `" "` + middle + rest + `"`, "k = \"" + first + "\" \\\n  \"" + middle + rest + "\"", "k = \"" + first + "\" +\r\n\t\"" + middle + rest + "\"", "k = \"" + first + "\"\n  + \"" + middle + rest + "\"",
		`["` + first + `", "` + middle + rest + `"].join("")`, `"".join(['` + first + `','` + middle + `','` + rest + `'])`, `concat("` + first + `", "` + middle + rest + `")`, `"` + first + `".concat("` + middle + rest + `")`, `sb.append("` + first + `").append("` + middle + rest + `")`, `"` + first + `".concat('` + middle + `').concat('` + rest + `')`,
		`k="` + first + `"'` + middle + rest + `'`, `k=` + first + `"` + middle + rest + `"`, `k="` + first + `"` + middle + rest, `k='` + first + `'"` + middle + `"'` + rest + `'`, `k = f"` + first + `" f"` + middle + rest + `"`, `k = u'` + first + `' + u'` + middle + rest + `'`, `("` + first + `") + ("` + middle + rest + `")`,
		`{\"a\":\"` + first + `\" + \"` + middle + rest + `\"}`, `"gh" + "p\x5f" + "` + middle + rest + `"`, `"` + first + `" + "" + "` + middle + rest + `"`, `"` + first + `"+'` + middle + "'+`" + rest + "`", `echo ` + first + `''` + middle + rest, `"""` + first + `""" + """` + middle + rest + `"""`,
	} {
		found := false
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			found = found || strings.Contains(text[f.Start:f.End], middle) && strings.Contains(text[f.Start:f.End], rest)
		}
		if !found {
			t.Errorf("%s: %v", text, SearchText(text, kindsOf([]Kind{Secret})))
		}
	}
	for _, text := range []string{
		`["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"]`, `prefixes = ("xoxb-", "xoxp-", "xoxa-", "xoxr-")`, `"sk-" + name + "-suffix12345678901234567890"`, `startsWith("ghp_") || startsWith("gho_")`, `{"a":"sk-","b":"` + middle + rest + `"}`, `"AKIA", "ASIA", "ABIA", "ACCA"`, `x = "glpat-"; y = "` + middle + rest + `"`, `"sk_live_" "test"`,
		`<a href="ghp_" title="` + middle + rest + `">`, `"ghp_" + "your_token_here_and_more_of_it"`, `"ghp_" + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"`,
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%s: %v", text, f)
		}
	}
}

// What only looks like a spelling of a key is none.
func TestSpellingsWithoutKeys(t *testing.T) {
	for _, text := range []string{
		"ghp%5Fxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp\\_your\\_token\\_here\\_and\\_more", "<b>ghp_</b> and " + key[4:], "<td>ghp_</td><td>" + key[4:] + "</td>", "ghp%20" + key[4:], "ghp_%0A" + key[4:],
		"sk-<b>ant</b>-your-api-key-here", "a=3Db=\nc", "x &lowbar; y", `C:\users\x41\ghp\_notes`, "100%25 of all", "&#103;&#104; ", "\\u0067hp", "日本語のテキスト", "é\u0301 \u200b\u200b",
		base64.StdEncoding.EncodeToString([]byte("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")), hex.EncodeToString([]byte("a text of no importance at all, of many words")), strings.Repeat("0123456789abcdef", 8),
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: %v", text, f)
		}
	}
}

// Spellings without end are read in linear time.
func TestSpellingsTakeLinearTime(t *testing.T) {
	for _, unit := range []string{"%67hp_", "%25", "&#103", "&lowbar", `\_`, `\`, `\u0067`, "=\n", "<b>", "<b ", "<!--", "<", "\x00ghp_", "\u200b", "ghp_\u00ad", "Z2hw/", "/", "6768", `"a"+`, `"`, `"ghp_","`, `" `, "'+(", "\x1b[1", "Z2hwXzE2QzdlNDJGMjkyYzY5MTJFNzcxMGM4MzgzNDdBZTE3OEI0YQ/"} {
		cputime.CheckLinear(t, unit, func(size int) string {
			return strings.Repeat(unit, size/len(unit))
		}, func(text string) { (&findings{text: text}).respelledSecrets() })
	}
}

// Spans of secrets stay in order, apart from each other and within the text.
func FuzzRespelled(f *testing.F) {
	for _, s := range []string{"ghp%5F" + key[4:], "gh\u200bp_" + key[4:] + " <b>ghp_</b>" + key[4:], base64.StdEncoding.EncodeToString([]byte(key)) + "%67" + key, "\\u{", "&#", "=A", "%2525", "<b", "\\\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		var all []struct{ from, to int }
		for _, s := range (&findings{text: text}).respelledSecrets() {
			if s.Start < last || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q: %+v behind %d", text, s, last)
			}
			last = s.End
			all = append(all, struct{ from, to int }{s.Start, s.End})
		}
		found := SearchText(text, kindsOf([]Kind{Secret}))
		for _, s := range all {
			covered := false
			for _, f := range found {
				covered = covered || f.Start <= s.from && s.to <= f.End || f.Kind == Unscreened
			}
			if !covered {
				t.Fatalf("%q: %v is not among %v", text, s, found)
			}
		}
	})
}

// FuzzNextRespelled holds nextRespelled to its definition: the first byte from there on with which respell may find something.
func FuzzNextRespelled(f *testing.F) {
	for _, text := range []string{"", "plain", "1234567%", "12345678\"", "é", "a=b", strings.Repeat("x", 40) + "<b>"} {
		f.Add(text, 0)
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, from int) {
		if from < 0 || from > len(text) {
			return
		}
		want := from
		for want < len(text) && !respells[text[want]] {
			want++
		}
		if got := nextRespelled(text, from); got != want {
			t.Fatalf("%q from %d: %d, want %d", text, from, got, want)
		}
	})
}
