package shell

import "strings"

// readComputing reads the words of test, [ and printf. ksh and zsh evaluate numbers in these words
// as arithmetic. bash evaluates the name after -v. In arithmetic, a[$(id)] runs id.
func readComputing(words []word) effect {
	numeric := false
	for _, w := range words[1:] {
		if strings.Contains(w.text, "[") && strings.ContainsAny(w.text, "$`") {
			return hiddenEffect()
		}
		numeric = numeric || listedIn("-v -R -eq -ne -lt -le -gt -ge", w.text)
	}
	if strings.HasPrefix(strings.ToLower(baseName(words[0].text)), "printf") {
		if len(words) > 1 && (!words[1].known || strings.HasPrefix(words[1].text, "-") ||
			storesCount(words[1].text) || mayCompute(words[1].text) && hasUnknownWord(words)) {
			return hiddenEffect()
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
			return hiddenEffect()
		}
	}
	return effect{}
}

// storesCount reports whether a format of printf may contain %n. With %n, bash, ksh and zsh set
// the variable that a word names; if the variable is PATH, the next command is another program.
// zsh removes escapes first, so %\x6e means %n too. So storesCount also returns true for numeric
// escapes, except those that begin a colour, and for conversions that are not known.
func storesCount(format string) bool {
	for _, escape := range strings.Split(strings.ReplaceAll(format, `\\`, ""), `\`)[1:] {
		if escape != "" && strings.IndexByte("0123456789xuU", escape[0]) >= 0 &&
			!strings.HasPrefix(escape, "033[") && !strings.HasPrefix(escape, "x1b[") {
			return true
		}
	}
	for _, conversion := range strings.Split(strings.ReplaceAll(format, "%%", ""), "%")[1:] {
		if at := strings.IndexByte(conversion, ')'); at > 0 && conversion[0] == '(' {
			conversion = conversion[at+1:] // for example %(%F)T
		}
		if kind := strings.TrimLeft(conversion, "-+ #'0123456789.*$hlLjzt"); kind != "" && strings.IndexByte("diouxXeEfFgGaAcsbqT", kind[0]) < 0 {
			return true
		}
	}
	return false
}

// mayCompute reports whether a format of printf has a conversion that is numeric or not known.
func mayCompute(format string) bool {
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
