package shell

import "strings"

// wrapper is a program that runs the command in its last words: `nice -n 5 ls`. If an option is not
// listed, the effect of the command is unknown.
type wrapper struct {
	name          string
	flags, valued string // flags: options without a value; valued: options with a value in the next word
	operands      int    // number of words before the command
}

var wrappers = []wrapper{
	{name: "nice", valued: "-n --adjustment"},
	{name: "ionice", flags: "-t", valued: "-c -n --class --classdata"},
	{name: "nohup"},
	{name: "timeout", flags: "--foreground -v --verbose --preserve-status", valued: "-k -s --kill-after --signal", operands: 1},
	{name: "time", flags: "-p"},
	{name: "stdbuf", valued: "-i -o -e --input --output --error"},
	{name: "setsid", flags: "-f -w --fork --wait"},
	{name: "builtin"},
	{name: "exec"},
	{name: "sudo", flags: "-n --non-interactive -H", valued: "-u -g --user --group"},
	{name: "doas", flags: "-n", valued: "-u"},
	{name: "busybox"},
	{name: "toybox"},
	{name: "caffeinate", flags: "-i -d -m -s"},
	{name: "chronic"},
	{name: "unbuffer"},
	{name: "taskset", operands: 1},
	{name: "chrt", operands: 1},
}

func (w wrapper) readEffects(words []word) effect {
	at, ok := w.commandIndex(words)
	if !ok {
		return hiddenEffect()
	}
	if at >= len(words) {
		return effect{}
	}
	return effect{inner: [][]word{words[at:]}}
}

// commandIndex returns the index at which the wrapped command begins.
func (w wrapper) commandIndex(words []word) (int, bool) {
	at := 1
options:
	for ; at < len(words); at++ {
		text := words[at].text
		option, _, valued := strings.Cut(text, "=")
		switch {
		case !words[at].known:
			return 0, false
		case text == "--":
			at++
			break options
		case !strings.HasPrefix(text, "-"):
			break options
		case listedIn(w.flags, text), valued && listedIn(w.valued, option) && strings.HasPrefix(option, "--"):
		case listedIn(w.valued, text):
			at++
			if at < len(words) && !(words[at].isIdle() || words[at].known && words[at].isValue() && listedIn("-u -g --user --group", text)) {
				return 0, false
			}
		case len(text) > 2 && listedIn(w.valued, text[:2]) && text[1] != '-':
		default:
			return 0, false
		}
	}
	for range w.operands { // skip the operands of the wrapper, such as a time, a mask or a priority
		if at < len(words) && (!words[at].known || !strings.ContainsAny(words[at].text[:min(1, len(words[at].text))], "0123456789.")) {
			return 0, false
		}
		at++
	}
	return at, true
}

// isIdle reports whether a word is a number, a sign or capital letters. No command has such a name.
// The callers use isIdle for a word that is the value of an option. In another vendor's program the
// option may have no value; that program would start the word as a command.
func (w *word) isIdle() bool {
	return w.known && (isNumber(w.text) || w.isValue() && (len(w.text) == 1 || !strings.ContainsAny(w.text, lowercase+`/\`)))
}

// listedIn reports whether a list of words, separated by blanks, contains a word.
func listedIn(list, word string) bool {
	for at := 0; word != ""; at++ {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || list[at-1] <= ' ') && (end == len(list) || list[end] <= ' ') {
			return !strings.ContainsAny(word, " \t\n")
		}
	}
	return false
}

// readQuery reads the words of `command`. With -v this builtin does not run a program, but prints
// where the program is.
func readQuery(words []word) effect {
	if len(words) > 1 && words[1].known && (words[1].text == "-v" || words[1].text == "-V") {
		e := effect{}
		(&row{}).readArguments(words, 2, &e)
		return e
	}
	return wrapper{flags: "-p"}.readEffects(words)
}

// readEnv reads the words of env. env sets variables and runs a command; without a command it lists
// the variables.
func readEnv(words []word) effect {
	at := 1
	var assigned []string
	for ; at < len(words) && words[at].known && strings.Contains(words[at].text, "="); at++ {
		assigned = append(assigned, words[at].text)
		if name, _, _ := strings.Cut(words[at].text, "="); strings.HasPrefix(name, "-") || steersPrograms(name) {
			return hiddenEffect()
		}
	}
	if at == len(words) {
		return effect{assigned: assigned}
	}
	if !words[at].known || strings.HasPrefix(words[at].text, "-") {
		return hiddenEffect()
	}
	return effect{inner: [][]word{words[at:]}, assigned: assigned}
}

// readEval reads the words of eval. eval joins its words with blanks and runs the text.
func readEval(words []word) effect {
	if hasUnknownWord(words) {
		return hiddenEffect()
	}
	var texts []string
	for _, w := range words[1:] {
		texts = append(texts, w.text)
	}
	return effect{texts: []string{strings.Join(texts, " ")}}
}

// readXargs reads the words of xargs. xargs runs a command with words from its input. It appends
// these words, or puts them in the place of a mark.
func readXargs(words []word) effect {
	at, mark := 1, ""
	for ; at < len(words) && words[at].known && strings.HasPrefix(words[at].text, "-"); at++ {
		text := words[at].text
		switch {
		case listedIn("-0 -r -t -x --null --no-run-if-empty --verbose", text):
		case listedIn("-n -L -P -s --max-args --max-procs", text) && at+1 < len(words) && words[at+1].known && isNumber(words[at+1].text):
			at++
		case listedIn("-d --delimiter", text) && at+1 < len(words) && isDelimiterWord(&words[at+1]):
			at++
		case text == "-I" && at+1 < len(words) && words[at+1].text != "" && words[at+1].isIdle():
			at++
			mark = words[at].text
		case strings.HasPrefix(text, "-I") && len(text) > 2:
			mark = text[2:]
		case strings.HasPrefix(text, "--max-") && isNumber(text[strings.IndexByte(text, '=')+1:]):
		case len(text) > 2 && listedIn("-n -L -P -s", text[:2]) && strings.Trim(text[2:], "0123456789") == "":
		case len(text) > 2 && text[:2] == "-d", listedIn("-0r -r0 -0t -rt", text):
		default:
			return hiddenEffect()
		}
	}
	if at >= len(words) {
		words, at = []word{{text: "echo", known: true}}, 0
	}
	inner := replaceMark(words[at:], mark)
	if mark == "" {
		inner = append(inner, word{many: true, split: true, fed: true})
	}
	return effect{inner: [][]word{inner}}
}

// isDelimiterWord reports whether a word is one character or an escape for one character, so that
// it is not the name of a program.
func isDelimiterWord(w *word) bool {
	return w.known && (len(w.text) == 1 || strings.HasPrefix(w.text, `\`) && len(w.text) < 6)
}

// replaceMark returns a copy of words in which every word that contains the mark counts as unknown,
// because xargs or find puts another text in the place of the mark.
func replaceMark(words []word, mark string) []word {
	inner := make([]word, 0, len(words)+1)
	for _, w := range words {
		if i := strings.Index(w.text, mark); mark != "" && i >= 0 {
			w.head, w.known = w.text[:i], false
		}
		inner = append(inner, w)
	}
	return inner
}

// readFind reads the words of find. After -exec and similar options, find runs a command, which
// ends at a ";" or a "+".
func readFind(words []word) effect {
	e := effect{}
	r := programRow("find")
	for i := 1; i < len(words); i++ {
		if !listedIn("-exec -execdir -ok -okdir", words[i].text) || !words[i].known {
			end := i + 1 // the index of the next -exec or similar option
			for end < len(words) && !listedIn("-exec -execdir -ok -okdir", words[end].text) {
				end++
			}
			r.readArguments(words[:end], i, &e)
			i = end - 1
			continue
		}
		end := i + 1
		for end < len(words) && words[end].text != ";" && (words[end].text != "+" || words[end-1].text != "{}") {
			end++
		}
		if end == len(words) || end == i+1 {
			return hiddenEffect()
		}
		inner := replaceMark(words[i+1:end], "{}")
		for at := range inner {
			// find replaces {} by a path that begins like find's operand. The word begins with this
			// path, so it is not an option.
			inner[at].owner = strings.HasPrefix(inner[at].text, "{}") && !strings.HasSuffix(words[i].text, "dir")
		}
		if words[end].text == "+" {
			inner[len(inner)-1].many = true
		}
		// Unknown words may hide the end, because the shell expands words before find looks for the
		// end.
		if hasUnknownWord(words[i+1 : end]) {
			e.hidden, e.handed = true, true
		}
		e.inner = append(e.inner, inner)
		i = end
	}
	return e
}
