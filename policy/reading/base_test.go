package reading

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/internal/effort"
)

func TestBase(t *testing.T) {
	for dir, want := range map[string]string{
		"/srv/p": "/srv/p", "/srv/p/": "/srv/p", "/": "/", "~": "/home/user", "~/p": "/home/user/p", `C:\p`: "C:/p", "/a/./b": "/a/b",
		"": "", "p": "", "./p": "", "//host/p": "", "C:p": "", "~x/p": "", "/a\x00b": "", "/a/\u200b": "", "/srv/$X": "/srv/$X",
	} {
		if got := NewBase(dir, home, false).FolderPath(); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
	for glob, want := range map[string]bool{"${cwd}": true, "${cwd}/**": true, "${cwd}x": false, "x/${cwd}": false} {
		if FromBase(glob) != want {
			t.Errorf("%q: %v", glob, !want)
		}
	}
}

// A reading leads to these places, first of all where the folder is known; "?" stands
// before one that may well be no path.
func TestPlaces(t *testing.T) {
	const everything = ^Transforms(0)
	for value, want := range map[string]string{
		"a":                        "/srv/P/a ${cwd}/a",
		"a/":                       "/srv/P/a/ ${cwd}/a/",
		"./":                       "/srv/P/ ${cwd}/",
		"../a":                     "/srv/a",
		"..":                       "/srv",
		"../P":                     "/srv/P ${cwd}",
		"--x":                      "? /srv/P/--x ${cwd}/--x",
		"host:a":                   "",
		"/srv/P/a":                 "/srv/P/a ${cwd}/a",
		"/srv/Pa":                  "/srv/Pa",
		"~/a":                      "/home/user/a",
		"file:///srv/P/a":          "/srv/P/a ${cwd}/a",
		"FILE://LOCALHOST/srv/P/a": "/srv/P/a ${cwd}/a",
		"file:///srv/a?q":          "",
		"file://host/srv/a":        "",
		"file:/srv/a":              "",
		"file:////srv/a":           "",
		"https://h/a":              "",
		"":                         "",
	} {
		rd := Reader{Home: home, Effects: everything, Paths: true}
		left := effort.Max
		rs := rd.Read(nil, value, new(CaseFolder), &left)
		rd.AddPlaces(rs, NewBase("/srv/P", home, false), true, &left)
		got := ""
		if len(rs[0].Places) > 0 {
			p := rs[0].Places[0]
			got = strings.TrimSpace(p.Text + " " + p.Local)
			if p.Doubtful {
				got = "? " + got
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		if rs[0].Base != "/srv/P" {
			t.Errorf("%q: starts at %q", value, rs[0].Base)
		}
	}
	// A folder that has another spelling leads to one place in each.
	rd := Reader{Home: home, Effects: everything, Paths: true}
	left := effort.Max
	rs := rd.Read(nil, "a", new(CaseFolder), &left)
	rd.AddPlaces(rs, NewBase("/srv/P\u00e9", home, false), false, &left)
	if len(rs[0].Places) != 2 || rs[0].Places[0].Text == rs[0].Places[1].Text {
		t.Errorf("%+v", rs[0].Places)
	}
	// Where the folder is not known, a URI leads to its path and nothing else anywhere.
	for value, want := range map[string]int{"a": 0, "/a": 0, "file:///a": 1} {
		rs := rd.Read(nil, value, new(CaseFolder), &left)
		if rd.AddPlaces(rs, nil, true, &left); len(rs[0].Places) != want || rs[0].Base != "" {
			t.Errorf("%q: %+v", value, rs[0].Places)
		}
	}
	refused := []Reading{{Kind: Refused}}
	if rd.AddPlaces(refused, NewBase("/p", home, false), true, &left); refused[0].Places != nil {
		t.Errorf("%+v", refused[0].Places)
	}
}

func TestRootless(t *testing.T) {
	for value, want := range map[string]string{
		"a/b": "a/b", "./a": "a", "~x/a": "a", "~/a": "a", "~": "", "file:///a?q": "/a", "/a": "", "": "", "-x": "", "a\x00": "",
		strings.Repeat("a", 5000): "",
	} {
		if got := RootlessPath(value); got != want {
			t.Errorf("%.20q: %q, want %q", value, got, want)
		}
	}
}

// TestElsewhere: a place that may be another is never sure, and who asks for the folder is
// told so; whole paths have the folder that there is.
func TestElsewhere(t *testing.T) {
	left := effort.Max
	rd := Reader{}
	rs := []Reading{{Text: "a/b", Relative: true}, {Text: "/p/x", Rooted: true}}
	base := NewBase("/p", "", false)
	base.Doubtful = true
	rd.AddPlaces(rs, base, true, &left)
	if p := rs[0].Places; !rs[0].DoubtfulBase || len(p) != 1 || p[0].Text != "/p/a/b" || !p[0].Doubtful {
		t.Errorf("%+v", rs[0])
	}
	if p := rs[1].Places; rs[1].Base != "/p" || len(p) != 1 || p[0].Local != "${cwd}/x" || p[0].Doubtful {
		t.Errorf("%+v", rs[1])
	}
}

func TestABaseIsNamed(t *testing.T) {
	b := NewBase("/home/u/p", "/home/u", false)
	for text, want := range map[string]bool{
		"/home/u/p": true, "/home/u/p/": true, "~/p": true, ".": true, "./": true,
		"": false, "p": false, "..": false, "/home/u": false, "/home/u/p/a": false, "/home/u/p/a/..": false, "$PWD": false,
	} {
		if got := b.IsNamedBy(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
