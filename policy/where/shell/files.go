package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Files are the files that a shell text may read and write, as far as its words show them. A
// program such as tar also writes files that its words do not name.
type Files struct {
	Reads   []string // files, and folders whose file names are read
	Folders []string // folders in which all files are read
	Writes  []string
}

// FilesOf returns the files of a shell text. For a relative path after a cd, it returns two paths:
// the path in the new folder, and the path as written.
func FilesOf(text string) (f Files) {
	r := runner{budget: 4 * maxText}
	r.readText(text, 0)
	folder := ""
	type known struct {
		to   *[]string
		name string
	}
	seen := map[known]bool{}
	add := func(to *[]string, name string) {
		for _, one := range [...]string{name, path.Join(folder, name)} {
			if rooted := path.IsAbs(name) || strings.HasPrefix(name, "~"); name != "" && !seen[known{to, one}] && (one == name || folder != "" && !rooted) {
				seen[known{to, one}] = true
				*to = append(*to, one)
			}
		}
	}
	// made: a variable may hold the name of a written file; ends: the known ends of such names
	made, ends := false, []string{}
	write := func(one *Run, name string) {
		add(&f.Writes, name)
		if rest, is := strings.CutPrefix(name, "/"); is && slices.Contains(one.unknown, true) {
			add(&f.Writes, rest) // "$PWD/a"
			ends = append(ends, name)
		}
	}
	for i := range r.runs {
		one := &r.runs[i]
		written := len(f.Writes)
		switch {
		case one.Program == "cd" || one.Program == "pushd":
			if at := slices.IndexFunc(one.Words, isOperand); at >= 0 {
				if to := one.Words[at]; path.IsAbs(to) || to[0] == '~' {
					folder = to
				} else {
					folder = path.Join(folder, to)
				}
			}
		case one.writes:
			write(one, one.into)
			made = made || slices.Contains(one.unknown, true)
		case one.from != "":
			add(&f.Reads, one.from)
		default:
			one.visitWrites(func(name string) { write(one, name) })
			made = made || slices.Contains(one.unknown, true) && (len(f.Writes) > written || one.mayWrite())
			one.visitReads(func(name string, below bool) {
				if below {
					add(&f.Folders, name)
				} else {
					add(&f.Reads, name)
				}
			})
		}
	}
	for i := range r.runs {
		if one := &r.runs[i]; made && one.Program == "" && !one.writes { // this is not a command: its words are values that the text gives to variables
			for _, value := range one.Words {
				add(&f.Writes, value)
				for _, end := range ends {
					add(&f.Writes, value+end)
				}
			}
		}
	}
	return f
}

// mayWrite reports whether a program writes into the files that its words name.
func (r *Run) mayWrite() bool { return listedIn(writers+" cp mv ln install rsync scp", r.Program) }

// writers are programs that write into the files of all their operands.
const writers = "tee truncate sponge ed ex vi vim nvim nano patch shred"

func isOperand(word string) bool { return word != "" && word[0] != '-' }

func countOperands(words []string) (n int) {
	for _, word := range words {
		if isOperand(word) {
			n++
		}
	}
	return n
}

// addRedirects adds a run for each file of a redirection.
func (r *runner) addRedirects(all []*syntax.Redirect) {
	for _, to := range all {
		if to.Word == nil {
			continue
		}
		target := readWord(to.Word)
		switch name := target.text; to.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob, syntax.RdrInOut:
			r.runs = append(r.runs, Run{writes: true, into: name, unknown: []bool{!target.known}})
		case syntax.DplOut:
			if strings.Trim(name, "0123456789-") != "" { // >&file
				r.runs = append(r.runs, Run{writes: true, into: name, unknown: []bool{!target.known}})
			}
		case syntax.RdrIn:
			r.runs = append(r.runs, Run{from: name})
		}
	}
}

// visitWrites visits the files that a program writes into.
func (r *Run) visitWrites(visit func(name string)) {
	var operands []string
	for _, word := range r.Words {
		if isOperand(word) {
			operands = append(operands, word)
		}
	}
	switch {
	case listedIn(writers, r.Program):
		for _, name := range operands {
			visit(name)
		}
	case listedIn("cp mv ln install rsync scp", r.Program) && (len(operands) > 1 || r.targetFolder() != ""):
		to, from := r.targetFolder(), operands
		if to == "" {
			to, from = operands[len(operands)-1], operands[:len(operands)-1]
		}
		visit(to)
		for _, from := range from {
			visit(path.Join(to, path.Base(from)))
		}
	case r.Program == "dd":
		for _, word := range r.Words {
			if name, is := strings.CutPrefix(word, "of="); is {
				visit(name)
			}
		}
	case listedIn("sed perl ruby", r.Program):
		if slices.ContainsFunc(r.Words, func(w string) bool {
			return strings.HasPrefix(w, "--in-place") || len(w) > 1 && w[0] == '-' && strings.HasPrefix(strings.TrimLeft(w[1:], "nErsuzplaw0"), "i")
		}) {
			for _, name := range operands {
				visit(name)
			}
		}
	case listedIn("curl wget", r.Program) && (r.Program == "wget" || slices.ContainsFunc(r.Words, func(w string) bool {
		return w == "--remote-name" || w[:min(2, len(w))] != "--" && strings.HasPrefix(w, "-") && strings.Contains(w, "O")
	})):
		for _, name := range operands { // without a given name, the program takes the end of the address as the file's name
			if name, _, _ = strings.Cut(name, "?"); strings.Contains(name, "/") {
				visit(path.Base(name))
			}
		}
	}
	if isTeller(r.Program) || listedIn("grep egrep fgrep rg", r.Program) {
		return
	}
	for i, word := range r.Words { // many programs name their output by these options
		name, value, valued := strings.Cut(word, "=")
		switch {
		case !listedIn("-o -O --output --out --output-document --outfile", name) && !isShellOption(name, 'o'):
		case valued:
			visit(value)
		case i+1 < len(r.Words):
			visit(r.Words[i+1])
		}
	}
}

// targetFolder returns the folder that an option gives as the target of all operands; "" if there
// is no such option.
func (r *Run) targetFolder() string {
	for i, word := range r.Words {
		if to, is := strings.CutPrefix(word, "--target-directory="); is {
			return to
		}
		if (word == "--target-directory" || isShellOption(word, 't')) && i+1 < len(r.Words) && !listedIn("rsync scp", r.Program) {
			return r.Words[i+1]
		}
	}
	return ""
}

// isTeller reports whether a program neither shows nor changes the content of a file.
func isTeller(program string) bool {
	return listedIn("ls rm mkdir rmdir touch chmod chown stat du df test [ echo printf pwd which dirname basename realpath readlink true false sleep date export set unset", program)
}

// visitReads visits the files that a program may read. below means that name is a folder and that
// every file in it may be read.
func (r *Run) visitReads(visit func(name string, below bool)) {
	if isTeller(r.Program) || r.Program == "find" {
		return
	}
	deep := listedIn("rg ag ack tar zip 7z", r.Program) || slices.ContainsFunc(r.Words, func(w string) bool {
		return !isOperand(w) && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "rR") || w == "--recursive"
	}) && listedIn("grep egrep fgrep cp rsync", r.Program)
	if deep && countOperands(r.Words) < 2 {
		visit(".", true)
	}
	for i, word := range r.Words {
		if at := strings.IndexAny(word, "*?[{"); at >= 0 && (i < len(r.unknown) && r.unknown[i] || word == "{}") { // find replaces {} by the name of a file
			visit(path.Dir(word[:at]+"x"), true)
			continue
		}
		visit(word, false)
		if deep && isOperand(word) {
			visit(word, true)
		}
		if strings.ContainsAny(word, between) {
			for part := range strings.FieldsFuncSeq(word, func(c rune) bool { return strings.ContainsRune(between, c) }) {
				visit(part, false)
			}
		}
	}
}
