package shell

import "strings"

// launcher is an interpreter, or a program that runs others by name: it takes
// the script or the program as its first operand, and code from an option or
// from its input. Options that are not listed leave what it runs unknown.
type launcher struct {
	names  string
	flags  string // options that change nothing about what is run
	module string // option before the operand that names what to run
	subs   string // words before it
}

var launchers = []launcher{
	{names: "python pypy jython ipython micropython pythonw py", flags: "-u -B -O -OO -E -s -S -I -q", module: "-m"},
	{names: "node nodejs", flags: "--no-warnings --test --check"},
	{names: "perl ruby jruby truffleruby", flags: "-w -c"},
	{names: "deno crystal v tsx", subs: "run r serve watch", flags: "-A --allow-all --allow-net --allow-read --allow-write --allow-env --allow-run " +
		"--allow-sys --allow-ffi --allow-import --no-prompt --no-check --check -q --quiet --cached-only --frozen"},
	{names: "php lua luajit tcl julia ts-node esno swift java dotnet-script guile racket sbcl clisp " +
		"csi gsi bb clojure clj nu fish tcsh csh xonsh elvish rc es qjs d8 gjs raku source . " +
		"bpython jruby nim janet pwsh-preview k escript"},
	{names: "npx bunx pnpx uvx dlx", flags: "-y --yes --no-install"},
}

func (l launcher) effects(words []word) effect {
	var stays []int
	for at := 1; at < len(words); at++ {
		text := words[at].text
		switch {
		case len(stays) == 0 && words[at].known && listedIn(l.subs, text):
			stays = append(stays, at)
		case !words[at].known, text == "-", text == "", strings.HasPrefix(text, "/dev/"), strings.HasPrefix(text, "/proc/"):
			return hides()
		case l.module != "" && text == l.module && at+1 < len(words) && words[at+1].known:
			return effect{stays: []int{at}, named: []int{at + 1}}
		case !strings.HasPrefix(text, "-"):
			return effect{stays: stays, named: []int{at}}
		case len(words) == 2 && listedIn("-V -v --version -h --help", text):
			return effect{}
		case !listedIn(l.flags, text):
			return hides()
		}
	}
	return hides() // code from the input
}

// shell is a POSIX shell: -c takes a text, which is judged like the one it
// stands in.
func shell(words []word) effect {
	for at := 1; at < len(words); at++ {
		text := words[at].text
		switch {
		case !words[at].known:
			return hides()
		case strings.HasPrefix(text, "-") && len(text) > 1 && strings.Trim(text[1:], "euxvfn") == "":
			continue
		case strings.HasPrefix(text, "-") && strings.HasSuffix(text, "c") && strings.Trim(text[1:], "euxvfnc") == "" &&
			at+1 < len(words) && words[at+1].known:
			if strings.HasPrefix(words[at+1].text, "-") || strings.HasPrefix(words[at+1].text, "+") {
				return hides() // more options may follow -c
			}
			return effect{texts: []string{words[at+1].text}}
		}
		break
	}
	return launcher{flags: "-e -u -x -v -f -n -eu -eux -ex"}.effects(words)
}
