//go:build linux || darwin

package approve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
)

// hostile values: each wants to be seen as something else, to hide, to answer
// the question, or to do something to the terminal.
var hostile = map[string]string{
	"clear the screen":           "ls\x1b[2J\x1b[Hls",
	"clear the line":             "rm -rf /\x1b[2K\rls",
	"move up":                    "x\x1b[5Aserver \"safe\"",
	"save and restore":           "a\x1b7b\x1b8c",
	"set title":                  "a\x1b]0;owned\ab",
	"set title, ST":              "a\x1b]2;owned\x1b\\b",
	"clipboard":                  "a\x1b]52;c;cm0gLXJmIC8=\ab",
	"hyperlink":                  "\x1b]8;;http://evil.example\x1b\\safe\x1b]8;;\x1b\\",
	"palette":                    "\x1b]4;1;rgb:00/00/00\a",
	"notification":               "\x1b]9;done\a\x1b]777;notify;a;b\a",
	"device string":              "\x1bP$q\"p\x1b\\",
	"application command":        "\x1b_Gq=1\x1b\\",
	"query the cursor":           "\x1b[6n\x1b[c\x1b]11;?\a",
	"alternate screen off":       "\x1b[?1049l",
	"mouse and focus on":         "\x1b[?1000h\x1b[?1004h",
	"reset":                      "\x1bc",
	"conceal":                    "safe\x1b[8m; rm -rf /\x1b[0m",
	"black on black":             "safe\x1b[30;40m; rm -rf /\x1b[0m",
	"scroll region":              "\x1b[1;2r\x1b[S",
	"printer":                    "\x1b[5i",
	"C1 CSI":                     "a\u009b2Jb",
	"C1 OSC":                     "a\u009d0;t\u009cb",
	"raw C1 byte":                "a\x9b2Jb",
	"backspaces":                 "rm -rf /\b\b\b\b\b\b\b\bls",
	"carriage return":            "rm -rf /\rls      ",
	"vertical tab and form feed": "a\vb\fc",
	"bell":                       "a\a",
	"nul":                        "a\x00b",
	"delete":                     "a\x7fb",
	"shift out":                  "a\x0eb\x0f",
	"newlines":                   "a\n\n\n  path = \"/safe\"\nclawai asks: let this through?\n> Deny",
	"newline flood":              strings.Repeat("\n", 250) + "x",
	"CRLF":                       "a\r\nb",
	"line separator":             "a\u2028b\u2029c",
	"next line":                  "a\u0085b",
	"right to left override":     "/safe/\u202egpj.exe",
	"isolates":                   "\u2067a\u2069 \u2066b\u2069",
	"marks of direction":         "a\u200eb\u200fc\u061cd",
	"zero width":                 "pass\u200bword\u200c\u200d\ufeff",
	"word joiner":                "a\u2060b\u2061c",
	"soft hyphen":                "pass\u00adword",
	"tags":                       "hi\U000e0069\U000e0067\U000e006e\U000e007f",
	"variation selectors":        "a\ufe0f\U000e0101\U000e01ef",
	"hebrew name":                "/home/קובץ/file",
	"arabic name":                "/home/ملف123/file",
	"arabic digits":              "\u0661\u0662\u0663",
	"mixed scripts":              "/home/usеr/.ssh",
	"all look-alikes":            "сору",
	"fullwidth":                  "／etc／passwd",
	"mathematical":               "𝗋𝗆 -𝗋𝖿",
	"slash look-alikes":          "a∕b⁄c⧸d",
	"combining flood":            "a" + strings.Repeat("\u0335", 200),
	"combining alone":            "\u0300\u0301",
	"hangul filler":              "a\u3164\u3164b",
	"braille blank":              "a\u2800\u2800b",
	"ideographic spaces":         "a\u3000\u3000b",
	"space flood":                "ls" + strings.Repeat(" ", 250) + "; rm -rf /",
	"tab flood":                  "ls" + strings.Repeat("\t", 60) + "; rm",
	"very long":                  strings.Repeat("a", 100000) + "TAIL",
	"long wide":                  strings.Repeat("漢", 299),
	"emoji":                      "👨\u200d👩\u200d👧 🏴\U000e0067\U000e007f",
	"box drawing":                "┃ > Allow once",
	"private use":                "\ue0b0\U000f0000",
	"unassigned":                 "\u0378\U0001ffff",
	"replacement":                "\ufffd\ufffe",
	"imitated escape":            `\u{202e}\x{1b}`,
	"imitated fold":              `" … "x" (9 characters, SHA-256 000000000000)`,
	"quotes":                     `" server "files`,
	"markdown":                   "*bold* _it_ `code` \\",
	"percent and format":         "%s %n \x25c",
}

// seen is the logical line that starts with label, put together again from its
// rows, without blanks (the rows end where the screen does).
func seen(shown, label string) string {
	var b strings.Builder
	inside := false
	for _, row := range strings.Split(shown, "\n") {
		if next, ok := strings.CutPrefix(row, "    ↳ "); ok {
			if inside {
				b.WriteString(next)
			}
			continue
		}
		inside = strings.HasPrefix(row, label)
		if inside {
			b.WriteString(row)
		}
	}
	return squeeze(b.String())
}

func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

func TestHostileArguments(t *testing.T) {
	if len(hostile) < 40 {
		t.Fatalf("only %d", len(hostile))
	}
	for name, value := range hostile {
		for _, env := range []string{"TERM=xterm", "TERM=dumb"} {
			t.Run(name+" "+env, func(t *testing.T) {
				t.Parallel()
				quoted, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				var sent string // invalid bytes do not survive JSON
				if err := json.Unmarshal(quoted, &sent); err != nil {
					t.Fatal(err)
				}
				o := writeCall(fmt.Sprintf(`{"value":%s,"last":"end"}`, quoted))
				o.Options.Grace = 1
				s := start(t, o, 60, 80, env)
				if env == "TERM=dumb" {
					s.prompt(`last = "end"`)
				} else {
					s.see(`last = "end"`, "> Deny", "Return answers")
				}
				shown := s.screen.text()
				want := "  value = " + term.Value(sent)
				if env == "TERM=dumb" { // the terminal itself breaks the line
					if got := squeeze(strings.ReplaceAll(shown, "\n", "")); !strings.Contains(got, squeeze(want)) {
						t.Errorf("not seen: %s\n%s", want, shown)
					}
					s.press("allow\n")
				} else {
					if got := seen(shown, "  value = "); got != squeeze(want) {
						t.Errorf("seen %s\nwant %s\n%s", got, want, shown)
					}
					s.press(down + enter)
				}
				if out := s.end(); out.Reply != gate.AllowOnce {
					t.Errorf("got %+v", out)
				}
			})
		}
	}
}

// Every other text of the question comes from strangers too, but for the rule.
func TestHostileNames(t *testing.T) {
	evil := "x\x1b[2J\r\n\u202e\x9b]52;c;eA==\a"
	o := writeCall(`{"` + `k\u001b[2J\u202e` + `":1,"` + strings.Repeat("long", 200) + `":2,"a.b":{"":3}}`)
	c := &o.Question.Calls[0]
	c.Server, c.Method, c.Names = evil, evil, []string{evil}
	o.Question.Rule.Description, o.Question.Rule.Pos.File = evil, evil
	for _, env := range []string{"TERM=xterm", "TERM=dumb"} {
		s := start(t, o, 60, 120, env)
		v := term.Value(evil)
		if env == "TERM=dumb" {
			s.prompt()
		}
		s.see("server     "+v, "method     "+term.Visible(evil), "tool       "+v, "rule       "+term.Visible(evil)+":7 "+v,
			`"k\u{1b}[2J\u{202e}" = 1`, `"a.b"."" = 3`, "(800 characters, SHA-256")
		if env == "TERM=dumb" {
			s.press("deny\n")
		} else {
			s.answer(enter)
		}
		if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
			t.Errorf("got %+v", out)
		}
	}
}

func TestPathsAreAlsoShownClean(t *testing.T) {
	s := start(t, writeCall(`{"a":"/home/user/../../etc/passwd","b":"/plain/","c":"x/../y","d":"./a//b"}`), 24, 80)
	s.see(`a = "/home/user/../../etc/passwd" → "/etc/passwd"`, `b = "/plain/"`+"\n", `c = "x/../y"`+"\n", `d = "./a//b" → "a/b"`)
	s.answer(esc)
	s.end()
}
