package shell

import "strings"

// expander is a program that expands wildcards itself. So a quoted word can name files that its
// letters do not show.
type expander struct {
	signs   string // characters that make a word a wildcard
	options string // options whose value is a wildcard; "" if any word may be a wildcard
	texts   string // options whose value is a text and not the name of a file
}

// expanders maps names to the programs that expand wildcards. The shell itself expands unquoted
// wildcards; for rules about places, a word with such a wildcard is unknown.
var expanders = map[string]expander{
	"curl": {signs: "[{", texts: "-d --data --data-raw --data-ascii --data-binary --data-urlencode --json -H --header -F --form --form-string " +
		"-w --write-out -A --user-agent -b --cookie -u --user -X --request -e --referer"},
	"rg":    {signs: wildcards, options: "-g --glob --iglob --type-add --pre-glob"},
	"grep":  {signs: wildcards, options: "--include --exclude-from"},
	"egrep": {signs: wildcards, options: "--include --exclude-from"},
	"fgrep": {signs: wildcards, options: "--include --exclude-from"},
	"zgrep": {signs: wildcards, options: "--include --exclude-from"},

	"kubectl": {signs: wildcards, options: "-f --filename -k --kustomize"},
	"oc":      {signs: wildcards, options: "-f --filename -k --kustomize"},
}

const wildcards = `*?[{\`

// expandingAll are programs that may expand any of their words.
const expandingAll = "tar gtar bsdtar unzip zip zipinfo zipgrep funzip 7z 7za 7zz 7zr unrar rar unar lsar lha arj cpio pax " +
	"rsync scp sftp lftp ncftp rclone s3cmd aws gsutil az azcopy mc hg " +
	"prettier eslint stylelint tslint standard xo mocha ava c8 nyc tap jasmine vitest jest cspell markdownlint markdownlint-cli2 remark " +
	"nodemon rimraf del cpy copyfiles terser uglifyjs sass lessc esbuild swc babel ts-node tsx node deno bun npx pnpx bunx " +
	"black ruff isort flake8 bandit coverage"

// expandsWildcard reports whether a word of a command is a wildcard that the program itself
// expands. The program then reads files that no word names.
func expandsWildcard(words []word) bool {
	if !words[0].known {
		return false // without a word, the name of the program is unknown too
	}
	name := canonicalName(words[0].text)
	switch e, known := expanders[name]; {
	case name == "git":
		return expandsPathspec(words)
	case name == "gh":
		return len(words) > 1 && words[1].text == "release" && (&expander{signs: wildcards}).findWord(words, 1)
	case name == "find" || name == "gfind":
		return changesFiles(words) && (&expander{signs: wildcards}).findWord(words, 1)
	case known && e.options != "":
		return e.findValue(words)
	case known:
		return e.findWord(words, 1)
	case listedIn(expandingAll, name) || !isKnownProgram(name):
		return (&expander{signs: wildcards}).findWord(words, 1)
	}
	return false
}

// findWord looks at the words from the given index on. It reports whether at least one of them is a
// wildcard and not a text.
func (e *expander) findWord(words []word, from int) bool {
	for i := from; i < len(words); i++ {
		if w := &words[i]; w.known && strings.ContainsAny(w.text, e.signs) && !isText(words, i, e.texts) {
			return true
		}
	}
	return false
}

// isText reports whether a word is the value of an option that takes a text. It returns false if
// the option may itself be the value of the previous option.
func isText(words []word, i int, texts string) bool {
	if i < 2 || !words[i-1].known || !words[i-2].known {
		return false
	}
	r, option := rowOf(words), words[i-1].text
	for len(option) > 2 && option[1] != '-' && r != nil { // -am means -a -m
		if kind, known := r.options.byName()[option[:2]]; !known || kind != none {
			return false
		}
		option = "-" + option[2:]
	}
	if !listedIn(texts, option) {
		return false
	}
	before := words[i-2].text
	if i == 2 || !strings.HasPrefix(before, "-") {
		return true
	}
	if r == nil {
		return false
	}
	ok, next := r.findOption(before)
	return ok && next != required
}

// findValue reports whether the value of one of the options, in the same word or the
// next, is a wildcard.
func (e *expander) findValue(words []word) bool {
	for i := 1; i < len(words); i++ {
		w, before := &words[i], words[i-1].text
		switch {
		case w.text == "--" && !strings.HasPrefix(before, "-"):
			return false // only operands follow, and the program does not expand operands
		case !w.known || !strings.ContainsAny(w.text, e.signs):
		case strings.HasPrefix(w.text, "--"):
			if name, _, _ := strings.Cut(w.text, "="); e.hasOption(name) {
				return true
			}
		case strings.HasPrefix(w.text, "-"):
			if e.hasOption(w.text[:strings.IndexAny(w.text, e.signs)]) {
				return true
			}
		case i > 1 && strings.HasPrefix(before, "-") && before != "--":
			if e.hasOption(before) {
				return true
			}
		}
	}
	return false
}

// hasOption reports whether a word is one of the options: a long option, which may be shortened, or
// a bundle with a short option.
func (e *expander) hasOption(text string) bool {
	for option := range strings.FieldsSeq(e.options) {
		if strings.HasPrefix(text, "--") && strings.HasPrefix(option, text) ||
			!strings.HasPrefix(text, "--") && len(option) == 2 && strings.Contains(text, option[1:]) {
			return true
		}
	}
	return false
}

// changesFiles reports whether find does something to the files that it found, and does not only
// print their names.
func changesFiles(words []word) bool {
	for i := range words {
		if w := &words[i]; !w.known || listedIn("-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls", w.text) {
			return true
		}
	}
	return false
}

// refsOnly are subcommands of git whose operands name no files.
const refsOnly = "branch tag ls-remote for-each-ref describe config fetch push pull remote rev-parse show-ref symbolic-ref notes merge-base name-rev"

// gitTexts maps each subcommand of git to its options whose next word is a text.
var gitTexts = map[string]string{
	"commit": "-m --message --author --date --trailer", "merge": "-m --message",
	"log": gitSeeks, "show": gitSeeks, "shortlog": gitSeeks, "whatchanged": gitSeeks, "rev-list": gitSeeks,
	"diff": "-S -G", "grep": "-e",
}

const gitSeeks = "-S -G --grep --author --committer --since --until --after --before"

// expandsPathspec reports whether a word may be a git pathspec that is more than a
// path: a wildcard, or a word that begins with a colon.
func expandsPathspec(words []word) bool {
	words, _ = stripGlobals(words)
	if len(words) < 2 || !words[1].known || strings.HasPrefix(words[1].text, "-") {
		return (&expander{signs: `*?[\`}).findWord(words, 1)
	}
	sub := words[1].text
	if listedIn(refsOnly, sub) {
		return false
	}
	paths, patternSeen := false, sub != "grep" // paths: "--" has come; patternSeen: the pattern of git grep has come
	for i := 2; i < len(words); i++ {
		w := &words[i]
		switch {
		case !w.known:
			patternSeen = true
		case paths:
			if isPathspec(w) {
				return true
			}
		case w.text == "--" || w.text == "--end-of-options":
			paths = true
		case strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "="), isText(words, i, gitTexts[sub]):
		case strings.HasPrefix(w.text, "-"):
			patternSeen = patternSeen || !plainFlags(w.text)
			if sub == "grep" && strings.HasPrefix(w.text, "-e") {
				continue // the pattern is in this word or in the next
			}
			if isPathspec(w) && !strings.HasPrefix(w.text, "-S") && !strings.HasPrefix(w.text, "-G") {
				return true
			}
		case !patternSeen && strings.Trim(w.text, "0123456789") == "" && listedIn("-A -B -C -m", words[i-1].text):
		case !patternSeen:
			patternSeen = true // the search pattern
		case isPathspec(w):
			return true
		}
	}
	return false
}

// isPathspec reports whether git reads a word as more than a path. It returns false for the special
// characters in the name of a revision, such as HEAD^{tree}.
func isPathspec(w *word) bool {
	return strings.HasPrefix(w.text, ":") || strings.ContainsAny(w.text, `*?[\`)
}

// plainFlags reports whether a word holds options of git grep that take no value.
func plainFlags(text string) bool {
	if strings.Trim(text[1:], "ABCm0123456789") == "" {
		return true // -A3, or -A with its value in the next word
	}
	return strings.Trim(text[1:], "achiklnopqrvwzEFGHIPWL") == "" ||
		listedIn("--cached --untracked --no-index --text --ignore-case --word-regexp --invert-match --line-number --count --name-only "+
			"--files-with-matches --extended-regexp --basic-regexp --fixed-strings --perl-regexp --no-color --color --heading --break --show-function "+
			"--all-match --quiet --column --only-matching", text)
}
