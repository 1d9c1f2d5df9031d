package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/policy"
)

// The other reasons for care; the tables hold theirs.
const (
	whyMalformed = "is malformed: no rule may allow it"
	whyShell     = "runs commands or code"
	whyTooLong   = "runs more text than can be looked through"
	whyWipes     = "destroys something large"
	whyOutside   = "writes outside the project folder"
	whyNoFolder  = "writes where no project folder is known"
	whySampling  = "puts a server's words to your model"
	whyAddress   = "wants you to open an address"
	whyAsks      = "asks you for a secret, which a form must not do"
	whyDisguise  = "holds text that hides or passes for other text"
)

// maxLooked is how much text of commands, and of everything else, dangers are
// looked for in, in bytes; maxTokens how many words of commands.
const (
	maxLooked = 64 << 10
	maxTokens = 2000
)

// findings gathers reasons in their order, each with its first example.
type findings struct {
	order   []string
	example map[string]string
	count   map[string]int
}

func (f *findings) add(why, example string) {
	if f.count == nil {
		f.count, f.example = map[string]int{}, map[string]string{}
	}
	if f.count[why]++; f.count[why] == 1 {
		f.order = append(f.order, why)
		f.example[why] = example
	}
}

// list gives them in words.
func (f *findings) list() []string {
	var list []string
	for _, why := range f.order {
		s := why
		if f.example[why] != "" {
			s += ": " + term.Value(f.example[why])
		}
		if n := f.count[why]; n > 1 {
			s += fmt.Sprintf(" (%d times)", n)
		}
		list = append(list, s)
	}
	return list
}

// looker looks for reasons in one call.
type looker struct {
	findings
	o       Options
	words   []string // of the tool's name
	tool    string
	shell   bool
	writes  bool
	command strings.Builder // what would be run
	rest    strings.Builder // what is neither run nor prose
	query   strings.Builder
	cut     bool // not all of command is in it
}

// dangers are the reasons why a call needs care, nil when it is routine.
func dangers(c *policy.Call, r *Request, w *walker, o Options) []string {
	l := looker{o: o}
	if c.Malformed != "" {
		l.add(whyMalformed, c.Malformed)
	}
	switch c.Subject {
	case policy.ToolSubject:
		l.toolCall(c, w.leaves)
	case policy.ResourceSubject:
		for _, uri := range c.Names {
			l.path(uri)
			l.host("uri", uri)
		}
	case policy.SamplingSubject:
		l.add(whySampling, "")
	case policy.ElicitationSubject:
		l.elicitation(c.Names)
	}
	l.disguises(r, w.odd)
	return l.list()
}

func (l *looker) toolCall(c *policy.Call, leaves []leaf) {
	for _, name := range c.Names {
		l.tool, l.words = name, append(l.words, words(name)...)
		l.shell = l.shell || shellLike(name)
	}
	l.writes = writes(l.words) && !slices.ContainsFunc(leaves, func(a leaf) bool { return a.key == "command" && a.text == "view" })
	if l.shell {
		l.add(whyShell, "")
	}
	if wipes(l.words) {
		l.add(whyWipes, "")
	}
	// Words of a command may stand before the program in the arguments.
	for _, later := range []bool{false, true} {
		for i := range leaves {
			if key := plainKey(leaves[i].key); slices.Contains(laterKeys, key) == later {
				l.sort(key, leaves[i].text)
			}
		}
	}
	if l.cut {
		l.add(whyTooLong, "")
	}
	l.table()
	for i := range leaves {
		a, key := &leaves[i], plainKey(leaves[i].key)
		switch {
		case l.isCommand(key):
		case isPathKey(key), !slices.Contains(proseKeys, key) && looksLikePath(a.text):
			l.path(a.text)
		}
		if !slices.Contains(proseKeys, key) || l.shell {
			l.host(key, a.text)
		}
	}
	l.tokens()
}

func (l *looker) isCommand(key string) bool {
	if l.shell {
		return !slices.Contains(toldKeys, key)
	}
	return slices.Contains(commandKeys, key)
}

// sort puts an argument's text where its words are looked for.
func (l *looker) sort(key, text string) {
	switch {
	case l.isCommand(key):
		l.cut = fill(&l.command, text) || l.cut
	case slices.Contains(queryKeys, key) && (key == "sql" || hasAny(l.words, sqlWords)):
		fill(&l.query, text)
	case !slices.Contains(proseKeys, key):
		fill(&l.rest, text)
	}
}

// fill adds as much of s as there is room for, head and tail, and says whether
// something was left out.
func fill(b *strings.Builder, s string) (left bool) {
	room := max(0, maxLooked-b.Len())
	if left = len(s) > room; left {
		s = s[:cut(s, room/2)] + " … " + s[cut(s, len(s)-room/2):]
	}
	b.WriteString(s + " ")
	return left
}

// table looks for the words of the table.
func (l *looker) table() {
	command, query, rest := readings(&l.command), readings(&l.query), readings(&l.rest)
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
			if found := w.find(text); found != "" {
				l.add(w.why, strings.TrimSpace(found))
				break
			}
		}
	}
}

// readings are a text and, where it differs, what a shell reads in it.
func readings(b *strings.Builder) []string {
	s := strings.TrimSpace(b.String())
	if s == "" {
		return nil
	}
	if bare := undress.Replace(s); bare != s {
		return []string{s, bare}
	}
	return []string{s}
}

// changing are commands that write files.
var changing = []string{">", "tee", "cp", "mv", "rm", "ln", "sed", "install", "chmod", "chattr", "touch", "rsync", "scp", "truncate", "unlink", "dd"}

// tokens looks at the words of commands for places and addresses.
func (l *looker) tokens() {
	text := l.command.String()
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&<>()=,", r) })
	l.writes = strings.Contains(text, ">") || hasAny(list, changing)
	for _, s := range list[:min(len(list), maxTokens)] {
		if strings.ContainsAny(s, `/\~.`) {
			l.places(s)
		}
		if strings.Contains(s, "://") {
			l.host("", s)
		}
	}
}

// looksLikePath says so of an argument whose name does not.
func looksLikePath(s string) bool {
	for _, root := range []string{"~/", "../", "./", "file:", "$HOME", "%", `\\`, "/home/", "/Users/", "/root/", "/etc/", "/var/", "/usr/",
		"/tmp/", "/opt/", "/mnt/", "/media/", "/srv/", "/dev/", "/proc/", "/sys/", "/boot/", "/private/", "/Library/", "/System/", "/Volumes/"} {
		if strings.HasPrefix(s, root) {
			return true
		}
	}
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// path looks at an argument that names a file.
func (l *looker) path(s string) {
	if s == "" || len(s) > maxName || strings.Contains(s, "://") && !strings.HasPrefix(strings.ToLower(s), "file:") {
		return
	}
	if l.writes {
		for _, plain := range located(s, l.o.Home) {
			if outside(plain, l.o.Project) {
				if l.o.Project == "" {
					l.add(whyNoFolder, s)
				} else {
					l.add(whyOutside, s)
				}
				break
			}
		}
	}
	l.places(s)
}

// places looks a path up in the table of places.
func (l *looker) places(s string) {
	if len(s) > maxName {
		return
	}
	seen := map[string]bool{}
	for _, plain := range located(s, l.o.Home) {
		inside := l.o.Project != "" && l.o.Project != "/" && !outside(plain, l.o.Project)
		for i := range places {
			p := &places[i]
			if p.write && !l.writes || inside && p.why == whySystem || seen[p.why] || !p.holds(plain) {
				continue
			}
			seen[p.why] = true
			l.add(p.why, s)
		}
		for _, own := range l.o.Own {
			if own != "" && rooted(plain) && !outside(plain, own) && !seen[whyOwn] {
				seen[whyOwn] = true
				l.add(whyOwn, s)
			}
		}
	}
}

// host looks at an argument that names a host or an address.
func (l *looker) host(key, s string) {
	if !slices.Contains(hostKeys, key) {
		key = ""
	}
	host, userinfo := hostOf(key, s)
	if userinfo {
		l.add(whyUserinfo, s)
	}
	if why := dangerousHost(host); why != "" {
		l.add(why, s)
	}
}

// secretWords are what a form must not ask for (MCP client/elicitation).
var secretWords = []string{"password", "passwort", "passphrase", "passcode", "api key", "api-key", "apikey", "api_key", "secret", "token",
	"credential", "private key", "seed phrase", "recovery phrase", "card number", "cvv", "one-time code"}

func (l *looker) elicitation(names []string) {
	for i, s := range names {
		if i > 0 {
			l.add(whyAddress, s)
			l.host("url", s)
			continue
		}
		low := strings.ToLower(s[:cut(s, min(len(s), maxLooked))])
		if slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(low, w) }) {
			l.add(whyAsks, "")
		}
	}
}

// grave are the marks that are a danger even in prose.
var grave = []string{markDirection, markTags}

// ordinary are the marks that are no danger anywhere.
var ordinary = []string{markRight, markStacked, markBlanks}

// disguises looks at what is odd about names and values.
func (l *looker) disguises(r *Request, names []string) {
	for i := range r.Named {
		l.disguise(&r.Named[i], r.Word == "text" || r.Word == "asks" && i == 0)
	}
	for i := range r.Args {
		a := &r.Args[i]
		key := a.Path[strings.LastIndexByte(a.Path, '.')+1:]
		if j := strings.IndexByte(key, '['); j > 0 {
			key = key[:j]
		}
		l.disguise(a, slices.Contains(proseKeys, plainKey(key)))
	}
	for _, name := range names {
		for _, mark := range marks(name) {
			l.add(whyDisguise+" ("+mark+")", name)
		}
	}
}

func (l *looker) disguise(a *Arg, prose bool) {
	for _, mark := range a.Marks {
		if slices.Contains(grave, mark) || !prose && !slices.Contains(ordinary, mark) {
			l.add(whyDisguise+" ("+mark+")", "")
		}
	}
}
