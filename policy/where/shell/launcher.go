package shell

import "strings"

// launcher is an interpreter, or a program that runs others by name. Its first operand is the
// script or the program; code may also come from an option or from the launcher's input. If an
// option is not listed, the effect of the command is unknown.
type launcher struct {
	names  string
	flags  string // options that do not change what is run
	module string // option before the operand; a program's name follows the option
	subs   string // words that may stand before the operand
	runs   target // what the operand names
	// Options that only print, in the version of every vendor; with other options a version may
	// read a program from its input.
	shows string
}

// target is the kind of thing that a launcher runs by name.
type target byte

const (
	fileTarget    target = iota // a file or a task of the project
	programTarget               // a program; its own row judges it
	greedyTarget                // a program; the launcher reads the program's options as its own, up to "--"
)

var launchers = []launcher{
	{names: "python pypy jython ipython micropython pythonw py", flags: "-u -B -O -OO -E -s -S -I -q", module: "-m", shows: "-V -h"},
	{names: "node nodejs", flags: "--no-warnings --test --check", shows: "-v -h"},
	{names: "perl ruby truffleruby", flags: "-w -c", shows: "-V -v -h"},
	{names: "deno crystal v tsx", subs: "run r serve watch", shows: "-V -h", flags: "-A --allow-all --allow-net --allow-read --allow-write --allow-env --allow-run " +
		"--allow-sys --allow-ffi --allow-import --no-prompt --no-check --check -q --quiet --cached-only --frozen"},
	{names: "php lua luajit", shows: "-v"},
	{names: "tcl julia ts-node esno swift java dotnet-script guile racket sbcl clisp " +
		"csi gsi bb clojure clj nu fish tcsh csh xonsh elvish rc es qjs d8 gjs raku source . " +
		"bpython jruby nim janet pwsh-preview k escript"},
	{names: "npx bunx pnpx uvx dlx", flags: "-y --yes --no-install", runs: programTarget, shows: "-V -v -h"},
}

func (l launcher) readEffects(words []word) effect {
	var stays []int
	for at := 1; at < len(words); at++ {
		text := words[at].text
		switch {
		case len(stays) == 0 && words[at].known && listedIn(l.subs, text):
			stays = append(stays, at)
		case !words[at].known, text == "-", text == "", strings.HasPrefix(text, "/dev/"), strings.HasPrefix(text, "/proc/"):
			return hiddenEffect()
		case l.module != "" && text == l.module && at+1 < len(words) && words[at+1].known:
			return effect{stays: []int{at}, named: []int{at + 1}, launched: []int{at + 1}}
		case text == "--" && l.runs == greedyTarget && at+1 < len(words) && words[at+1].known:
			return effect{stays: stays, named: []int{at + 1}, launched: []int{at + 1}}
		case !strings.HasPrefix(text, "-"):
			e := effect{stays: stays, named: []int{at}}
			if l.runs == fileTarget {
				e.filed = e.named
			} else {
				e.launched = e.named
			}
			for i := at + 1; l.runs == greedyTarget && i < len(words) && words[i].text != "--"; i++ {
				if strings.HasPrefix(words[i].text, "-") || words[i].mayBeOption() {
					e.stays = append(e.stays, i)
				}
			}
			return e
		case len(words) == 2 && listedIn(l.shows, text):
			return effect{}
		case !listedIn(l.flags, text):
			return hiddenEffect()
		}
	}
	return hiddenEffect() // the code comes from the input
}

// maxLaunched is the largest number of launchers in a row: npx npm exec tsc.
const maxLaunched = 3

// addLaunched adds the effect of the program that a word names; the row of the program judges the
// words after it. If the word names a file, the file is a script, which may do anything. But a file
// with the name of a known program counts as this program: node_modules/.bin/tsc. A launcher may
// remove the first "--".
func (e *effect) addLaunched(words []word, at, depth int, file bool) {
	if depth == maxLaunched {
		e.hidden, e.handed = true, true
		return
	}
	name := words[at].text
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i] // tsc@5 becomes tsc
	}
	file = file || strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, "@") || isScriptFile(name)
	if file && (strings.Contains(baseName(name), ".") || !isKnownProgram(canonicalName(name))) {
		return
	}
	inner := append([]word{{text: name, known: true}}, words[at+1:]...)
	e.mergeEffect(launchedBy(inner, depth+1), at)
	for i := range inner {
		if !inner[i].known || inner[i].text != "--" {
			continue
		}
		more := launchedBy(append(inner[:i:i], inner[i+1:]...), depth+1)
		for _, list := range [][]int{more.stays, more.named} {
			for n := range list {
				if list[n] >= i {
					list[n]++
				}
			}
		}
		e.mergeEffect(more, at)
		return
	}
}

// isScriptFile reports whether a word is a file that an interpreter runs.
func isScriptFile(name string) bool {
	for _, end := range [...]string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".go", ".rb", ".sh"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// readShell reads the words of a POSIX shell. The text after -c is judged like the
// text around it.
func readShell(words []word) effect {
	for at := 1; at < len(words); at++ {
		text := words[at].text
		switch {
		case !words[at].known:
			return hiddenEffect()
		case strings.HasPrefix(text, "-") && len(text) > 1 && strings.Trim(text[1:], "euxvfn") == "":
			continue
		case strings.HasPrefix(text, "-") && strings.HasSuffix(text, "c") && strings.Trim(text[1:], "euxvfnc") == "" &&
			at+1 < len(words) && words[at+1].known:
			if strings.HasPrefix(words[at+1].text, "-") || strings.HasPrefix(words[at+1].text, "+") {
				return hiddenEffect() // more options may follow -c
			}
			return effect{texts: []string{words[at+1].text}}
		}
		break
	}
	return launcher{flags: "-e -u -x -v -f -n -eu -eux -ex"}.readEffects(words)
}
