package shell

import "strings"

// readEffects returns the effect of a program's words, beginning with the word at the given index.
// The words before this index have been read already.
func (r *row) readEffects(words []word, from int) effect {
	if r.subs == nil && !r.closed && r.runs == "" && r.opaque == "" && r.launches == "" {
		e := effect{}
		if !r.any {
			r.readArguments(words, from, &e)
		}
		return e
	}
	return r.readSubcommand(words, from)
}

// readSubcommand reads the words of a program with subcommands. Before the subcommand there may be
// options that are not harmless. The pattern must name each such option and the two words after it,
// because the first of these two words may be the option's value. The pattern must also name an
// option that takes its value from the next word, and the word after the value: in another version
// of the program, the value is the subcommand.
func (r *row) readSubcommand(words []word, from int) (e effect) {
	at := from
	for ; at < len(words) && words[at].known && strings.HasPrefix(words[at].text, "-"); at++ {
		ok, takes := r.findOption(words[at].text)
		next := takes == required
		switch {
		case !ok:
			for i := at; i < min(at+3, len(words)); i++ {
				e.stays = append(e.stays, i)
			}
			next = !strings.Contains(words[at].text, "=")
		case takes != none:
			e.stays = append(e.stays, at)
			if at+1 < len(words) && r.hasSubcommand(words[at+1].text) {
				e.stays = append(e.stays, at+1)
			}
			if at+2 < len(words) {
				e.stays = append(e.stays, at+2)
			}
		}
		if next {
			at++
		}
	}
	if at >= len(words) {
		return e
	}
	sub := words[at].text
	switch inner := r.subs[sub]; {
	case !words[at].known || listedIn(r.runs, sub):
		return hiddenEffect()
	case listedIn(r.opaque, sub):
		return effect{hidden: true}
	case listedIn(r.launches, sub):
		l := launcher{flags: "-y --yes", runs: programTarget}
		switch {
		case r.greedy:
			l.runs = greedyTarget
		case r.tasks:
			l.runs = fileTarget
		}
		e.mergeEffect(l.readEffects(words[at:]), at)
		e.stays = append(e.stays, at)
	case inner != nil:
		more := inner.readEffects(words, at+1)
		more.stays = append(e.stays, more.stays...)
		if inner.named {
			more.stays = append(more.stays, at)
		}
		return more
	case r.closed:
		return effect{hidden: true}
	default:
		e.stays = append(e.stays, at)
		(&row{}).readArguments(words, at+1, &e)
	}
	return e
}

// hasSubcommand reports whether the row has the given word as a subcommand.
func (r *row) hasSubcommand(text string) bool {
	return r.subs[text] != nil || listedIn(r.runs, text) || listedIn(r.opaque, text) || listedIn(r.launches, text)
}

// readArguments finds the words that a wildcard must not match. The row may say that an option
// takes the next word as its value. readArguments does not rely on this, because the program of
// another vendor may read the next word as an option or as an operand. So the next word must be
// harmless in both cases.
func (r *row) readArguments(words []word, from int, e *effect) {
	operands := 0
	valued := none // whether the previous word takes this word as its value
	doubt := false // "--" may have been the value of an option, and not the end of the options
	for i := from; i < len(words); i++ {
		w, before := &words[i], valued
		valued = none
		switch {
		case w.known && w.text == "--" && r.mixed:
		case w.known && w.text == "--" && r.script:
			if !selectTests(words[i+1:]) {
				e.stays = append(e.stays, i)
			}
			return
		case w.known && w.text == "--":
			if i > from && strings.HasPrefix(words[i-1].text, "-") {
				if doubt = true; before == required {
					r.addStay(i, e)
				}
				continue
			}
			for i++; i < len(words); i++ {
				r.readOperand(words, i, &operands, e)
			}
		case w.known && strings.HasPrefix(w.text, "-") && w.text != "-":
			ok, takes := r.findOption(w.text)
			ok = ok || r.tests && isTestOption(w.text)
			if r.signed && before == required && (isNumber(w.text) || isFileMode(w.text)) {
				continue
			}
			if !ok || r.operands == "repository" && !isGitHubRepo(w.text) {
				e.stays = append(e.stays, i)
			} else if before == required {
				r.addStay(i, e)
			}
			if valued = takes; doubt || r.operands == "one" && operands > 0 { // some versions read no option after an operand
				r.readOperand(words, i, &operands, e)
			}
		case !w.known && !w.split && !w.many && strings.HasPrefix(w.head, "-"):
			if ok, _ := r.findOption(w.head); !ok || !r.holdsValue(w.head) {
				r.addUnsure(i, e)
			}
		case w.mayBeOption() && !(r.single && w.isFileGlob()):
			r.addUnsure(i, e)
			operands += 2
		case before == required && w.known && r.operands == "format" && strings.ContainsAny(w.text[:min(1, len(w.text))], lowercase):
			// A word such as "yesterday" is harmless: after an option, no version of date sets the
			// clock by such a word.
		case before == required && w.known && isNumber(w.text):
			// The number may be the option's value or an operand. It is not counted as an operand
			// (new(int)), because a number is no name of a file that the program writes.
			r.readOperand(words, i, new(int), e)
		default:
			if before == required && r.hasMarkPrefix(w.text) {
				r.addStay(i, e)
			}
			r.readOperand(words, i, &operands, e)
		}
	}
}

// testOptions are options of JavaScript test runners. They select tests, or the way in which
// results are shown. It is not known which runner the test script of a project starts, so the
// options of all runners are in one list.
const testOptions = "--watch=false --watchAll=false --no-watch --run --ci --runInBand --verbose --silent --no-coverage " +
	"--coverage=false --passWithNoTests --bail -t --testNamePattern --grep"

func isTestOption(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	return listedIn(testOptions, text) || name != text && listedIn("--testNamePattern --grep", name)
}

// selectTests reports whether the words for a script of the project only select tests.
func selectTests(words []word) bool {
	for i := range words {
		if w := &words[i]; w.mayBeOption() || strings.HasPrefix(w.text, "-") && !isTestOption(w.text) {
			return false
		}
	}
	return true
}

// hasMarkPrefix reports whether the first character of a value has a special meaning for the
// program. Such a character means options from a file, or a reference to overwrite.
func (r *row) hasMarkPrefix(text string) bool {
	return text != "" && strings.IndexByte("+@:", text[0]) >= 0 && !(r.signed && isNumber(text)) && (len(text) > 1 || r.harmless != nil)
}

// isFileMode reports whether a text is a file mode, such as -u+x. It must have a + or a =, so that
// it is no bundle of options.
func isFileMode(text string) bool {
	return strings.ContainsAny(text, "+=") && strings.Trim(text, "-+=,/ugoarwxXst") == ""
}

// isNumber reports whether a text is a number, perhaps with a sign or a unit: 5, -7,
// +10k.
func isNumber(text string) bool {
	text = strings.TrimLeft(text, "+-")
	digits := strings.TrimLeft(text, "0123456789")
	return digits != text && (digits == "" || len(digits) == 1 && isLetter(digits[0]) || strings.HasPrefix(text, "0x") && strings.Trim(digits[1:], "0123456789abcdefABCDEF") == "")
}

// addUnsure adds to e a word whose value may be any option.
func (r *row) addUnsure(i int, e *effect) {
	r.addStay(i, e)
	e.loose = e.loose || !r.all
}

// addStay adds to e a word that a wildcard must not match, unless every option of the
// program is harmless.
func (r *row) addStay(i int, e *effect) {
	if !r.all {
		e.stays = append(e.stays, i)
	}
}

func (r *row) readOperand(words []word, i int, operands *int, e *effect) {
	if *operands++; r.harmless == nil {
		return
	}
	w := &words[i]
	shown := w.text
	switch {
	case !w.known && !w.owner:
		shown = w.head
	case !w.known && shown == "":
		shown = "$" // the value comes from the owner's environment and is not known
	}
	if r.operands == "one" && (*operands > 1 || w.many) || !r.harmless(shown) {
		e.stays = append(e.stays, i)
	}
}

// findOption reports whether an option is harmless, if it is spelled as in the table. The second
// result tells whether the option takes the next word as its value: required means that it does,
// attached that it may, and none that it does not. A different spelling is a different option: one
// more dash, another letter case, a part of a name.
func (r *row) findOption(text string) (ok bool, takes value) {
	name, _, valued := strings.Cut(text, "=")
	kind, ok := r.options.byName()[name]
	if !ok && valued {
		if _, ok = r.options.byName()[text]; ok {
			return true, none // the table lists the option only with this value: --watch=false
		}
	}
	if !ok && r.single && strings.HasPrefix(name, "--") && !strings.HasPrefix(name, "---") {
		kind, ok = r.options.byName()[name[1:]]
	}
	if ok || r.single || strings.HasPrefix(text, "--") {
		if valued || kind == rest {
			kind = none
		}
		return ok, kind
	}
	for i := 1; i < len(text); i++ {
		kind, ok := r.options.byName()["-"+text[i:i+1]]
		digit := text[i] >= '0' && text[i] <= '9'
		if _, digits := r.options.byName()["-#"]; !ok && digit && digits {
			continue
		}
		switch {
		case !ok:
			return false, none
		case kind == required && i+1 == len(text):
			return true, required
		case kind == required && r.published && strings.ContainsAny(text[i+1:i+2], letters):
			// The row is from a manual, and no test has run the program. So the text may be a
			// bundle: gh auth status -at.
		case kind == required, kind == rest:
			return true, none
		case kind == attached:
			more := strings.TrimLeft(text[i+1:], "0123456789%.,")
			i = len(text) - len(more) - 1
		}
	}
	return true, none
}

// holdsValue reports whether the text that follows head, the beginning of an option, is
// the option's value.
func (r *row) holdsValue(head string) bool {
	if strings.Contains(head, "=") {
		return true
	}
	if strings.HasPrefix(head, "--") || r.single {
		return false
	}
	for i := 1; i < len(head); i++ {
		if r.options.byName()["-"+head[i:i+1]] == required {
			return true
		}
	}
	return false
}

// isFileGlob reports whether the word is a glob for files whose names contain a
// character that no option with one dash has: *.go, src/*.
func (w *word) isFileGlob() bool {
	return w.many && !w.split && !w.owner && strings.ContainsAny(w.text, "./") && !strings.ContainsAny(w.text, "{}")
}
