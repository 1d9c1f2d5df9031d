package shell

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where"
)

// mayShowSecrets reports whether a wildcard of the pattern matches a word with which a program may
// show a file in a place of secrets. For a rule with paths the answer is not needed, because the
// rule names its files itself.
func (j *judge) mayShowSecrets(p *pattern, words []word) bool {
	if j.files != nil || p.isExact() || !words[0].known {
		return false
	}
	for i := 1; i < len(words); i++ {
		w := &words[i]
		shut := textclass.MayNameShut(w.text) && newReader(words, "").namesShut(i) || w.isComputed() && newReader(words, "").handlesFiles()
		if shut && !p.opensOption(i, w.text) && !p.meansShut(i) {
			return true
		}
	}
	return false
}

// meansShut reports whether word i of the pattern itself names a place of secrets, as .env* and
// .ssh/** do. Wildcards alone do not name one.
func (p *pattern) meansShut(i int) bool {
	if i >= len(p.texts) {
		return false
	}
	text := strings.TrimRight(p.texts[i], "*")
	if text = strings.TrimSuffix(text, "/"); text == "" || baseName(text) == "" {
		return false
	}
	return textclass.NamesShut(text) || !strings.HasSuffix(p.texts[i], "/*") && textclass.NamesShut(p.texts[i])
}

// reader is a command that may show the contents of files.
type reader struct {
	words []word
	base  string // the folder in which the text starts; "" if it is not known
	name  string
}

func newReader(words []word, base string) *reader {
	return &reader{words: words, base: base, name: canonicalName(words[0].text)}
}

// handling are programs that show, copy or change the contents of the files that their words name.
// Other programs may also get names of files, but it is not known what they do with the files.
const handling = "cat tac head tail less more most bat batcat nl od xxd hexdump strings base64 base32 basenc grep egrep fgrep zgrep rg ag ack " +
	"sed gsed awk gawk mawk nawk sort uniq cut paste tr fold fmt pr rev column expand iconv diff cmp comm look join split csplit " +
	"jq yq dd curl wget scp rsync cp mv ln tee install touch tar gtar bsdtar zip 7z 7za 7zz gzip bzip2 xz zcat bzcat xzcat zless " +
	"openssl gpg vim vi nano ed pico emacs source . envsubst xargs"

// gitHandling are the subcommands of git that show, copy or change the contents of
// files.
const gitHandling = "show diff log blame cat-file grep archive hash-object apply checkout restore mv"

// handlesFiles reports whether a program shows, copies or changes the contents of the
// files that its words name.
func (r *reader) handlesFiles() bool {
	return listedIn(handling, r.name) || listedIn(gitHandling, r.gitSubcommand()) || listedIn(archiving, r.name)
}

// isComputed reports whether the value of a word comes from a command or a variable of the text.
// The letters of such a word do not show the file that it names.
func (w *word) isComputed() bool {
	return !w.known && !w.owner && !w.inherited && !w.home && !w.fed && (w.split || !strings.ContainsAny(w.text, "*?[{~"))
}

// namesOnly and gitNamesOnly are programs, and subcommands of git, that show only a
// file's name, its size and similar facts.
const (
	namesOnly    = "ls dir vdir du wc stat test [ mkdir find gfind"
	gitNamesOnly = "check-ignore check-attr ls-files status rev-parse branch tag remote describe merge-base"
)

// namesShut reports whether word i may name a place of secrets, and the program shows the contents
// of this place.
func (r *reader) namesShut(i int) bool {
	w, sub := &r.words[i], r.gitSubcommand()
	option, _, valued := strings.Cut(w.text, "=")
	switch {
	case r.showsNames(sub) && !strings.HasPrefix(w.text, "--f"),
		valued && strings.HasPrefix(option, "--exclude"), strings.HasPrefix(r.words[i-1].text, "--exclude") && isText(r.words, i, r.words[i-1].text),
		sub != "" && (valued && listedIn(gitTexts[sub], option) || isText(r.words, i, gitTexts[sub])),
		i == r.findPattern(sub):
		return false
	}
	parts := scriptReader(r.name)(w)
	if i != findScript(r.words) {
		shown := *w
		shown.known = true
		parts = append(parts, rowOf(r.words).pathParts(&shown)...)
	}
	return slices.ContainsFunc(parts, func(part word) bool { return part.text == "" || textclass.NamesShut(part.text) })
}

func (r *reader) showsNames(sub string) bool {
	return listedIn(namesOnly, r.name) && !(strings.HasSuffix(r.name, "find") && changesFiles(r.words)) || sub != "" && listedIn(gitNamesOnly, sub)
}

// gitSubcommand returns the subcommand of git, or "" for another program.
func (r *reader) gitSubcommand() string {
	if r.name != "git" {
		return ""
	}
	rest, _ := stripGlobals(r.words)
	return rest[min(1, len(rest)-1)].text
}

// seeks maps a program to the options that set its search text. Without these options,
// the first operand is the search text or a filter.
var seeks = map[string][]string{
	"grep": {"-e", "--regexp", "-f", "--file"}, "rg": {"-e", "--regexp", "-f", "--file", "--files", "--type-list"}, "jq": {"-f", "--from-file"},
}

// findPattern returns the index of the word that is the program's search text, so that this word
// names no file. It returns 0 if this is not certain.
func (r *reader) findPattern(sub string) int {
	name := r.name
	if name == "git" {
		name = sub
	} else if strings.HasSuffix(name, "grep") {
		name = "grep"
	}
	options, row, subSeen := seeks[name], rowOf(r.words), sub == ""
	if options == nil || hasOption(r.words, options) != where.No {
		return 0
	}
	for i := 1; i < len(r.words); i++ {
		before, valued := r.words[i-1].text, row.mayTake(r.words[i-1].text)
		switch text := r.words[i].text; {
		case !r.words[i].known && (strings.HasPrefix(text, "-") || r.words[i].split):
			return 0
		case strings.HasPrefix(text, "-"), listedIn("-A -B -C -m", before) && isNumber(text), valued && name == "rg":
		case valued:
			return 0 // another vendor's program may read this word as the pattern
		case !subSeen:
			subSeen = text == sub
		default:
			return i
		}
	}
	return 0
}

// mayTake reports whether a word is an option that may take the next word as its
// value.
func (r *row) mayTake(text string) bool {
	if r == nil || !strings.HasPrefix(text, "-") || strings.Contains(text, "=") || text == "--" {
		return false
	}
	kind, known := r.options.byName()[text]
	if !known && !strings.HasPrefix(text, "--") {
		kind, known = r.options.byName()["-"+text[len(text)-1:]]
	}
	return !known || kind != none
}

// Options with which a program also shows the contents of files that it otherwise skips, or of all
// files in a folder.
var (
	recurses = []string{"-r", "-R", "--recursive", "--dereference-recursive", "-d", "--directories"}
	unhides  = []string{"-.", "--hidden", "-u", "--unrestricted", "--no-ignore", "--no-ignore-vcs", "--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-files",
		"--no-ignore-global", "--no-ignore-parent"}
	untracked = []string{"--no-index", "--untracked", "--no-exclude-standard"}
	batches   = []string{"--batch", "--batch-command", "--batch-all-objects"}
	runs      = []string{"-exec", "-execdir", "-ok", "-okdir"}
)

// archiving are programs that put all files of a folder into one file or into their output.
const archiving = "tar gtar bsdtar zip 7z 7za 7zz pax rar"

// widths maps each value of the key search to whether the rule matches wide searches. If not, the
// rule matches narrow searches.
var widths = map[string]bool{"wide": true, "narrow": false}

func parseSearch(list []string) (string, error) {
	if _, known := widths[list[0]]; !known || len(list) > 1 {
		return "", errors.New(`it is "narrow" or "wide"`)
	}
	return list[0], nil
}

// judgeSearch reports whether a command searches as the rule's key search demands: widely or
// narrowly.
func (j *judge) judgeSearch(words []word) where.Match {
	if j.search == "" {
		return where.Yes
	}
	wide := where.Maybe
	if words[0].known {
		wide = newReader(words, j.base).looksWide()
	}
	if widths[j.search] {
		return wide
	}
	return where.Yes - wide
}

// looksWide reports whether a program shows the contents of every file in the folder, including
// files with secrets. grep -r . and rg --hidden are such commands.
func (r *reader) looksWide() where.Match {
	sub := r.gitSubcommand()
	switch {
	case sub == "cat-file":
		return r.hasOption(batches) // with one of these options, the input and not the command line names the objects
	case r.name == "diff", listedIn(archiving, r.name):
		// diff compares files with the same names in two folders, also without an
		// option.
		named, _ := r.findRoots(sub)
		return max(where.MatchOf(named), r.looksAround(recurses, sub))
	case strings.HasSuffix(r.name, "grep"):
		return r.looksAround(recurses, sub)
	case r.name == "rg":
		return r.looksAround(unhides, sub)
	case strings.HasSuffix(r.name, "find"):
		return r.looksAround(runs, sub)
	case sub == "grep", sub == "diff":
		return r.looksAround(untracked, sub)
	}
	if row := rowOf(r.words); row != nil && row.any {
		return where.No // echo never reads a file
	}
	return r.hasOption([]string{"--files0-from"})
}

// hasOption reports whether a command has one of the options. The shell may replace a wildcard by a
// file name that looks like an option; hasOption ignores such names.
func (r *reader) hasOption(options []string) where.Match {
	v := where.No
	row := rowOf(r.words)
	for i := 1; i < len(r.words); i++ {
		switch w := &r.words[i]; {
		case strings.HasPrefix(w.text, "-"):
			v = max(v, spellsOption(w.text, options, row))
		case w.mayBeOption() && !w.isFileGlob():
			v = max(v, where.Maybe)
		}
	}
	return v
}

// looksAround reports whether a command with one of the options reads files that its words do not
// name. It returns No if the command only reads files without secrets (narrowsFiles) or only
// searches folders inside the project (atRoot).
func (r *reader) looksAround(options []string, sub string) where.Match {
	v := r.hasOption(options)
	if v == where.No || r.narrowsFiles() || !r.atRoot(sub) {
		return where.No
	}
	return v
}

// narrowsFiles reports whether a search reads only files whose names show that they hold no secret.
func (r *reader) narrowsFiles() bool {
	some := false
	for i := 1; i < len(r.words); i++ {
		option, value, valued := strings.Cut(r.words[i].text, "=")
		if listedIn("-o -or -not ! ,", option) {
			return false // these options also select other files
		}
		if !listedIn("--include -g --glob --iglob -name -iname", option) {
			continue
		}
		if !valued && i+1 < len(r.words) {
			value = r.words[i+1].text
		}
		if strings.HasPrefix(value, "!") {
			continue
		}
		if value == "" || textclass.NamesShut(value) {
			return false
		}
		some = true
	}
	return some
}

// atRoot reports whether a folder of the command may be the whole project, or may contain the
// project. This is also true if the command names no folder.
func (r *reader) atRoot(sub string) bool {
	named, operands := r.findRoots(sub)
	return named || operands == 0
}

// findRoots reports whether a word may name the whole project, or a folder that contains the
// project. It also counts the operands.
func (r *reader) findRoots(sub string) (named bool, operands int) {
	pattern, row := r.findPattern(sub), rowOf(r.words)
	for i := 1; i < len(r.words); i++ {
		w := &r.words[i]
		if strings.HasSuffix(r.name, "find") && w.text != "" && strings.IndexByte("-(!", w.text[0]) >= 0 {
			break // the folders of find end before its first option
		}
		if i == pattern || strings.HasPrefix(w.text, "-") || w.text == sub || isNumber(w.text) {
			continue
		}
		if !row.mayTake(r.words[i-1].text) {
			operands++
		}
		if clean := path.Clean(w.text); !w.known && !w.home && !w.many || clean == "." || strings.HasPrefix(clean, "..") || textclass.SurroundsSecrets(clean) || strings.HasPrefix(r.base+"/", clean+"/") ||
			w.home && strings.Contains(r.base+"/", strings.TrimPrefix(clean, "~")+"/") {
			return true, operands
		}
	}
	return false, operands
}
