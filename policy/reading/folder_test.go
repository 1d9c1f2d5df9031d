package reading

import (
	"testing"
)

const home = "/home/user"

func TestFolderGlob(t *testing.T) {
	for value, want := range map[string]string{
		"/srv/p/x":               "/srv/p/**",
		"/srv/p/":                "/srv/p/**",
		"/srv/p q/x y":           "/srv/p q/**",
		"/srv/p/a*b":             "/srv/p/**",
		"~/p/x":                  "~/p/**",
		"src/a.go":               "src/**",
		`C:\Users\me\x`:          `C:\Users\me\**`,
		"C:/Users/me/x":          "C:/Users/me/**",
		"file:///srv/p/x":        "file:///srv/p/**",
		"https://h":              "",
		"https://h/":             "https://h/**",
		"https://h/a/b?c=/d#e/f": "https://h/a/**",
		"note://a/b":             "note://a/**",

		// What would open too much opens its own folder only.
		"/x":               "/*",
		"/etc/passwd":      "/etc/*",
		"/home/x":          "/home/*",
		"/home/user/x":     "/home/user/*",
		"/HOME/User/x":     "/HOME/User/*",
		"~/x":              "~/*",
		`C:\x`:             `C:\*`,
		"C:/Users/x":       "C:/Users/*",
		"file:///etc/x":    "file:///etc/*",
		"file:/etc/x":      "file:/etc/*",
		"/home/username/x": "/home/username/**",

		// No folder, or none for certain.
		"": "", "plain": "", "x.txt": "", "~": "", "/a*b/x": "", "/a/../b": "", "//a/b": "", "./x": "", "../a/b": "", ".ssh/id": "",
		"$HOME/x": "", "%41/x": "", "a b/c": "", "https://h/a b": "", "and/or maybe": "", "/a\n/b": "", "/a\u200b/b": "", `\\host\a\b`: "",
	} {
		if got, found := FolderGlob(value, home, true); got != want || found != (want != "") {
			t.Errorf("%q: %q, %v, want %q", value, got, found, want)
		}
	}
	for value, want := range map[string]string{"~/x": "~/*", "~/p/x": "~/p/**"} {
		if got, _ := FolderGlob(value, "", true); got != want {
			t.Errorf("without a home %q: %q, want %q", value, got, want)
		}
	}
	for value, want := range map[string]bool{"/srv/p/x": true, "~/p/x": true, "https://h/a": true, "C:/p/x": true,
		"<b>x</b>": false, "and/or": false, "src/a.go": false, "/help me/now": false} {
		if got, found := FolderGlob(value, home, false); found != want {
			t.Errorf("%q that no rule names: %q", value, got)
		}
	}
	if got, _ := FolderGlob("C:/Users/Me/x", "C:/users/me", true); got != "C:/Users/Me/*" {
		t.Errorf("a home on a drive: %q", got)
	}
}
