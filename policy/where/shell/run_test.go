package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where/shell"
)

func TestRunsOf(t *testing.T) {
	for text, want := range map[string]string{
		"ls -l a":                             "ls -l a",
		"cd a && /usr/bin/Grep x 'b c'":       "cd a; grep x b c",
		"sudo -u ana nice -n 5 x a":           "x a",
		"x=$(y a.example) z":                  "z; ; y a.example",
		"for h in a.example b; do x $h; done": " a.example b; x ",
		"X=a.example ./x":                     "x;  a.example",
		"sh -c 'x a.example'":                 "x a.example",
		"$HOME/bin/x a":                       "x a",
		"\"$dir\"/x a":                        "x a",
		"~/bin/x a":                           "x a",
		"bash x.sh a":                         "bash x.sh a",
		"bash < x.sh":                         "bash",
		"bash <<EOF\nx a\nEOF":                "x a; bash",
		"echo a | sort":                       "echo a; sort",
		"bash --version":                      "bash --version",
		"if (":                                " if (",

		"sudo -E x a":                     "x a",
		"$(echo cu)rl a":                  "hidden",
		"`echo cu`rl a":                   "hidden",
		"$a$b a":                          "hidden",
		"\"$a\" b":                        "hidden",
		"/usr/bin/$a":                     "hidden",
		"./c${x}l":                        "hidden",
		"echo x |{ bash; }":               "hidden",
		"echo x | ( cat; sh )":            "hidden",
		"echo x | if true; then sh; fi":   "hidden",
		"echo x | while bash; do :; done": "hidden",
		"echo x | tee >(bash)":            "hidden",
		"echo x | tee >(cat | sh -s)":     "hidden",
		"echo x | env bash":               "hidden",
		"echo x | sudo -n dash -":         "hidden",
		"echo x | exec zsh -i":            "hidden",
		"echo x | bash /dev/stdin":        "hidden",
		"bash < /dev/fd/3":                "hidden",
		"f() { sh; }; echo x | f":         "hidden",
		"sudo $a b":                       "hidden",
		"env A=1 \"$a\"":                  "hidden",
		"bash -c \"$a$b c\"":              "hidden",
		"bash -c 'echo x | sh'":           "hidden",
		strings.Repeat("ls;", 30_000):     "hidden",
		"ls " + strings.Repeat("(", 2000): "hidden",
	} {
		runs, hidden := shell.RunsOf(text)
		var all []string
		for _, r := range runs {
			all = append(all, strings.TrimRight(r.Program+" "+strings.Join(r.Words, " "), " "))
		}
		got := strings.Join(all, "; ")
		if hidden {
			got = "hidden"
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

// Whatever a text is, its commands are read without a panic, and no more of them than it has.
func FuzzRunsOf(f *testing.F) {
	for _, text := range []string{"ls", "$(echo cu)rl a", "bash <<E\nx\nE", "x=(a b); for i in $x; do y; done", "sh -c \"$a\"", "sudo -u"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		runs, _ := shell.RunsOf(text)
		for _, r := range runs {
			if strings.Contains(r.Program, "/") {
				t.Error(fmt.Sprint(r))
			}
		}
	})
}
