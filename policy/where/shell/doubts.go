package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where"
)

// Doubts holds what a shell text may do in addition to what its words show. Each field holds the
// first words because of which there is a doubt; "" if there is no doubt.
type Doubts struct {
	Shut    string // the text may show or change a file that the words do not name
	Unread  string // the text runs another text, or code, that this package does not read
	Deletes string // the text may delete a folder, or an unknown number of files
}

// removing are the programs that delete the files that their operands name.
const removing = "rm grm unlink shred srm rmdir rd del trash trash-put"

// maxItems is the largest number of words of a loop that DoubtsOf writes out word by word.
const maxItems = 16

// DoubtsOf returns the doubts about a text. DoubtsOf is for a text that would be allowed because a
// person allowed another text: the person did not agree to anything that the words do not show. If
// the text is not a shell text, all of it is a doubt.
func DoubtsOf(text string) Doubts {
	d := doubter{budget: 4 * maxText}
	d.readText(text, 0)
	return d.Doubts
}

type doubter struct {
	Doubts
	budget int // how many bytes of shell text may still be read
}

func (d *doubter) readText(text string, depth int) {
	d.budget -= len(text)
	if depth > maxDepth || d.budget < 0 || !isAdmissible(text) {
		d.noteDoubt(&d.Unread, text)
		return
	}
	for {
		rest, bodies := unrollLoop(text)
		if bodies == nil {
			break
		}
		text = rest
		for _, body := range bodies {
			d.readText(body, depth+1)
		}
	}
	p, err := parseShell(text, syntax.LangBash)
	if err != nil {
		d.noteDoubt(&d.Unread, text)
		return
	}
	for i := range p.files {
		if to := &p.files[i].to; to.isComputed() {
			d.noteDoubt(&d.Shut, to.text)
		}
	}
	for i := range p.commands {
		narrow := i > 0 && namesNarrowly(p.commands[i-1].words)
		d.readCommand(p.commands[i].words, plainCommand, narrow, depth)
	}
}

// namesNarrowly reports whether a command prints only names of files without secrets. An xargs
// after such a command gets only these names.
func namesNarrowly(words []word) bool {
	r := newReader(words, "")
	sub := r.gitSubcommand()
	switch {
	case !words[0].known, r.looksWide() != where.No, slices.ContainsFunc(words, func(w word) bool { return w.isComputed() || textclass.NamesShut(w.text) }):
		return false
	case r.name == "rg", sub == "grep":
		return true // rg and git grep do not search hidden and ignored files
	case strings.HasSuffix(r.name, "find"):
		return r.narrowsFiles()
	}
	return (r.name == "ls" || sub == "ls-files") && slices.ContainsFunc(words, func(w word) bool { return strings.Contains(w.text, "*.") && !mayChooseShut(w.text) })
}

// noteDoubt stores the words that cause a doubt in the given field. It changes nothing if the field
// already has an earlier doubt.
func (d *doubter) noteDoubt(at *string, words string) {
	if *at == "" {
		*at = words
		if *at == "" {
			*at = "$"
		}
	}
}

// unrollLoop removes the first loop over known words. It returns the text without the loop's body,
// and the loop's body once for each word. If there is no such loop, it returns the text unchanged
// and no bodies.
func unrollLoop(text string) (rest string, bodies []string) {
	rest = text
	// Ignore a panic of the parser: readText parses the text again and notes the doubt.
	defer func() { _ = recover() }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return text, nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		loop, ok := n.(*syntax.ForClause)
		if !ok || bodies != nil {
			return bodies == nil
		}
		words, ok := loop.Loop.(*syntax.WordIter)
		from, to := int(loop.DoPos.Offset())+len("do"), int(loop.DonePos.Offset())
		if !ok || len(words.Items) > maxItems || !strings.Contains(text[from:to], "$") {
			return true
		}
		var made []string
		for _, item := range words.Items {
			w := readWord(item)
			if w.isComputed() || strings.ContainsAny(w.text, "'\"`$\\ \n") {
				return true
			}
			made = append(made, substituteVariable(text[from:to], words.Name.Value, w.text))
		}
		if made != nil {
			bodies, rest = made, text[:from]+" :\n"+text[to:]
		}
		return true
	})
	return rest, bodies
}

// substituteVariable replaces each use of a variable in body by a word.
func substituteVariable(body, name, word string) string {
	body = strings.ReplaceAll(body, "${"+name+"}", word)
	var b strings.Builder
	for {
		before, behind, found := strings.Cut(body, "$"+name)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if identifierLength(name+behind) == len(name) {
			if at := strings.LastIndexByte(before, '$'); at >= 0 && at+1 < len(before) && identifierLength(before[at+1:]) == len(before)-at-1 {
				made := b.String() // $a$b becomes ${a}1, not $a1
				b.Reset()
				b.WriteString(made[:len(made)-len(before)+at] + "${" + before[at+1:] + "}")
			}
			b.WriteString(word)
		} else {
			b.WriteString("$" + name)
		}
		body = behind
	}
}

// finder tells which program supplies the last words of a command.
type finder byte

const (
	plainCommand finder = iota // no program: the text has all words of the command
	ofFind                     // find supplies the last words; the words of find are checked separately
	ofXargs                    // xargs supplies the last words, from its input
)

// readCommand checks one command and the commands that it runs. The parameter by tells which
// program supplies the last words. The parameter narrow means that the command's input names no
// file with secrets.
func (d *doubter) readCommand(words []word, by finder, narrow bool, depth int) {
	if depth > maxDepth || !words[0].known {
		d.noteDoubt(&d.Unread, words[0].text)
		return
	}
	r, e := newReader(words, ""), commandEffects(words)
	if last := words[len(words)-1]; by == ofXargs && narrow && last.isFound() {
		// xargs gives names of files, not options, so the last word is left out
		e = commandEffects(words[:len(words)-1])
	}
	if e.handed || e.hidden && listedIn("awk gawk mawk nawk", r.name) {
		d.noteDoubt(&d.Unread, r.name)
	}
	d.findShutFiles(r, by, narrow)
	d.findDeletions(r, by)
	for _, inner := range e.inner {
		switch {
		case strings.HasSuffix(r.name, "find"):
			by = ofFind
		case strings.HasSuffix(r.name, "xargs"):
			by = ofXargs
		}
		d.readCommand(inner, by, narrow, depth+1)
	}
	for _, text := range e.texts {
		if by != plainCommand {
			d.noteDoubt(&d.Unread, text)
		}
		d.readText(text, depth+1)
	}
}

// findShutFiles notes a doubt if words of a command may name a place of secrets, or any file.
func (d *doubter) findShutFiles(r *reader, by finder, narrow bool) {
	sub := r.gitSubcommand()
	handles := listedIn(handling, r.name) || listedIn(archiving, r.name) || listedIn(gitHandling, sub) || strings.HasSuffix(r.name, "find")
	searches := sub != "" || strings.HasSuffix(r.name, "grep") || strings.HasSuffix(r.name, "find") || listedIn("rg diff", r.name)
	if wide := r.looksWide(); handles && (wide == where.Yes || wide == where.Maybe && searches) || sub == "archive" {
		d.noteDoubt(&d.Shut, r.name)
	}
	for i := 1; i < len(r.words); i++ {
		w := &r.words[i]
		switch {
		case by != plainCommand && w.isFound():
			if by == ofXargs && handles && !narrow {
				d.noteDoubt(&d.Shut, r.name)
			}
		case w.isComputed():
			if handles {
				d.noteDoubt(&d.Shut, w.text)
			}
		case textclass.MayNameShut(w.text) && r.namesShut(i), handles && w.many && mayChooseShut(w.text):
			d.noteDoubt(&d.Shut, w.text)
		}
	}
}

// mayChooseShut reports whether a wildcard matches the name of a place of secrets, even if the
// wildcard looks harmless: *.json also matches credentials.json.
func mayChooseShut(glob string) bool {
	last := strings.ToLower(glob[strings.LastIndexByte(glob, '/')+1:])
	for i := range textclass.SecretPlaces {
		for _, shut := range textclass.SecretPlaces[i].Shut {
			name := strings.NewReplacer("y*ml", "yml", "*", "x").Replace(strings.ToLower(shut))
			for _, name := range []string{name, strings.ReplaceAll(name, ".yml", ".yaml")} {
				if ok, err := path.Match(last, name); err != nil || ok {
					return true
				}
			}
		}
	}
	return false
}

// findDeletions notes a doubt if a command deletes a folder, or files that another program finds.
func (d *doubter) findDeletions(r *reader, by finder) {
	if !listedIn(removing, r.name) {
		return
	}
	if by != plainCommand || r.hasOption([]string{"-r", "-R", "--recursive"}) != where.No {
		d.noteDoubt(&d.Deletes, r.name)
	}
	for i := 1; i < len(r.words); i++ {
		if w := &r.words[i]; w.isComputed() || w.many && strings.Trim(baseName(w.text), "*?") == "" {
			d.noteDoubt(&d.Deletes, w.text)
		}
	}
}

// isFound reports whether xargs or find supplies the word.
func (w *word) isFound() bool {
	return !w.known && (w.fed || strings.Contains(w.text, "{}") || w.head != w.text)
}
