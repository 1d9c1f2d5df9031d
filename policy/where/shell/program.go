package shell

import "strings"

// effects reads the words of a program, of which those before from are read.
func (r *row) effects(words []word, from int) effect {
	if r.subs == nil && !r.closed && r.runs == "" && r.opaque == "" && r.launches == "" {
		e := effect{}
		if !r.any {
			r.read(words, from, &e)
		}
		return e
	}
	return r.subcommand(words, from)
}

// subcommand reads the words of a program with subcommands. The pattern has to
// name the options before one that are not harmless, and two words after each,
// of which one may be a value.
func (r *row) subcommand(words []word, from int) (e effect) {
	at := from
	for ; at < len(words) && words[at].known && strings.HasPrefix(words[at].text, "-"); at++ {
		ok, next := r.option(words[at].text)
		if !ok {
			for i := at; i < min(at+3, len(words)); i++ {
				e.stays = append(e.stays, i)
			}
			next = !strings.Contains(words[at].text, "=")
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
		return hides()
	case listedIn(r.opaque, sub):
		return effect{hidden: true}
	case listedIn(r.launches, sub):
		inner := launcher{flags: "-y --yes"}.effects(words[at:])
		e.hidden, e.handed = inner.hidden, inner.handed
		for _, i := range inner.named {
			e.named = append(e.named, at+i)
		}
		e.stays = append(e.stays, at)
	case inner != nil:
		more := inner.effects(words, at+1)
		more.stays = append(e.stays, more.stays...)
		if inner.named {
			more.stays = append(more.stays, at)
		}
		return more
	case r.closed:
		return effect{hidden: true}
	default:
		e.stays = append(e.stays, at)
		(&row{}).read(words, at+1, &e)
	}
	return e
}

// read finds the words for which a wildcard must not stand.
func (r *row) read(words []word, from int, e *effect) {
	operands := 0
	for i := from; i < len(words); i++ {
		w := &words[i]
		switch {
		case w.known && w.text == "--" && r.mixed:
		case w.known && w.text == "--":
			if r.script {
				e.stays = append(e.stays, i)
				return
			}
			if i > from && strings.HasPrefix(words[i-1].text, "-") {
				continue // it may be the value of the option before it
			}
			for i++; i < len(words); i++ {
				r.operand(words, i, &operands, e)
			}
		case w.known && strings.HasPrefix(w.text, "-") && w.text != "-":
			i += r.judge(words, i, w.text, e)
		case !w.known && !w.split && !w.many && strings.HasPrefix(w.head, "-"):
			if ok, _ := r.option(w.head); !ok || !r.holdsValue(w.head) {
				r.unsure(i, e)
			}
		case w.optional() && !(r.single && w.file()):
			r.unsure(i, e)
			operands += 2
		default:
			r.operand(words, i, &operands, e)
		}
	}
}

// judge reads one option, and says how many words after it are its value.
func (r *row) judge(words []word, i int, text string, e *effect) int {
	ok, next := r.option(text)
	if !ok {
		e.stays = append(e.stays, i)
	}
	if next && i+1 < len(words) && (words[i+1].known || !words[i+1].many && !words[i+1].split) {
		return 1
	}
	return 0
}

// unsure notes a word that may turn out to be any option.
func (r *row) unsure(i int, e *effect) {
	if !r.all {
		e.stays = append(e.stays, i)
		e.loose = true
	}
}

func (r *row) operand(words []word, i int, operands *int, e *effect) {
	if *operands++; r.harmless == nil {
		return
	}
	w := &words[i]
	shown := w.text
	if !w.known && !w.owner {
		shown = w.head
	}
	if r.operands == "one" && (*operands > 1 || w.many) || !r.harmless(shown) {
		e.stays = append(e.stays, i)
	}
}

// option says whether an option is one of the harmless, as it is spelt in the
// table, and whether its value is the next word. Any other spelling is another
// option: one dash more, another case, a part of a name.
func (r *row) option(text string) (ok, next bool) {
	name, _, valued := strings.Cut(text, "=")
	kind, ok := r.options.all()[name]
	if !ok && r.single && strings.HasPrefix(name, "--") && !strings.HasPrefix(name, "---") {
		kind, ok = r.options.all()[name[1:]]
	}
	if ok || r.single || strings.HasPrefix(text, "--") {
		return ok, kind == required && !valued
	}
	for i := 1; i < len(text); i++ {
		kind, ok := r.options.all()["-"+text[i:i+1]]
		digit := text[i] >= '0' && text[i] <= '9'
		if _, digits := r.options.all()["-#"]; !ok && digit && digits {
			continue
		}
		switch {
		case !ok:
			return false, false
		case kind == required:
			return true, i+1 == len(text)
		case kind == rest:
			return true, false
		case kind == attached:
			more := strings.TrimLeft(text[i+1:], "0123456789%.,")
			i = len(text) - len(more) - 1
		}
	}
	return true, false
}

// holdsValue says whether what follows the beginning of an option is its value.
func (r *row) holdsValue(head string) bool {
	if strings.Contains(head, "=") {
		return true
	}
	if strings.HasPrefix(head, "--") || r.single {
		return false
	}
	for i := 1; i < len(head); i++ {
		if r.options.all()["-"+head[i:i+1]] == required {
			return true
		}
	}
	return false
}

// file says whether the word is files that a glob finds, whose names hold a
// character that no option of one dash has: *.go, src/*.
func (w *word) file() bool {
	return w.many && !w.split && !w.owner && strings.ContainsAny(w.text, "./") && !strings.ContainsAny(w.text, "{}")
}
