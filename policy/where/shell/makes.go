package shell

import "strings"

// makes reads make's words: a variable set there (SHELL=, .SHELLFLAGS=) or another
// makefile decides what it runs.
func makes(words []word) effect {
	e := effect{frail: true}
	for i, w := range words[1:] {
		if !w.known || strings.Contains(w.text, "=") ||
			meets(w.text, "-f -C -I -E -o -W --file --makefile --directory --include-dir --eval --old-file --what-if --environment-overrides -e") {
			e.runs = append(e.runs, i+1, min(i+2, len(words)-1))
		}
	}
	return e
}

// tar reads tar's words, whose first may be a bundle of letters without "-". A
// name with a colon is a file on another machine, fetched with rsh.
func tar(words []word) effect {
	e := effect{frail: true}
	for i, w := range words[1:] {
		text := w.text
		if i == 0 && w.known && !strings.HasPrefix(text, "-") {
			text = "-" + text
		}
		if w.optional() || !w.known && (!w.many || w.split) || strings.Contains(text, ":") || meets(text, "-I -F --checkpoint-action --to-command --use-compress-program "+
			"--info-script --new-volume-script --rsh-command --rmt-command --test-label --files-from -T") {
			e.runs = append(e.runs, i+1, min(i+2, len(words)-1))
		}
	}
	return e
}

// compute reads the words of test, [ and printf. ksh and zsh evaluate their
// numbers, and bash the name after -v, as arithmetic, in which a[$(id)] runs id.
func compute(words []word) effect {
	numeric := false
	for _, w := range words[1:] {
		if strings.Contains(w.text, "[") && strings.ContainsAny(w.text, "$`") {
			return hides()
		}
		numeric = numeric || listedIn("-v -R -eq -ne -lt -le -gt -ge", w.text)
	}
	if canonical(words[0].text) == "printf" {
		if len(words) > 1 && (!words[1].known || strings.HasPrefix(words[1].text, "-") || computes(words[1].text) && blind(words)) {
			return hides()
		}
		return effect{}
	}
	for i, w := range words {
		if w.known {
			continue
		}
		beside := func(at int) bool {
			return at < len(words) && words[at].known && listedIn("= == != -z -n -e -f -d -r -w -x -s -L -h", words[at].text)
		}
		if numeric || w.many || w.split && !w.known || !beside(i-1) && !beside(i+1) {
			return hides()
		}
	}
	return effect{}
}

// computes says whether a format of printf has a conversion of numbers, or one
// that is not known here.
func computes(format string) bool {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		for i < len(format) && strings.IndexByte("-+ #0123456789.", format[i]) >= 0 {
			i++
		}
		if i == len(format) || strings.IndexByte("%sbcq", format[i]) < 0 {
			return true
		}
	}
	return false
}

// copies reads the words of programs whose second operand is a file they write.
func copies(words []word) effect {
	e := effect{frail: true}
	operands := 0
	for i, w := range words[1:] {
		if w.many {
			return hides()
		}
		if w.known && strings.HasPrefix(w.text, "-") && w.text != "-" {
			continue
		}
		if operands++; operands > 1 {
			e.writes = append(e.writes, i+1)
		}
	}
	return e
}
