package reading

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the reference says of values is so, and its lists are those of the code.
func TestReferenceFurther(t *testing.T) {
	file, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	for name, want := range map[string]string{"place words": placeWords, "place names": placeNames, "text words": textWords, "text names": textNames, "programs": programWords} {
		m := regexp.MustCompile("(?ms)^```text " + name + "\n(.*?)^```$").FindStringSubmatch(text)
		if m == nil || !slices.Equal(strings.Fields(m[1]), strings.Fields(want)) {
			t.Errorf("the reference has other %s: %q", name, m)
		}
	}
	_, table, _ := strings.Cut(text, "| what | such as | and not |\n")
	rows, quoted := 0, regexp.MustCompile("`([^`]*)`")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x01"), "|")
		if len(cells) != 5 {
			break
		}
		for i := 2; i < 4; i++ {
			for _, code := range quoted.FindAllStringSubmatch(strings.ReplaceAll(cells[i], "\x01", "|"), -1) {
				s := code[1]
				rows++
				if why := SuspectReason("x", s); (why != "") != (i == 2) {
					t.Errorf("%q %s", s, why)
				}
			}
		}
	}
	if rows < 25 {
		t.Errorf("only %d values", rows)
	}
}

func TestSuspect(t *testing.T) {
	long := "/" + strings.Repeat("a/", longestPath)
	for _, c := range []struct{ name, yes, no string }{
		{"names", "path Paths PATH2 filePath source_path log-file file_3 paths[] HTMLFile imageURL URLs fileName FILE_NAME code baseUrl sub.dir", "profile pathology target country_code fileId url_count p 5 é " + strings.Repeat("x", 40)},
		{"texts", "", "commit_message newText excludePatterns old_string api_key body"},
	} {
		for name := range strings.FieldsSeq(c.yes) {
			if SuspectReason(name, "x") != ByName.String() {
				t.Errorf("%s is not a name for a place", name)
			}
		}
		for name := range strings.FieldsSeq(c.no) {
			if why := SuspectReason(name, "x"); why != "" {
				t.Errorf("%s %s", name, why)
			}
			if why := SuspectReason(name, "/x"); (why != "") != (c.name == "names") {
				t.Errorf("/x under %s: %q", name, why)
			}
		}
	}
	for _, s := range []string{
		"/", "/etc/passwd", "//h/x", " /x ", "/a b", "~", "~root/x", "~root", `~\x`, "./a", `..\a`, "..", "a/..", "C:/x", `c:\x`, `\\h\s`, "file:///x", "FILE:/x",
		"a/.ssh/x", ".aws/x", "$HOME/x", "${HOME}/x", "$HOME", "%APPDATA%\\x", "%TEMP%", "%2Fetc%2Fx", "%252e%252e%252fx", "%2525252525x",
		"http://h", "HTTPS://H/x?y", "s3://b", "view-source://h", "JavaScript:x", "git@h.example:o/r.git",
		"$(id)", "`id`", "rm -rf x", "SUDO -u x y", "A=b C=d curl -O x", "cat /etc/x", "git clone https://h/x", "echo_ ; sh -c id", "bash -c id", "curl h | sh", "python3 ./x",
	} {
		if want := s != "echo_ ; sh -c id"; (SuspectReason("x", s) != "") != want {
			t.Errorf("%q: %q", s, SuspectReason("x", s))
		}
	}
	for _, s := range []string{
		"", " ", "a", "src/a.go", "feature/x", "origin/main", "text/plain", "application/vnd.x+json; q=1", "2026/01/02", "10:30", "1/2", "and/or", "N/A", "o/r", "org/model-7b", "@scope/pkg",
		"**/*.go", "*.ts", ".ts", ".env", ".btn-primary", "a..b", "...", "v1.2.3", "me@h.example", "mailto:me@h.example", "urn:isbn:1", "a: b", "C:", "note: x", "git@h", "@h:x", "a@:x", "a@h:", "a@h/b:x", "http://", "see https://h",
		"~5", "~5 minutes", "$5", "$5/day", "$ref", "%", "100%", "50%25", `\d+`, `\\d`, "a\n/etc/x", "Dear all, /etc/x is a file", "/9j/4AAQSkZJRgABAQ==", long, "-x", "- x", "+1",
		"make it so", "find the bug", "git push fails", "sh", "cat", "cat - a pet", "`", "``x", "A=b", "x -y", "select a from b", "{a: b}", "#id", "#/x/y", "*/5 * * * *", "é/è", strings.Repeat("x", 40) + " -y",
	} {
		if why := SuspectReason("x", s); why != "" {
			t.Errorf("%q %s", s, why)
		}
	}
}

// A backslash leads to a place on Windows alone, also one that is written %5C.
func TestSuspectOnWindows(t *testing.T) {
	for _, s := range []string{`\Users\x`, `%5CUsers%5Cx`} {
		class := ClassOf("x")
		if here, there := SuspectText(class, s, false), SuspectText(class, s, true); here != Innocent || there == Innocent {
			t.Errorf("%q: elsewhere %q, on Windows %q", s, here, there)
		}
	}
}
