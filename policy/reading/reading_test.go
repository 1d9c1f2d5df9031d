package reading

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/internal/effort"
)

// read lists what a value is read as: the texts that differ, and why it is refused.
func read(rd Reader, value string) string {
	var said []string
	seen := map[string]bool{}
	left := effort.Max
	for _, r := range rd.Read(nil, value, new(CaseFolder), &left) {
		s := r.Text
		for _, t := range []string{r.Unslashed, r.Normal} {
			if t != "" && t != s {
				s += " or " + t
			}
		}
		if r.PathOnly {
			s += " (path)"
		}
		if r.Kind == Refused {
			s = "refused: " + r.Refusal
		}
		if !seen[s] {
			seen[s] = true
			said = append(said, s)
		}
	}
	return strings.Join(said, " | ")
}

// Every way in which a server could read a value is one of its readings, and nothing else
// is. The first is the value as sent.
func TestRead(t *testing.T) {
	rd := Reader{Home: home, Effects: ^Transforms(0), Paths: true}
	for _, c := range []struct{ value, want string }{
		{"/srv/a", "/srv/a"},
		{"/srv/A", "/srv/A | /srv/a"},
		{"/srv/a/", "/srv/a/ | /srv/a/ or /srv/a"},
		{"/srv//a/../b", "/srv//a/../b | /srv/b"},
		{"%2e%2e/x", "%2e%2e/x | ../x"},
		{"/a/%252e%252e/b", "/a/%252e%252e/b | /a/%2e%2e/b | /a/../b | /b"},
		{"/a/%25252525252e", "/a/%25252525252e | /a/%252525252e | /a/%2525252e | /a/%25252e | refused: percent escapes in too many layers"},
		{"/a/%zz%4", "/a/%zz%4"},
		{"/a/%ff%C3%A9", "/a/%ff%C3%A9 | /a/%ff\u00e9 | /a/%ff%c3%a9 | /a/%ff\u00c9"},
		{"~", "~ | /home/user"},
		{"~/x", "~/x | /home/user/x"},
		{"~root/x", "~root/x | /root/x"},
		{"~other/x", "~other/x | /home/other/x"},
		{"~+/x", "~+/x"},
		{"~5 minutes", "~5 minutes"},
		{"$HOME/x", "$HOME/x | $home/x"},
		{"%TEMP%/x", "%TEMP%/x | %temp%/x"},
		{"../x", "../x"},
		{"a/../b", "a/../b | b"},
		{"./x", "./x | x"},
		{"C:\\Users\\X", "C:\\Users\\X | C:/Users/X | c:\\users\\x | c:/users/x"},
		{"c:x", "c:x"},
		{"\\\\?\\C:\\x", "\\\\?\\C:\\x | //?/C:/x | C:/x | /?/C:/x | \\\\?\\c:\\x | //?/c:/x | c:/x | /?/c:/x"},
		{"\\\\host\\C$\\x", "\\\\host\\C$\\x | //host/C$/x | C:/x | /host/C$/x | \\\\host\\c$\\x | //host/c$/x | c:/x | /host/c$/x"},
		{"//?/UNC/host/C$/x", "//?/UNC/host/C$/x | C:/x | /?/UNC/host/C$/x | //?/unc/host/c$/x | c:/x | /?/unc/host/c$/x"},
		{"//./C:/x", "//./C:/x | C:/x | /C:/x | //./c:/x | c:/x | /c:/x"},
		{"/??/C:/x", "/??/C:/x | C:/x | /??/c:/x | c:/x"},
		{"C:/PROGRA~1/x", "C:/PROGRA~1/x | c:/progra~1/x | refused: generated short name, which stands for another"},
		{"C:/a/b:stream", "C:/a/b:stream | C:/a/b | c:/a/b:stream | c:/a/b"},
		{"/a/b::$DATA", "/a/b::$DATA | /a/b | /a/b::$data"},
		{"/a. /b..", "/a. /b.. | /a/b"},
		{" \"/a/b\" ", " \"/a/b\"  (path) | /a/b (path)"},
		{"/a b/PROGRA~1", "/a b/PROGRA~1 | /a b/progra~1"},
		{"/a/\u00e9", "/a/\u00e9 | /a/\u00c9"},
		{"/a/e\u0301", "/a/e\u0301 | /a/\u00e9 | /a/\u00c9"},
		{"/a/\ufb01", "/a/\ufb01 | /a/fi"},
		{"/a/STRA\u00dfE", "/a/STRA\u00dfE | /a/strasse"},
		{"/a/\u017f", "/a/\u017f | /a/s"},
		{"/a/K", "/a/K | /a/k"},
		{"/a/\u00c4", "/a/\u00c4"},
		{"file:///a/b", "file:///a/b | /a/b"},
		{"file://~/x", "file://~/x | /x | /home/user/x"},
		{"file://host/x", "file://host/x | /x"},
		{"file:///C|/x", "file:///C|/x | C:/x | file:///c|/x | c:/x"},
		{"file://C:/x", "file://C:/x | C:/x | file://c:/x | c:/x"},
		{"file:/a", "file:/a | /a"},
		{"file://", "file:// | /"},
		{"https://H:443/a?b#c", "https://H:443/a?b#c or https://H:443/a?b or https://h/a?b#c | https://h/a?b#c or https://h/a?b or https://h/a?b#c | https://h:443/a?b#c or https://h:443/a?b or https://h/a?b#c"},
		{"https://h", "https://h or https://h/"},
		{"https://h#", "https://h# or https://h or https://h/# | https://h/# or https://h or https://h/#"},
		{"https://h?", "https://h? or https://h or https://h/? | https://h/? or https://h or https://h/?"},
		{"http:a b@host", "http:a b@host | refused: URL without a plain // before its host"},
		{"https:h.x/a b", "https:h.x/a b | refused: URL without a plain // before its host"},
		{"https:h#a b", "https:h#a b or https:h or https:h#a b | refused: URL without a plain // before its host"},
		{"http: h/a b", "http: h/a b (path)"},
		{"view-source:https://h/x", "view-source:https://h/x | https://h/x | view-source:https:/h/x"},
		{"git+https://h/x", "git+https://h/x | https://h/x"},
		{"x+y://h", "x+y://h"},
		{"<URL:https://h/x>", "<URL:https://h/x> | https://h/x | <URL:https:/h/x> | <url:https://h/x> | <url:https:/h/x>"},
		{"https://[::1]:80/", "https://[::1]:80/"},
		{"https://[::ffff:1.2.3.4]/", "https://[::ffff:1.2.3.4]/ or https://1.2.3.4/ | https://1.2.3.4/"},
		{"https://[x]/", "https://[x]/ | refused: host that parsers read differently"},
		{"https://[::1/", "https://[::1/ | refused: host that parsers read differently"},
		{"https:///x", "https:///x | refused: URL without a plain // before its host"},
		{"https:x", "https:x | refused: URL without a plain // before its host"},
		{"note://any host/x", "note://any host/x | refused: host that parsers read differently"},
		{"\uff4e://\uff48/x", "\uff4e://\uff48/x | \uff4e:/\uff48/x | n://h/x | n:/h/x | \uff2e://\uff28/x | \uff2e:/\uff28/x | refused: full-width form in a path"},
		{"https://u@h/", "https://u@h/ | refused: user information in a URL"},
		{"https://h\\@x/", "https://h\\@x/ | https://h/@x/ | https://h\\@x/ or https://h\\@x or https://h\\@x/ | https://h/@x/ or https://h/@x or https://h/@x/ | refused: user information in a URL"},
		{"note: see below", "note: see below (path)"},
		{"https://{h}/x", "https://{h}/x | refused: host that parsers read differently"},
		{"ssh:x", "ssh:x | refused: URL without a plain // before its host"},
		{"ssh:x y", "ssh:x y (path)"},
		{"a:b:c://d", "a:b:c://d | a:b//d | a:b:c:/d | a:b/d"},
		{"note://\u00e9/x", "note://\u00e9/x | note://\u00c9/x"},
		{"note://\ufb01/x", "note://\ufb01/x | note://fi/x | refused: host that parsers read differently"},
		{"https://h.:80/x", "https://h.:80/x or https://h:80/x | https://h:80/x"},
		{"a1:x:y", "a1:x:y"},
		{"x:https/y z", "x:https/y z"},
		{"/proc/self/root/x", "/proc/self/root/x | refused: path through a link of the system's, which may lead anywhere"},
		{"/proc/self", "/proc/self"},
		{"/a/../proc/1/cwd", "/a/../proc/1/cwd | /proc/1/cwd | refused: path through a link of the system's, which may lead anywhere"},
		{"/dev/fd/3", "/dev/fd/3 | refused: path through a link of the system's, which may lead anywhere"},
		{"/.nofollow/x", "/.nofollow/x | refused: path through a link of the system's, which may lead anywhere"},
		{"/PROC/x/task/1/fd/9/y", "/PROC/x/task/1/fd/9/y | refused: path through a link of the system's, which may lead anywhere"},
		{"/\u00e9", "/\u00e9 | /\u00c9"},
		{"/srv/./x", "/srv/./x | /srv/x"},
		{"/vol", "/vol"},
		{"/proc/a/b/c/d/e/f/g/h/i/j", "/proc/a/b/c/d/e/f/g/h/i/j"},
		{"a\nb", "a\nb"},
		{"/a\nb", "/a\nb (path) | refused: control character in a path"},
		{"\n/a/B\n", "\n/a/B\n | /a/B | /a/b"},
		{"ht\ntps://h/x", "ht\ntps://h/x (path) | refused: control character in a path | https://h/x"},
		{"https://u@h/\nx", "https://u@h/\nx (path) | refused: control character in a path | https://u@h/x | refused: user information in a URL"},
		{"a\n../b", "a\n../b"},
		{"a\n%2e%2e/b", "a\n%2e%2e/b"},
		{" https://h/x", " https://h/x (path) | refused: blanks around a URL | https://h/x"},
		{"\u00a0https://h/x ", "\u00a0https://h/x  (path) | refused: blanks around a URL | https://h/x"},
		{"\x00", "refused: NUL in a value | \x00 (path) | refused: control character in a path"},
		{"/a\x00", "refused: NUL in a value | /a\x00 (path) | refused: control character in a path"},
		{"a b", "a b (path)"},
		{"a b/../c", "a b/../c | c"},
		{"/a\u0085b", "/a\u0085b | refused: control character in a path"},
		{"/a\u200bb", "/a\u200bb | refused: invisible character in a path"},
		{"/\uff41", "/\uff41 | /a | /\uff21 | refused: full-width form in a path"},
		{"\uff0f", "\uff0f (path) | / (path) | refused: full-width form in a path"},
		{"\uff5e", "\uff5e (path) | ~ (path) | /home/user (path)"},
		{"\uff5e/x", "\uff5e/x | ~/x | /home/user/x"},
		{"\uff5eroot/x", "\uff5eroot/x | ~root/x | /root/x"},
		{"\uff5e/../x", "\uff5e/../x | x | ~/../x | /home/x"},
		{"%EF%BD%9E/x", "%EF%BD%9E/x | \uff5e/x | ~/x | /home/user/x | %ef%bd%9e/x"},
		{"a\uff5eb/x", "a\uff5eb/x | a~b/x"},
		{"/\uff5e/x", "/\uff5e/x | /~/x"},
		{"file\uff1a/x", "file\uff1a/x | file:/x | /x"},
		{"/\u2025", "/\u2025 | /.. | refused: compatibility form of a dot or a slash in a path"},
		{"/\xff", "/\xff | /\ufffd | refused: invalid text in a path"},
		{"a/b", "a/b"},
		{"a%2fb", "a%2fb (path) | a/b (path)"},
		{"%41", "%41 (path) | A (path) | a (path)"},
		{"%2e%2e%2fa", "%2e%2e%2fa | ../a"},
		{"a\vb", "a\vb (path) | refused: control character in a path"},
		{"\t", "\t"},
		{"q'", "q' (path) | q (path)"},
		{"'q", "'q (path) | q (path)"},
		{"", " (path)"},
		{".", ". (path)"},
		{"..", ".."},
		{"a/.", "a/. | a"},
		{"/a /b", "/a /b | /a/b"},
		{"a. b/c", "a. b/c (path)"},
		{"https://a b/\nc", "https://a b/\nc (path) | refused: control character in a path | https://a b/c"},
		{"/\u00e4/PROGRA~1 x", "/\u00e4/PROGRA~1 x | /\u00c4/progra~1 x"},
		{"https://h/a/", "https://h/a/ | https://h/a/ or https://h/a or https://h/a/"},
		{"/a/..", "/a/.. | /"},
		{"a\n/../b", "a\n/../b | b"},
		{"a\n/%2e%2e/b", "a\n/%2e%2e/b | b"},
		{"%25252541", "%25252541 (path) | %252541 (path) | %2541 (path) | %41 (path) | refused: percent escapes in too many layers"},
		{"/a/%zz%41", "/a/%zz%41 | /a/%zzA | /a/%zza"},
		{"/a/%41%zz", "/a/%41%zz | /a/A%zz | /a/a%zz"},
		{"view-source:jar:https://h/x y", "view-source:jar:https://h/x y | https://h/x y | view-source:jar:https:/h/x y"},
		{"ab:bc:cd:de:ef:gh x", "ab:bc:cd:de:ef:gh x (path)"},
		{"note://{h}/x", "note://{h}/x"},
		{"https://[::1]", "https://[::1] or https://[::1]/"},
		{"x: y://z", "x: y://z (path) | x: y:/z (path)"},
	} {
		if got := read(rd, c.value); got != c.want {
			t.Errorf("%q is read as\n%s\nwant\n%s", c.value, got, c.want)
		}
	}
}

// Where no pattern is about paths, what is no path has one reading.
func TestReadText(t *testing.T) {
	for value, want := range map[string]string{"Some Text": "Some Text", "/A": "/A | /a"} {
		if got := read(Reader{}, value); got != want {
			t.Errorf("%q is read as %s, want %s", value, got, want)
		}
	}
}

// What is too much to read is refused, and still read as sent.
func TestReadBounds(t *testing.T) {
	rd := Reader{Home: home, Paths: true}
	for name, c := range map[string]struct {
		value string
		left  effort.Left
		want  string
	}{
		"long":   {strings.Repeat("x", maxValue+1), effort.Max, "value longer than 1 MiB"},
		"work":   {"/a/../b", 10, effort.TooMuch},
		"ways":   {`\\?\C:\%41. \%42%2541%252541\e` + "\u0301\uFB01. ", effort.Max, "value that can be read in too many ways"},
		"volume": {`\A%41/` + strings.Repeat("x", maxValue-6), effort.Max, "value that can be read in too many ways"},
	} {
		t.Run(name, func(t *testing.T) {
			rs := rd.Read(nil, c.value, new(CaseFolder), &c.left)
			if last := rs[len(rs)-1]; last.Kind != Refused || last.Refusal != c.want || len(rs) > maxReadings {
				t.Errorf("%d readings, the last %d, %q", len(rs), last.Kind, last.Refusal)
			}
		})
	}
}

// A reading knows in words what made it, and what a disk is asked about.
func TestMadeBy(t *testing.T) {
	rd, fold := Reader{Home: home, Paths: true}, new(CaseFolder)
	for value, want := range map[string]string{
		"/A":           "case folded",
		"~/X":          "~ as home, case folded",
		"file:///%41":  "percent-decoded, file: URI as path, case folded",
		"https://H":    "host in its plain form",
		" /a/../b\n":   "blanks around it dropped, cleaned",
		"/a/%2541/./b": "percent-decoded, cleaned, case folded",
	} {
		left, found := effort.Max, false
		fold.Reset()
		for _, r := range rd.Read(nil, value, fold, &left) {
			found = found || strings.Join(r.MadeBy(home), ", ") == want
			if path := r.DiskPath(); IsFile(r.Text) && !strings.EqualFold("file://"+path, r.Text) || !IsFile(r.Text) && !strings.EqualFold(path, r.Text) || r.Transforms&folded == 0 && !IsFile(r.Text) && path != r.Text {
				t.Errorf("%q is the path %q", r.Text, r.DiskPath())
			}
		}
		if !found {
			t.Errorf("no reading of %q was made by: %s", value, want)
		}
	}
	if r := (Reading{Text: "100", Raw: "1e2"}); strings.Join(r.MadeBy(home), "") != "number in plain digits" {
		t.Errorf("%q", r.MadeBy(home))
	}
}

// A program may follow ".." before or after it decodes, so that the same text ends at two places.
func TestClimbsByEscapes(t *testing.T) {
	for value, want := range map[string]bool{
		`HTTPS://api.example/v1/a b%5ca:b\..\..%5c`: true,
		"https://api.example./v1/%2e%2e/v1%2fx":     true,
		"https://api.example/v1/%2E./v%31/x":        true,
		"/p/a%2Fb/../c":                             true,
		"..%2f../a":                                 false,
		"https://api.example/v1/%2e%2e/x":           false,
		"https://api.example/v1/a%2fb/x":            false,
		"https://api.example/v1/../x%20y":           false,
		"/p/%2e%2e/x%20y":                           false,
		"/p/a%2fb/..c/c..":                          false,
		"/p/../x":                                   false,
		"https://api.example/x?a=../b%2f":           false,
	} {
		if got := climbsByEscapes(value); got != want {
			t.Errorf("%s: %v", value, got)
		}
		if why, _ := unreadableAs(value); want && why == "" {
			t.Errorf("%s: is read", value)
		}
	}
}
