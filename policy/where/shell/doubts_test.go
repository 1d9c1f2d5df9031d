package shell

import (
	"strings"
	"testing"
)

// TestDoubts: what a text may do beyond what its words say. What the words say, the answer's
// own look at a call finds (TestCovers in internal/ask/remember).
func TestDoubts(t *testing.T) {
	const shut, unread, deletes = "shut", "unread", "deletes"
	for text, want := range map[string]string{
		"cat *":                                 shut,
		"cat a/*":                               shut,
		"cat *.json":                            shut, // credentials.json
		"cat *.y?ml":                            shut,
		"cat [":                                 "",
		"cat [a-]*":                             shut,
		`cat "$f"`:                              shut,
		"cat $(ls)":                             shut,
		"cat $'\\056env'":                       shut,
		"cat < $f":                              shut,
		"x > .bash$f":                           shut,
		"git show $f":                           shut,
		"git archive HEAD":                      shut,
		"zip -r a.zip .":                        shut,
		"grep -r x":                             shut,
		"grep {-r,x} .":                         shut,
		"find . -exec cat {} +":                 shut,
		"ls | xargs cat":                        shut,
		"ls .ssh | xargs cat":                   shut,
		"cat list | xargs -I@ cat a/@":          shut,
		"for f in *; do cat $f; done":           shut,
		"for f in a; do cat .$f$g; done":        shut,
		"for f in a; do cat $fg; done":          shut,
		"for f in \"a b\"; do cat \"$f\"; done": shut,
		"for f; do cat $f; done":                shut,
		"while read f; do cat $f; done":         shut,
		"sh -c 'cat *'":                         shut,

		"$X -r a":                               unread,
		"python3 -c 1":                          unread,
		"cat a | sh":                            unread,
		"awk '{print > $1}' a":                  unread,
		"if true":                               unread,
		"echo \x01":                             unread,
		"find . -exec sh -c 'echo $1' _ {} ';'": shut + unread,
		strings.Repeat("env ", 20) + "ls":       unread,
		strings.Repeat("eval ", 20) + "ls":      unread,
		"rm -r a":                               deletes,
		"rm {-r,a}":                             deletes,
		"rm a/*":                                shut + deletes,
		"rm $a":                                 deletes,
		"ls *.o | xargs rm":                     deletes,
		"find a -exec unlink {} ';'":            deletes,
		"for f in -r; do rm $f a; done":         deletes,
		"for f in 1 2; do for g in *; do rm $g; done; done": shut + deletes,

		"cat a b":                            "",
		"cat *.go":                           "",
		"ls *":                               "",
		"ls -l $d":                           "",
		"echo \"$(date)\"":                   "",
		"cat \"$HOME/a\" ~/a":                "",
		"tar -xzf a.tgz":                     "",
		"tar czf a.tgz src":                  "",
		"git log -p":                         "",
		"git commit -m \"$(cat a.txt)\"":     "",
		"find . -name '*.go' | xargs cat":    "",
		"find src -exec cat {} +":            "",
		"rg -l x | xargs sed -i s/a/b/":      "",
		"git grep -l x | xargs cat":          "",
		"git ls-files '*.go' | xargs cat":    "",
		"ls | xargs wc -l":                   "",
		"for f in *.go; do cat \"$f\"; done": "",
		"for f in a b; do cat ${f}.go; done; for g in c; do head $g; done": "",
		"for i in 1 2; do for f in a b; do head $f$i; done; done":          "",
		"rm a.o b/*.o": "",
		"make -j4":     "",
	} {
		d := DoubtsOf(text)
		got := ""
		for _, one := range [][2]string{{shut, d.Shut}, {unread, d.Unread}, {deletes, d.Deletes}} {
			if one[1] != "" {
				got += one[0]
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %+v", text, got, want, d)
		}
	}
}

// TestDoubtsAreBounded: loops within loops are no way to make the look at a text long.
func TestDoubtsAreBounded(t *testing.T) {
	text := "cat $a"
	for _, name := range strings.Split("abcdefg", "") {
		text = "for " + name + " in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo $" + name + "; " + text + "; done"
	}
	if d := DoubtsOf(text); d.Unread == "" {
		t.Errorf("%+v", d)
	}
}
