package inspect

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

// two parts of one password; a sign may stand between them
const partA, partB = "Kq7wPz2m9", "Xv4tRn8b3"

// coversAll reports whether findings cover each of the words wherever it is in the text.
func coversAll(text string, words ...string) bool { return coversIn(SearchText, text, words...) }

func coversIn(search func(string, Kinds) []Found, text string, words ...string) bool {
	left := []byte(text)
	for _, f := range search(text, kindsOf([]Kind{Secret})) {
		copy(left[f.Start:f.End], strings.Repeat("\x00", f.End-f.Start))
	}
	for _, word := range words {
		if strings.Contains(string(left), word) {
			return false
		}
	}
	return true
}

// TestAPasswordEndsAsItsFormSays: the form that carries a password says where it ends, so a sign
// inside it leaves no part behind.
func TestAPasswordEndsAsItsFormSays(t *testing.T) {
	for form, signs := range map[string]string{
		"Server=db;User Id=sa;Password=%s;Encrypt=yes":                            "&,' )}<\\=|>\"`]#",
		"Password=%s;Server=db;User Id=sa":                                        "&,)}\\",
		"Server=db;User Id=sa;Password=\"%s\";Encrypt=yes":                        "\\;,' &",
		"Server=db;User Id=sa;Password='%s';Encrypt=yes":                          "\\;,\" &",
		"Driver={ODBC Driver 18 for SQL Server};Server=db;UID=sa;PWD={%s};X=yes":  ";&, '\")\\`",
		"jdbc:sqlserver://db:1433;databaseName=a;user=sa;password={%s};encrypt=1": ";&,' \"`)",
		"jdbc:sqlserver://db;user=sa;password=%s;encrypt=true":                    "}&,')",
		"host=db user=a password=%s dbname=x":                                     "&,')};\"\\",
		"host=db user=a password='%s' dbname=x":                                   "&,)}; \"",
		"curl -u 'me:%s' https://h":                                               "\";&|) \\`$",
		"curl -u \"me:%s\" https://h":                                             "';&|) ",
		"curl -u &quot;me:%s&quot; https://h":                                     "; |'",
		"machine h login me password %s":                                          "'\"`,;&)}|\\",
		"machine h login me password \"%s\"":                                      " '`",
		"jdbc:oracle:thin:scott/%s@//db:1521/x":                                   "@/'\":;",
		"postgres://app:%s@db.corp:5432/app":                                      "';,(*)`\"",
		"https://me:%s@git.corp/a/b.git":                                          "';,(*)`\"",
		"me:%s@tcp(127.0.0.1:3306)/x":                                             "':;/@\"",
	} {
		for _, sign := range signs {
			text := fmt.Sprintf(form, partA+string(sign)+partB)
			said, _ := json.Marshal(map[string]string{"out": text + "\nnext"})
			if !coversIn(SearchDocument, string(said), partA, partB) {
				t.Errorf("%q: found %v", said, SearchDocument(string(said), kindsOf([]Kind{Secret})))
			}
			for _, text := range []string{text, "<p>" + text + "</p>", "- " + text + " and so on", `text":"` + text} {
				if !coversAll(text, partA, partB) {
					t.Errorf("%q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
				}
			}
		}
	}
	for _, text := range []string{
		`Server=db;User Id=sa;Password="A""B";Encrypt=yes`, `Server=db;UID=sa;PWD={A}}B};Encrypt=yes`, `host=db user=a password='A\'B' dbname=x`,
		`curl -u "me:A\"B" https://h`, `curl -u 'me:A'\''B' https://h`, `curl -u me:A"B" https://h`, `curl -u me:A\'B https://h`, `curl -u me:'A'"'"'B' h`,
		`mysql -u root -p'A'\''B' app`, `sshpass -p "A\"B" ssh h`, `sshpass -p 'A'"B" ssh h`, "(curl -u 'me:A'\\''B' https://h)", `{"run":"curl -u \"me:A\\\"B\" h`,
		`{"cs":"Server=db;User Id=sa;Password=A B"}`, `new Conn("Server=db;Password=A'B");`,
	} {
		text := strings.NewReplacer("A", partA, "B", partB).Replace(text)
		if !coversAll(text, partA, partB) {
			t.Errorf("%q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
		}
	}
}

// What stands around a password stays.
func TestWhatFollowsAPasswordStays(t *testing.T) {
	for _, form := range []string{
		"curl 'https://h/?token=%s&next=/home'", "Server=db;Password=%s;Encrypt=yes", "(Server=db;Password=%s)", "Use `Server=db;Password=%s`, and stay here.", "Server=db;Password=%s and so on; it goes on",
		"sh -c \"curl -u me:%s\" && echo \"stay\"", "sh -c 'curl -u me:%s'; echo 'stay'", `["curl","-u","me:%s","stay"]`, `{"run":"sh -c \"curl -u me:%s\"","stay":1}`, "run \"curl -u 'me:%s'\", stay",
		"echo 'machine h login me password %s' >> stay", `{"netrc":"machine h login me password %s","stay":"here"}`, "postgres://me:%s@db/x', 'stay@home", `"https://me:%s@h/x","stay@home"`, `{"a":"http://h:80","b":"stay@home"}`,
		`f("Server=db;Password=%s"); stay = "x";`, `<add c="Server=db;Password=%s;" stay="x">`, "host=db password=%s stay=1", "<code>Server=db;Password=%s</code> stay; x=1", "<li>machine h login me password %s</li> stay",
		`psycopg2.connect("host=db password=%s", stay)`, "&quot;Server=db;Password=%s&quot;; stay=1", `{"a":"x:y","b":"me:%s@tcp(h:1)/x"}`, `'jdbc:oracle:thin:a/%s@h', 'stay@home'`,
	} {
		text := form
		if strings.Contains(form, "%s") {
			text = fmt.Sprintf(form, partA+partB)
		}
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			if at := strings.Index(text, partA); f.Start != at || f.End != at+len(partA+partB) {
				t.Errorf("%q: found %q", text, text[f.Start:f.End])
			}
		}
		if strings.Contains(form, "%s") && !strings.Contains(form, "token") && !coversAll(text, partA) {
			t.Errorf("%q: not found", text)
		}
	}
}

// TestNetrcBehindAnySign: what a tool writes before each line hides no password of netrc.
func TestNetrcBehindAnySign(t *testing.T) {
	numbers := func(format string) func([]string) string {
		return func(lines []string) string {
			for n := range lines {
				lines[n] = fmt.Sprintf(format, n+9, lines[n])
			}
			return strings.Join(lines, "\n")
		}
	}
	signs := func(sign, end string) func([]string) string {
		return func(lines []string) string { return sign + strings.Join(lines, end+"\n"+sign) + end }
	}
	wraps := map[string]func([]string) string{
		"plain": signs("", ""), "diff": signs("+", ""), "removed": signs("-", ""), "quote": signs("> ", ""), "comment": signs("# ", ""), "list": signs("- ", ""), "span": signs(`<span class="line">`, "</span>"),
		"break": signs("", "<br>"), "CRLF": signs("", "\r"), "cat": numbers("%6d\t%s"), "arrow": numbers("%6d→%s"), "grep": numbers("home/.netrc:%d:%s"), "escape": func(lines []string) string { return `s="` + strings.Join(lines, `\n`) + `\n"` },
		"JSON": func(lines []string) string { said, _ := json.Marshal(lines); return string(said) }, "indented": func(lines []string) string { said, _ := json.MarshalIndent(lines, "", "  "); return string(said) },
		"spaced": func(lines []string) string { return `["` + strings.Join(lines, `", "`) + `"]` },
	}
	for name, wrap := range wraps {
		for _, entry := range []string{
			"machine api.corp|  login me|  password P", "machine api.corp|\tlogin me|\tpassword P", "machine api.corp|login me|password P", "machine api.corp login me|password P", "machine api.corp login me password P",
			"default|login anonymous|password P", "machine h|login \"me\"|account a|password P", "machine h|password P|login me",
		} {
			text := wrap(strings.Split(strings.ReplaceAll(entry, "P", partA+partB), "|")) + "\n"
			if !coversAll(text, partA, partB) || !coversAll(`text":"`+text, partA, partB) {
				t.Errorf("%s: %q: found %v", name, text, SearchText(text, kindsOf([]Kind{Secret})))
			}
		}
	}
	diff := " machine api.corp\n   login me\n-  password " + partA + "old\n+  password " + partB + "new\n"
	if !coversAll(diff, partA, partB) {
		t.Errorf("%q: found %v", diff, SearchText(diff, kindsOf([]Kind{Secret})))
	}
	for _, text := range []string{"- machine learning\n- login page\n- a password of 12 letters", "the default\n# login form\n# password fields", "machine\n\nlogin\n\npassword", "\"machine h login a password\",\n\"machine h account b\""} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: found %v", text, f)
		}
	}
}

// Credentials stand before the tag that ends their element.
func TestCredentialsBeforeATag(t *testing.T) {
	pair := base64.StdEncoding.EncodeToString([]byte("me:" + partA + partB))
	for _, text := range []string{"<li>//r.corp/:_auth=%s</li>", "<td>Authorization: %s</td>", "<b>auth: %s<br>", "&quot;_auth=%s&quot;", "_auth=&quot;%s&quot;"} {
		if text = fmt.Sprintf(text, pair); !coversAll(text, pair) {
			t.Errorf("%q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
		}
	}
}

// The escapes in a pattern or a character are no letters of a secret.
func TestEscapesAreNoSecrets(t *testing.T) {
	for _, text := range []string{"{pat: `x\\Qabc\\E.(?:s:..)`}", "\"cookie\": \"\\U0001f36a\"", "{pat: `[a/\\`, wantErr: `at end of pattern`}"} {
		for _, f := range SearchText(text, Kinds{}) {
			t.Errorf("%q: found %v", text, f)
		}
	}
}

// What .npmrc has for a registry is a secret, whatever it encodes.
func TestKeysOfRegistries(t *testing.T) {
	for _, text := range []string{"//r.corp/:_auth=%s", "<li>//r.corp/:_auth=%s</li>", "//r.corp/npm/:_authToken=%s", "+//r.corp/:_password=\"%s\""} {
		if text = fmt.Sprintf(text, partA+partB); !coversAll(text, partA, partB) {
			t.Errorf("%q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
		}
	}
	for _, text := range []string{"//r.corp/:_authToken=${NPM_TOKEN_OF_2026}", "//r.corp/:_authToken=00000000-0000-0000-0000-000000000000", "//r.corp/:_auth=your-base64-credentials-0123", "//r.corp/:_authToken=<token of 36 letters>", "//r.corp/:_authToken=token"} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: found %v", text, f)
		}
	}
}

// A run of base64 that is far longer than a key holds the letters of one by chance.
func TestBase64HoldsNoKey(t *testing.T) {
	bytes := make([]byte, 3000)
	for n, state := 0, uint32(7); n < len(bytes); n++ {
		state = state*1664525 + 1013904223
		bytes[n] = byte(state >> 24)
	}
	blob := strings.ReplaceAll(base64.StdEncoding.EncodeToString(bytes), "=", "")
	square := "EAAA" + strings.ReplaceAll(strings.ReplaceAll(blob[:200], "+", "a"), "/", "b")
	aws := "AKIA" + "Q3EGRV7UT2NWLKDJ"
	for _, k := range []string{square, aws} {
		if text := blob[:1200] + "/" + k + "/" + blob[1200:]; len(SearchText(text, kindsOf([]Kind{Secret}))) > 0 {
			t.Errorf("found %v", SearchText(text, kindsOf([]Kind{Secret})))
		}
		for _, text := range []string{k, "/" + k + "/", "https://h/" + strings.Repeat("abc/", 200) + k + "/" + strings.Repeat("abc/", 200), blob[:1200] + "." + k + "." + blob[1200:], blob[:1200] + "/" + k, strings.Repeat("A", 600) + "/" + k + "/" + strings.Repeat("A", 600)} {
			if !coversAll(text, k) {
				t.Errorf("%.40q: %d bytes: not found", text, len(text))
			}
		}
	}
}

// However signs of forms follow one another, a text is read in linear time.
func TestEndsOfValuesTakeLinearTime(t *testing.T) {
	for _, unit := range []string{
		`password="\" `, `password="a"" `, `password='\\`, "Server=a;Password=b'", "Server=a;Password={b", "machine a login b password 'c ", "machine+", "machine a login ", `machine a\nlogin `, `curl -u a:b'c `, `curl -u "a:b\" `, `curl -u a:b\"`, "curl -u &quot;a:b ",
		"x://a:b'", "x://a:b'c@", "jdbc:oracle:thin:a/b@", "jdbc:oracle:thin:a/b'@", "a:b'@tcp(", `password=&quot;`, "+/AKIAQ3EGRV7UT2NWLKDJ", "/EAAAaB3", "host=a password=b`",
	} {
		cputime.CheckLinear(t, unit, func(size int) string { return strings.Repeat(unit, size/len(unit)) }, func(text string) { SearchText(text, kindsOf([]Kind{Secret})) })
	}
}
