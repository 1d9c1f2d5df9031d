package shell

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// global holds the options of a program that stand before its subcommand or target and that do not
// change what the command runs, reads or contacts. Any other option in this place belongs to the
// command: `git -c x=y log`, `docker --context x ps`, `cargo +nightly`.
type global struct {
	flags  string
	valued string // options with a value, in the same or in the next word
	joined string // options with a value after "="
	dirs   string // options that set the working folder
}

var globals = map[string]global{
	"git": {flags: "-P --no-pager --no-optional-locks --no-replace-objects --no-advice --literal-pathspecs " +
		"--glob-pathspecs --noglob-pathspecs --icase-pathspecs", dirs: "-C"},
	"go":        {dirs: "-C"},
	"cargo":     {flags: "-q --quiet -v -vv --verbose --offline --locked --frozen", valued: "--color", dirs: "-C"},
	"npm":       {flags: "-s --silent --quiet --no-color --no-fund --no-audit", dirs: "--prefix -C"},
	"pnpm":      {flags: "-s --silent --no-color", dirs: "-C --dir"},
	"yarn":      {flags: "-s --silent", dirs: "--cwd"},
	"make":      {flags: "-s --silent --quiet -k --keep-going -w --print-directory --no-print-directory", dirs: "-C --directory"},
	"gmake":     {flags: "-s --silent --quiet -k --keep-going -w --print-directory --no-print-directory", dirs: "-C --directory"},
	"docker":    {flags: "-D --debug", valued: "-l --log-level"},
	"kubectl":   {valued: "-n --namespace --request-timeout"},
	"oc":        {joined: "-n --namespace --request-timeout"},
	"helm":      {joined: "-n --namespace"},
	"terraform": {dirs: "-chdir"},
	"tofu":      {dirs: "-chdir"},
}

// stripGlobals returns a command without its global options, and the folders in these
// options. It returns the same words when there are none.
func stripGlobals(words []word) (rest, dirs []word) {
	g, known := globals[canonicalName(words[0].text)]
	if !words[0].known || !known {
		return words, nil
	}
	at := 1
	for ; at < len(words) && words[at].known; at++ {
		option, value, attached := strings.Cut(words[at].text, "=")
		attached = attached && (strings.HasPrefix(option, "--") || option == "-chdir")
		dir := listedIn(g.dirs, option)
		switch {
		case listedIn(g.flags, words[at].text):
			continue
		case attached && dir:
			dirs = append(dirs, word{text: value, known: true})
			continue
		case attached && (listedIn(g.valued, option) || listedIn(g.joined, option)):
			continue
		case option != words[at].text || !dir && !listedIn(g.valued, option), option == "-chdir":
		case at+1 < len(words) && words[at+1].isValue():
			if at++; dir {
				dirs = append(dirs, words[at])
			}
			continue
		}
		break
	}
	if at == 1 {
		return words, nil
	}
	return append([]word{words[0]}, words[at:]...), dirs
}

// isValue reports whether a word is a single value and cannot be an option.
func (w *word) isValue() bool {
	return !w.many && !w.split && (!w.known || w.text == "" || strings.IndexByte("-+@:", w.text[0]) < 0)
}

// judgeFolders reports whether the rule names the working folders that a command's options set. If
// the rule names no folders, a folder of the project is accepted if the rule allows a cd to it. For
// several folders the answer is Maybe, because each folder is relative to the previous one.
func (j *judge) judgeFolders(dirs []word) where.Match {
	switch {
	case len(dirs) == 0:
		return where.Yes
	case len(dirs) > 1:
		return where.Maybe
	case j.dir == nil && !j.isBelowStart(&dirs[0]):
		return where.No
	case j.dir == nil:
		change := []word{{text: "cd", known: true}, dirs[0]}
		e := commandEffects(change)
		return j.matchPatterns(change, &e)
	}
	return j.judgePaths(j.wordPaths(&dirs[0]), j.dir)
}
