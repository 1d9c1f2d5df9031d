package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxUnrolled is a length in bytes. The loop of a longer text is not written out.
const maxUnrolled = 2 << 10

// settingWords are the first words of commands that may set a loop's variable.
const settingWords = "read mapfile readarray getopts printf let declare typeset local export readonly unset eval source . set shift vared builtin command exec"

// writeOut replaces the first loop over plain words by its commands, once for each word, so that
// the judge sees the value of "$f". The core and the parser of bash must find the same commands in
// the text. writeOut returns "" if there is no such loop or if the result is not certain. If a word
// of the loop is a wildcard for files, writeOut puts the wildcard in the place of the quoted
// variable.
func writeOut(text string, p *program) (written string) {
	if parsed, err := parseShell(text, syntax.LangBash); err != nil || !p.equalProgram(parsed) || len(p.assigned) > 0 ||
		slices.ContainsFunc(p.commands, func(s simple) bool { return !s.words[0].known || listedIn(settingWords, s.words[0].text) }) {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return ""
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if loop, ok := n.(*syntax.ForClause); ok && written == "" {
			written = loopOf(text, loop)
		}
		return written == ""
	})
	return written
}

func loopOf(text string, loop *syntax.ForClause) string {
	words, ok := loop.Loop.(*syntax.WordIter)
	name := ""
	if ok {
		name = words.Name.Value
	}
	if name == "" || len(words.Items) == 0 || strings.Contains(text[loop.DoPos.Offset():loop.DonePos.Offset()], "for "+name) {
		return ""
	}
	var b strings.Builder
	b.WriteString(text[:loop.ForPos.Offset()] + "{ ")
	for _, item := range words.Items {
		w := readWord(item)
		literal := w.known && strings.Trim(w.text, plainLetters) == "" && w.text != "" && w.text[0] != '-'
		if !literal && !(w.isFileGlob() && strings.Trim(w.text, plainLetters+"*") == "") {
			return ""
		}
		at := int(loop.DoPos.Offset()) + len("do")
		for _, stmt := range loop.Do {
			syntax.Walk(stmt, func(n syntax.Node) bool {
				if word, ok := n.(*syntax.Word); ok && isVariable(word, name, literal) {
					b.WriteString(text[at:word.Pos().Offset()] + w.text)
					at = int(word.End().Offset())
				}
				return true
			})
		}
		b.WriteString(text[at:loop.DonePos.Offset()] + "\n")
		if b.Len() > maxUnrolled {
			return ""
		}
	}
	return b.String() + "}" + text[int(loop.DonePos.Offset())+len("done"):]
}

// plainLetters are characters that are not special to any shell.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"

// isVariable reports whether a word is the variable with this name and nothing else, and can be
// replaced by the variable's value. Without quotes the variable may become several words, so it is
// replaced only if literal is true.
func isVariable(word *syntax.Word, name string, literal bool) bool {
	if len(word.Parts) != 1 {
		return false
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 && !quoted.Dollar {
		part, literal = quoted.Parts[0], true
	}
	p, ok := part.(*syntax.ParamExp)
	return ok && literal && p.Short && p.Param != nil && p.Param.Value == name && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Index == nil
}
