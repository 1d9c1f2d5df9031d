package reading

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/internal/effort"
)

func TestWindowsForm(t *testing.T) {
	for text, want := range map[string]string{
		`C:\A\b`: "c:/a/b", `c:/A\B`: "c:/a/b", `~\X`: "~/x", "ÀÉ": "àé", "ſKẞ": "ſkẞ", "Ж": "ж",
		`\\?\C:\a`: "c:/a", `\\.\C:\a\`: "c:/a/", `\\?\UNC\H\s\a`: "//h/s/a", `\\?\C:\a\..\b`: "//?/c:/a/../b", `\\?\C:\a.\b`: "//?/c:/a./b",
		`\\?\C:\a \b`: "//?/c:/a /b", `\\?\C:\a\\b`: "//?/c:/a//b", `\\?\pipe\x`: "//?/pipe/x", `\??\C:\x`: "c:/x", `\\?\C:`: "//?/c:",
		"https://H/A": "https://H/A", "FILE:///C:/A": "file:///c:/a", "file:///c%3A/A": "file:///c:/a", "file://C|/A": "file:///c:/a", `file:C:\a b`: "file:///c:/a b",
		"file:///a": "file:///a", "file:///": "file:///", "file://host/s": "file://host/s", "": "",
	} {
		if got := WindowsForm(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestBaseOnWindows(t *testing.T) {
	for dir, want := range map[string]string{
		`C:\Users\Ana`: "c:/users/ana", "~/P": "c:/users/ana/p", `\\host\share`: "", `\x`: "", `C:\LONGNA~1\x`: "", `C:\nul`: "", "C:": "",
	} {
		if got := NewBase(dir, "c:/users/ana", true).FolderPath(); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// readOn are the texts of the readings of a value on Windows, and why it is refused.
func readOn(v string) (texts []string, refusal string) {
	rd := Reader{Home: "c:/users/ana", Paths: true, Windows: true}
	left := effort.Max
	for _, r := range rd.Read(nil, v, &CaseFolder{}, &left) {
		if r.Kind == Refused {
			refusal = r.Refusal
			continue
		}
		texts = append(texts, r.Text)
		if r.DiskPath() == "" || len(r.MadeBy(rd.Home)) == 0 && r.Text != r.Raw {
			refusal = "nothing told of " + r.Text
		}
	}
	return texts, refusal
}

func TestReadingsOnWindows(t *testing.T) {
	for v, want := range map[string]string{
		`C:\A\b`: "c:/a/b", `"C:\A"`: `"c:/a" c:/a c:/a`, `\\H\S\..\x`: "//h/s/../x //h/s/x", `\\H\C$\x`: "//h/c$/x c:/x", `\\h\s\x\`: "//h/s/x/ //h/s/x/", `src\b:x`: "src/b:x src/b",
		`go ./...`: "go ./... go/. go", `a\....`: "a/.... a/. a", `\\H\s`: "//h/s", `C:x`: "c:x c:/x", `a:b`: "a:b a:/b", `ab:c\D`: `ab:c\D ab:c/D ab:c\d ab:c/d ab/d`, `\\h`: "//h /h", `\\h\`: "//h/ /h/ /h/", `\\h%5c\s`: `//h%5c/s //h\/s //h//s /h%5c/s /h\/s /h/s`,
		"https://H/A": "https://H/A https://h/A https://h/a", "\t\"C:\\x\"": "\t\"C:\\x\" c:/x",
	} {
		texts, refusal := readOn(v)
		if got := strings.Join(texts, " "); got != want && !strings.HasPrefix(v, "https") || refusal != "" && v[0] != '\t' {
			t.Errorf("%s: %q (%s), want %q", v, got, refusal, want)
		}
	}
	for v, want := range map[string]string{
		`C:...`: "name of dots and blanks, which Windows drops", `go test .\.. .`: "name of dots and blanks, which Windows drops", `go test ./...`: "",
		`C:\a\NUL`: "name of a device", `C:\...\x`: "name of dots and blanks, which Windows drops", `C:\a\b<`: "character that Windows takes for a wildcard",
		`src\LONGNA~1`: "generated short name, which stands for another", `\\.\pipe\x`: "device path, which may lead anywhere", `C:\a\.. \b`: "name of dots and blanks, which Windows drops",
		` "C:\%2e%2e\É\ſ\a:b\%55\c.\..\x/"`: "value that can be read in too many ways",
		`"C:\%61\..\É\K\ſ:x.\b"`:            "value that can be read in too many ways",
		`\\h\s\..\É.`:                       "",
		// Commands are no paths: a bar, quotes around words, redirections between blanks.
		`go test ./... | tail -5`: "", `go test -run "A" ./...`: "", `git commit -m "Fix it"`: "", `"C:\a b\c.exe" -x`: "", `go test ./... 2>&1 > a.txt`: "", `rg --type="go" x`: "",
		`a\.ss<\id_rsa`: "character that Windows takes for a wildcard", `a\.ssh"\id_rsa`: "character that Windows takes for a wildcard", `a\id_rsa" \x`: "character that Windows takes for a wildcard",
		`a\id_rsa":x b`: "character that Windows takes for a wildcard", `a\id"rsa b`: "character that Windows takes for a wildcard", `a\Login>Data`: "character that Windows takes for a wildcard",
		`a\id_rsa") b`: "",
	} {
		if _, refusal := readOn(v); refusal != want {
			t.Errorf("%s: refused as %q, want %q", v, refusal, want)
		}
	}
}

// The walk keeps the readings of a value in one word.
func TestReadingsOnWindowsAreFew(t *testing.T) {
	rd := Reader{Home: "c:/users/ana", Paths: true, Windows: true, Effects: ^Transforms(0)}
	refused := false
	for _, v := range []string{`"C:\%61\x"`, `"C:\%61\a.\x"`, `"C:\a.\..\%61 "`, `"C:\a.\..\É"`, `"\\h\C$\a.\%61"`, `"\\h\C$\a.\..\%61"`, `"\\h\C$\a\x\"`, "\"\\\\h\\C$\\%61.\\..\\e\u0301\"", "\"\\\\h\\C$\\%61.\\e\u0301\""} {
		left := effort.Max
		rs := rd.Read(nil, v, &CaseFolder{}, &left)
		refused = refused || len(rs) == 2 && rs[1].Kind == Refused
		if len(rs) > maxReadings {
			t.Errorf("%s: %d readings", v, len(rs))
		}
	}
	if !refused {
		t.Error("none is refused")
	}
}
