package shell_test

import (
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/shell"
)

// TestShellsOfWindows: where a text may go to cmd.exe or PowerShell, an allow takes it only
// if they find no other command in it. A deny reads it as ever.
func TestShellsOfWindows(t *testing.T) {
	run := shell.Setting{Name: "run", List: []string{"ls **", "rg **", "awk **", "jq **", "echo **", "git log **", "find **", "cd *"}}
	unix, err := shell.New(lists{run}, shell.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	windows, err := shell.New(lists{run}, shell.Ports{Windows: true})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(c where.Constraint, text string, opens bool) where.Match {
		return c.JudgeValue(where.Value{Kind: where.String, Text: text, Raw: text}, opens)
	}
	for _, text := range []string{
		"ls -la src/a.go", "ls | rg foo", "cd src && ls", "ls 2>&1", "ls 2>/dev/null", `rg "a|b (c) <d> & e ^f" src`, "rg 'a b' -g '*.go'",
		`git log --format="%h %an" -5`, "jq '.a' x.json", "ls ./...; ls", "git log a..b --stat", `echo "50%"`, `echo 'a; b' "it's"`, "ls\nls",
	} {
		if judge(windows, text, true) != where.Yes {
			t.Errorf("an allow refuses %q on Windows", text)
		}
	}
	for _, text := range []string{
		"ls 'a&calc'", "ls 'a|calc'", "ls 'a>b'", "ls 'a<b'", "ls 'a^b'", `ls 'a"&calc&"'`, `ls 'a' '"' '&calc&"'`, "rg 'todo|calc ' src", "awk '$3 > 5' x",
		"jq '.a | del(.b)' x", "jq '.a|env' x", `rg "foo\(" src`, `rg 'a\b' src`, `ls a\ b`, `ls \'a`, `echo "a\"&calc&\""`, `rg "\\" "&calc&"`,
		"ls $HOME", `ls "$HOME"`, `echo "$(ls)"`, "echo $(ls)", "echo `ls`", "echo %PATH%", `echo "%PATH%"`, `echo "%GITHUB_TOKEN:~0,4%"`, "echo '%PATH%'",
		"ls & ls", "ls a^ b", `find . \( -name x \)`, "(ls)", "ls # a & calc", "! ls", `for f in a; do ls "$f"; done`, "ls <<E\n$A\nE", "echo %A%%B%", `rg "a^" 'b"|calc'`,
	} {
		if judge(windows, text, true) == where.Yes {
			t.Errorf("an allow takes %q on Windows", text)
		}
		if judge(windows, text, false) != judge(unix, text, false) {
			t.Errorf("a deny reads %q otherwise on Windows", text)
		}
	}
}
