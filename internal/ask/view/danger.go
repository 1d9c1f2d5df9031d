package view

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/shell"
)

// Reasons for care that are not in the tables of words and places.
const (
	whyMalformed = "is malformed: no rule may allow it"
	whyBeside    = "sends more than its arguments, in a member that MCP does not know"
	whyShell     = "runs commands or code"
	whyUnread    = "runs a text or code that is not read here"
	whyDeletes   = "deletes folders with all they hold"
	whyTooLong   = "runs more text than can be looked through"
	whyWipes     = "destroys something large"
	whyOutside   = "writes outside the project folder"
	whyNoFolder  = "writes where no project folder is known"
	whySampling  = "puts a server's words to your model"
	whyAddress   = "wants you to open an address"
	whyAsks      = "asks you for a secret, which a form must not do"
	whyDisguise  = "holds text that hides or passes for other text"
)

// maxLooked is the maximum number of bytes that are searched for dangers: once for commands, and
// once for all other texts. maxTokens is the maximum number of words of commands that are searched.
const (
	maxLooked = 64 << 10
	maxTokens = 2000
)

// findings collects reasons for care in the order in which they are found. For each reason it keeps
// the first example.
type findings struct {
	order   []string
	example map[string]string
	count   map[string]int
}

func (f *findings) addFinding(why, example string) {
	if f.count == nil {
		f.count, f.example = map[string]int{}, map[string]string{}
	}
	if f.count[why]++; f.count[why] == 1 {
		f.order = append(f.order, why)
		f.example[why] = example
	}
}

// renderFindings returns the reasons in words.
func (f *findings) renderFindings() []string {
	var list []string
	for _, why := range f.order {
		s, n := why, f.count[why]
		switch example := f.example[why]; {
		case example == "" && n > 1:
			s += fmt.Sprintf(" (%d times)", n)
		case n > 1:
			s += fmt.Sprintf(": %s, and %d more", term.VisibleValue(example), n-1)
		case example != "":
			s += ": " + term.VisibleValue(example)
		}
		list = append(list, s)
	}
	return list
}

// dangerFinder looks for reasons for care in one call.
type dangerFinder struct {
	base string // the owner's folder if no project is known
	findings
	o      Options
	words  []string // words of the tool's name
	shell  bool
	writes bool
	// mayWrite is true if no person sees the arguments, and if the words of the tool's name do not
	// show that the tool only reads.
	mayWrite bool
	command  strings.Builder // text that the tool would run
	rest     strings.Builder // other text, except prose
	query    strings.Builder
	cut      bool // command is too long and was cut
	// shellTexts are texts for a shell. shellWords are texts of arguments that follow a program.
	shellTexts, shellWords []string
}

// findDangers returns the reasons why a call needs care; nil if the call is routine.
func findDangers(c *policy.Call, r *Request, w *walker, unusual []string, o Options) []string {
	o.Project = workFolder(o.Project, o.Home)
	l := dangerFinder{o: o, base: ownFolder(o.Home)}
	if c.Malformed != "" {
		l.addFinding(whyMalformed, c.Malformed)
	}
	for _, name := range unusual {
		l.addFinding(whyBeside, name)
	}
	switch c.Subject {
	case policy.ToolSubject:
		l.toolCall(c, w.leaves)
	case policy.ResourceSubject:
		for _, uri := range c.Names {
			l.inspectPath(uri)
			l.inspectHost("uri", uri)
		}
	case policy.SamplingSubject:
		l.addFinding(whySampling, "")
	case policy.ElicitationSubject:
		l.inspectElicitation(c.Names)
	}
	l.inspectDisguises(r, w.odd)
	return l.renderFindings()
}

func (l *dangerFinder) toolCall(c *policy.Call, leaves []leaf) {
	for _, name := range c.Names {
		l.words = append(l.words, textclass.SplitWords(name)...)
		l.shell = l.shell || textclass.RunsText(name)
	}
	l.writes = textclass.ChangesFiles(l.words) && !slices.ContainsFunc(leaves, func(a leaf) bool { return a.key == "command" && a.text == "view" })
	l.mayWrite = l.o.Unseen && (l.writes || !textclass.OnlyTells(l.words))
	if l.shell {
		l.addFinding(whyShell, "")
	}
	if textclass.WipesOut(l.words) {
		l.addFinding(whyWipes, "")
	}
	// An argument with the other words of a command may come before the argument with the
	// program. So the first round takes the program, and the second round takes the other words.
	for _, later := range []bool{false, true} {
		for i := range leaves {
			if key := plainKey(leaves[i].key); slices.Contains(laterKeys, key) == later {
				l.sortText(key, leaves[i].text)
			}
		}
	}
	if l.cut {
		l.addFinding(whyTooLong, "")
	}
	l.inspectTableWords()
	for i := range leaves {
		a, key := &leaves[i], plainKey(leaves[i].key)
		switch {
		case l.isCommand(key):
		case isPathKey(key), !slices.Contains(proseKeys, key) && looksLikePath(a.text):
			l.inspectPath(a.text)
		}
		if !slices.Contains(proseKeys, key) || l.shell {
			l.inspectHost(key, a.text)
		}
	}
	l.inspectTokens()
	l.inspectUnseen(leaves)
}

func (l *dangerFinder) isCommand(key string) bool {
	if l.shell {
		return !slices.Contains(toldKeys, key)
	}
	return slices.Contains(commandKeys, key)
}

// sortText adds the text of an argument to the texts of its kind: command, query or other text.
func (l *dangerFinder) sortText(key, text string) {
	switch {
	case l.isCommand(key):
		l.cut = fillBuilder(&l.command, text) || l.cut
		switch {
		case hasAny(l.words, otherLanguages):
		case slices.Contains(shellKeys, key):
			l.shellTexts = append(l.shellTexts, text)
		case slices.Contains(laterKeys, key):
			l.shellWords = append(l.shellWords, text)
		}
	case slices.Contains(queryKeys, key) && (key == "sql" || textclass.EffectsOf(l.words)&textclass.Queries != 0):
		fillBuilder(&l.query, text)
	case !slices.Contains(proseKeys, key):
		fillBuilder(&l.rest, text)
	}
}

// fillBuilder adds s to b, and leaves out the middle of s if there is too little room. The result
// left is true if something was left out.
func fillBuilder(b *strings.Builder, s string) (left bool) {
	room := max(0, maxLooked-b.Len())
	if left = len(s) > room; left {
		s = s[:cutOffset(s, room/2)] + " … " + s[cutOffset(s, len(s)-room/2):]
	}
	b.WriteString(s + " ")
	return left
}

// inspectTableWords searches the texts for the words of the table of dangerous words.
func (l *dangerFinder) inspectTableWords() {
	command, query, rest := shellReadings(&l.command), shellReadings(&l.query), shellReadings(&l.rest)
	for i := range compiledWords() {
		w := &compiledWords()[i]
		texts := command
		switch w.where {
		case inQuery:
			texts = slices.Concat(command, query)
		case inAny:
			texts = slices.Concat(command, query, rest)
		}
		for _, text := range texts {
			if found := w.findWord(text); found != "" {
				l.addFinding(w.why, strings.TrimSpace(found))
				break
			}
		}
	}
}

// shellReadings returns the text and, if a shell would read it differently, also this reading.
func shellReadings(b *strings.Builder) []string {
	s := strings.TrimSpace(b.String())
	if s == "" {
		return nil
	}
	if bare := undress.Replace(s); bare != s {
		return []string{s, bare}
	}
	return []string{s}
}

// changing are the commands that write files.
var changing = []string{">", "tee", "cp", "mv", "rm", "ln", "sed", "install", "chmod", "chattr", "touch", "rsync", "scp", "truncate", "unlink", "dd"}

func hasAny(list, of []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(of, s) })
}

// inspectTokens searches the words of commands for dangerous places and addresses, in each reading
// of the text.
func (l *dangerFinder) inspectTokens() {
	texts := shellReadings(&l.command)
	lists := make([][]string, len(texts))
	for i, text := range texts {
		lists[i] = wordsOf(text)
		l.writes = l.writes && i > 0 || strings.Contains(text, ">") || hasAny(lists[i], changing)
	}
	if l.o.Unseen {
		l.inspectSearches(texts)
		l.doubts()
	}
	seen := map[string]bool{}
	for _, s := range slices.Concat(lists...) {
		for _, path := range pathsIn(s) {
			if !seen[path] {
				seen[path] = true
				l.matchPlaces(path)
			}
		}
		if l.o.Unseen && textclass.MayNameShut(s) {
			l.inspectSecretPlace(s)
		}
		if strings.Contains(s, "://") && !seen["://"+s] {
			seen["://"+s] = true
			l.inspectHost("", s)
		}
	}
}

// otherLanguages are words in the names of tools that run code of a language other than the
// shell's. "cmd" is not in the list, because most tools with this name run a Unix shell.
var otherLanguages = []string{"python", "javascript", "js", "node", "ruby", "code", "powershell", "pwsh", "sql", "applescript", "osascript", "r", "lua"}

// shellKeys are the names of arguments that hold a shell text or a part of one.
var shellKeys = []string{"command", "commands", "cmd", "cmdline", "commandline", "script", "shell", "bash", "exec", "run"}

// doubts searches shell texts for effects that no single word shows. It is for calls that no person
// sees. Such effects need care, because the person allowed another call.
func (l *dangerFinder) doubts() {
	texts := l.shellTexts
	if len(texts) > 0 && len(l.shellWords) > 0 { // one argument has the program, another has its words
		texts = append(slices.Clone(texts), strings.Join(texts, " ")+" "+strings.Join(l.shellWords, " "))
	}
	for _, text := range texts {
		d := shell.DoubtsOf(text)
		for _, doubt := range [][2]string{{whySecrets, d.Shut}, {whyUnread, d.Unread}, {whyDeletes, d.Deletes}} {
			if why, words := doubt[0], doubt[1]; words != "" && l.count[why] == 0 {
				l.addFinding(why, words)
			}
		}
	}
}

// inspectSecretPlace searches a word for places with secrets. It is for calls that no person sees,
// so it also finds places that usually need no care.
func (l *dangerFinder) inspectSecretPlace(word string) {
	for _, path := range append(pathsIn(word), strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("@:+", r) })...) {
		if last := path[strings.LastIndexByte(path, '/')+1:]; strings.Trim(last, "*") != "" && textclass.NamesShut(path) {
			l.addFinding(whySecrets, path)
			return
		}
	}
}

// inspectSearches searches for commands that print the content of every file in a folder, which can
// include secrets.
func (l *dangerFinder) inspectSearches(texts []string) {
	for _, text := range texts {
		if found := wideSearch().FindString(text); found != "" && !named().MatchString(found) {
			l.addFinding(whySecrets, strings.TrimSpace(found))
			return
		}
	}
}

// named matches a search command that is limited to files with the ending of source files.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s(?:-i?name|--include|-g|--i?glob)[ =]["']?\*[\w-]*\.(?:go|[jt]sx?|mjs|py|rb|java|kt|rs|c|cc|cpp|h|hpp|cs|swift|php|sh|md|txt|html|css|sql|proto)["']?(?:\s|$)`)
})

var wideSearch = sync.OnceValue(func() *regexp.Regexp {
	const option, ends = `(?:[^\n;|&]*\s)?`, `(?:\s|=|$)`
	return regexp.MustCompile(`\b(?:[ef]?grep|diff)\s` + option + `(?:-[a-zA-Z]*[rR][a-zA-Z]*|--(?:dereference-)?recursive|(?:-d|--directories)[ =]recurse)\s+(?:\S+\s*|[^\n;|&]*\s\.{1,2}/?(?:\s[^\n;|&]*)?)(?:$|[\n;|&])` +
		`|\brg\s` + option + `(?:-u+|-\.|--hidden|--unrestricted|--no-ignore\S*)` + ends +
		`|\bgit\s[^\n;|&]*\bgrep\s` + option + `--(?:no-index|untracked|no-exclude-standard)` + ends +
		`|\bfind\s+(?:\.{1,2}/?\s[^\n;|&]*|-[^\n;|&]*)-exec(?:dir)?\s+(?:\S*/)?(?:cat|head|tail|less|more|strings|xxd|od|base64|grep|awk|sed)\s[^\n;|&]*`)
})
