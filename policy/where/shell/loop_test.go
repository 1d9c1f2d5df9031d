package shell_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/shell"
)

// TestLoops: a loop over plain words is judged as its commands for each of them.
func TestLoops(t *testing.T) {
	c, err := shell.New([]shell.Setting{{Name: "run", List: []string{"cat **", "wc **", "head **", "ls **", "du **", "rm **", "sort **", "read *", "find **"}}, {Name: "search", List: []string{"narrow"}}}, shell.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{`for f in *.go; do wc -l "$f"; done`, `for f in src/*.go; do cat "$f"; done`, `for d in api web; do ls "$d"; du -sh $d; done`, `for f in a b; do cat $f | sort; done | head`,
		`for f in a b; do for g in c d; do sort "$f" "$g"; done; done`, `for f in a; do sort "$f"; done && for g in b; do sort "$g"; done`, `for f in a b; do if ls "$f"; then wc "$f"; fi; done`} {
		if got := c.JudgeValue(text(s), true); got != where.Yes {
			t.Errorf("%q: %s", s, verdicts[got])
		}
	}
	for _, s := range []string{`for f in .env; do cat "$f"; done`, `for f in a .env; do cat "$f"; done`, `for f in *; do cat "$f"; done`, `for f in *.key; do cat "$f"; done`, `for f in {a,.env}; do cat "$f"; done`,
		`for f in $(ls); do cat "$f"; done`, `for f in -o; do sort $f x; done`, `for f in --files0-from=a; do du "$f"; done`, `for f in *.go; do sort $f; done`, `for f in "a b"; do sort "$f"; done`,
		`for f in a; do sort ".$f"; done`, `for f in a; do f=.env; cat "$f"; done`, `for f in a; do read f; sort "$f"; done`, `for f in a; do for f in -o; do sort "$f" x; done; done`,
		`for f in a; do sort "${f:-x}"; done`, `for f in a; do sort "$g"; done`, `for f in ~/.ssh; do cat "$f"/id; done`, `for f in a; do nosuch "$f"; done`, `for f in -delete; do find "$f"; done`,
		"for f in " + strings.Repeat("abcdefgh ", 300) + `; do wc "$f"; done`, `for f in a; do $x "$f"; done`, `for f in a; do "$f"; done`, `for ((;;)); do sort "$f"; done`} {
		if got := c.JudgeValue(text(s), true); got == where.Yes {
			t.Errorf("%q is allowed", s)
		}
	}
}

// TestMadeWords: a wildcard stands for no word of which the text makes a part, where the
// program shows the file: .$(echo env) is one of secrets.
func TestMadeWords(t *testing.T) {
	c, err := shell.New([]shell.Setting{{Name: "run", List: []string{"cat **", "grep **", "echo **", "ls **", "git **", "xargs **", "find **"}}}, shell.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]bool{
		`cat ".$(echo env)"`: false, `for e in nv; do cat ".e$e"; done`: false, `for f in *; do grep x "$f"; done`: false, `grep x "a/$(ls)"`: false, `git show "HEAD:.$(echo env)"`: false,
		`cat "a/$USER.txt"`: true, `echo ".$(ls)"`: true, `for e in a; do ls ".$e"; done`: true, `ls | xargs grep x`: true, `find . -name '*.go' -exec grep x {} +`: true, `git log "$(git tag)"`: false,
		`cat ~/a`: true, `grep "$USER" a`: true,
	} {
		if got := c.JudgeValue(text(s), true) == where.Yes; got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
}
