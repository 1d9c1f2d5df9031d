package redact

import (
	"bytes"
	"iter"
	"strings"
)

// credential is an option of a program, with one letter, whose value is a secret.
type credential struct {
	programs []string
	option   string
	behind   byte   // only the part after this byte is the secret; 0: the whole value
	attached bool   // the value is in the same word as the option
	only     string // this word must be in the command before the option; "" for none
	flags    string // one-letter options that may be in the same word before this option
}

// curlFlags are the one-letter options of curl that have no value (curl(1)).
const curlFlags = "aBfGgiIjJklLMnNOpqRsSvVZ#012346"

var credentials = []credential{
	{programs: []string{"curl", "wget"}, option: "-u", behind: ':', flags: curlFlags},
	{programs: []string{"curl"}, option: "-u", behind: ':', attached: true, flags: curlFlags},
	{programs: []string{"curl", "wget"}, option: "-U", behind: ':', flags: curlFlags},
	{programs: []string{"curl", "wget"}, option: "--user", behind: ':'},
	{programs: []string{"curl", "wget"}, option: "--proxy-user", behind: ':'},
	{programs: []string{"wget"}, option: "--password"}, {programs: []string{"wget"}, option: "--http-password"},
	{programs: []string{"wget"}, option: "--ftp-password"}, {programs: []string{"wget"}, option: "--proxy-password"},
	{programs: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin", "mongosh", "mongo", "mongodump", "mongorestore"}, option: "--password"},
	{programs: []string{"docker", "podman", "helm", "oc", "skopeo", "buildah", "az"}, option: "--password", only: "login"},
	{programs: []string{"redis-cli"}, option: "--pass"}, {programs: []string{"az", "azcopy"}, option: "--account-key"},
	{programs: []string{"http", "https", "xh"}, option: "-a", behind: ':'},
	{programs: []string{"http", "https", "xh"}, option: "--auth", behind: ':'},
	{programs: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin"}, option: "-p", attached: true},
	{programs: []string{"sshpass", "mongosh", "mongo", "mongodump", "mongorestore"}, option: "-p"},
	{programs: []string{"sshpass", "7z", "7za", "7zz", "rar", "unrar"}, option: "-p", attached: true},
	{programs: []string{"docker", "podman", "helm", "oc", "skopeo", "buildah", "az"}, option: "-p", only: "login"},
	{programs: []string{"redis-cli"}, option: "-a"},
	{programs: []string{"ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami", "ldappasswd"}, option: "-w"},
	{programs: []string{"sqlcmd", "bcp", "zip", "unzip"}, option: "-P"},
	{programs: []string{"smbclient", "rpcclient"}, option: "-U", behind: '%'},
}

// Limits on the search for the program before an option. maxWords is the maximum number of words in
// a search; text in quotes is one word. A search of more than maxCommand bytes is long. All long
// searches together may read maxCommands times the length of the text, so a text that consists of
// options does not take quadratic time.
const (
	maxWords    = 48
	maxCommand  = 2048
	maxCommands = 8
)

// credentialAt finds the secret of a command-line option that begins at s[i]. The option may be in
// quotes, as a word of a shell or an element of a list.
func (r *reading) credentialAt(i int) span {
	s := r.s
	if len(s)-i < 4 || s[i+1] == ' ' {
		return span{}
	}
	quote, begin := byte(0), i
	if i > 0 && (s[i-1] == '"' || s[i-1] == '\'') {
		quote, begin = s[i-1], i-1
	}
	var command []byte
	for n := range credentials {
		c := &credentials[n]
		letters := c.flagsAt(s, i)
		if !bytes.HasPrefix(s[i+letters:], []byte(c.option)[min(letters, 1):]) {
			continue
		}
		value := i + letters + len(c.option) - min(letters, 1)
		separate := value < len(s) && (s[value] == ' ' || s[value] == '=' && len(c.option) > 2)
		if next := bytes.TrimPrefix(s[value:], []byte{'\\'}); quote != 0 && len(next) > 0 && next[0] == quote {
			value, separate = skipBytes(s, len(s)-len(next)+1, " \t\r\n,")-1, true
		}
		if separate == c.attached || !separate && !c.attached {
			continue
		}
		if !c.attached {
			value++
		}
		at := c.secretSpan(s, value)
		if at.to <= at.from {
			continue
		}
		if command == nil {
			command = r.commandBefore(begin)
		}
		if c.behindProgram(command) {
			return at
		}
	}
	return span{}
}

// flagsAt returns the length of the part of a word before the option's letter: the dash and other
// one-letter options.
func (c *credential) flagsAt(s []byte, i int) (n int) {
	for n = 1; c.flags != "" && i+n < len(s) && strings.IndexByte(c.flags, s[i+n]) >= 0; n++ {
	}
	if n == 1 {
		return 0
	}
	return n
}

// commandBefore returns the part of a command before its option at s[i]. The command may be the
// value of a name. A command does not end at these places: text in quotes, a line end after which
// the command continues, and a sign inside a word, such as the & of an address.
func (r *reading) commandBefore(i int) []byte {
	s, start, words := r.s, i, 0
	for start > 0 && words < maxWords {
		if i-start > maxCommand && r.commands > maxCommands*len(s) {
			r.giveUp(i)
			break
		}
		switch c := s[start-1]; c {
		case ';', '|', '&':
			if start == i || isBetween(s[start]) || start > 1 && (isBetween(s[start-2]) || s[start-2] == c) {
				return s[start:i]
			}
		case '\n', ' ', '\t':
			if c == '\n' && !goesOn(s[max(0, start-maxLook):start-1]) {
				return s[start:i]
			}
			if start < i && s[start] > ' ' && !goesOn(s[start-1:start+1]) { // a sign between two words, at which the command begins
				words++
			}
		case '"', '\'':
			if start < i && s[start] > ' ' && s[start] != ',' {
				break
			}
			open := r.quoteBefore(start-1, c)
			if open == 0 || open > 0 && (s[open-1] <= ' ' || strings.IndexByte("=[(,$\\", s[open-1]) >= 0) {
				if start = open + 1; open > 0 && s[open-1] > ' ' {
					words++
				}
			}
		}
		start--
	}
	if i-start > maxCommand {
		r.commands += i - start
	}
	return s[start:i]
}

// quoteBefore returns the index of the last quote of this sort before s[i]; -1 if there is none.
func (r *reading) quoteBefore(i int, quote byte) int {
	first := &r.quotes[quote&1] // index by the last bit: '"' is even, '\'' is odd
	if *first == 0 {
		*first = bytes.IndexByte(r.s, quote) + 1 // the index plus one; it is never 0, because the text has such a quote
	}
	switch {
	case i < *first:
		return -1
	case r.commands > maxCommands*len(r.s):
		r.giveUp(i)
		return -1
	}
	open := bytes.LastIndexByte(r.s[:i], quote)
	if i-open > maxCommand {
		r.commands += i - open
	}
	return open
}

// isBetween reports whether c can be beside a sign that ends a command.
func isBetween(c byte) bool { return c <= ' ' || c == '&' || c == '|' }

// goesOn reports whether the command or list in s continues in the next line.
func goesOn(s []byte) bool {
	s = bytes.TrimRight(s, " \t\r")
	n := len(s) - 1
	return n >= 0 && (strings.IndexByte("\\,[", s[n]) >= 0 || strings.IndexByte("^`", s[n]) >= 0 && n > 0 && s[n-1] == ' ')
}

// behindProgram reports whether a command runs one of the programs of c. It first checks whether
// the text contains the name of a program at all.
func (c *credential) behindProgram(command []byte) bool {
	for _, program := range c.programs {
		if bytes.Contains(command, []byte(program)) {
			return c.hasProgram(nil, command)
		}
	}
	return false
}

// hasProgram reports whether texts contain the name of a program of c, and after it the word
// c.only.
func (c *credential) hasProgram(texts ...[]byte) bool {
	found, only := false, c.only == ""
	for _, text := range texts {
		for name := range commandNames(text) {
			only = only || found && string(name) == c.only
			for _, program := range c.programs {
				found = found || string(name) == program
			}
		}
	}
	return found && only
}

// maxName is larger than the length of each program's name.
const maxName = 20

// commandNames visits the words of a command that can be the name of a program. A sign may be
// before the name, such as the sign of a diff, a tag or a path, but not the "--" of an option.
func commandNames(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := range text {
			if !isAlnum[text[at]] || !beginsAt(text, at) || bytes.HasSuffix(text[:at], []byte("--")) {
				continue
			}
			end := at
			for end < len(text) && end-at < maxName && (isAlnum[text[end]] || text[end] == '-') {
				end++
			}
			name := text[at:end]
			if bytes.HasPrefix(text[end:], []byte(".exe")) {
				end += len(".exe")
			}
			if (end == len(text) || strings.IndexByte(betweenWords, text[end]) >= 0) && !yield(name) {
				return
			}
		}
	}
}

// betweenWords are the bytes that can follow a word of a command.
const betweenWords = " \t\r\n\"'()\\`,=<"

// secretSpan returns the secret in the value at s[i].
func (c *credential) secretSpan(s []byte, i int) span {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' && goesOn(s[max(0, i-maxLook):i]) || strings.IndexByte("\\^`\r", s[i]) >= 0 && isLineEnd(s[i+1:])) {
		i++
	}
	if i+1 < len(s) && (s[i] == '$' || s[i] == '\\') && (s[i+1] == '"' || s[i+1] == '\'') {
		i++
	}
	from, to := wordSpan(s, i)
	if c.behind != 0 {
		n := bytes.IndexByte(s[from:to], c.behind)
		if n < 0 {
			return span{}
		}
		if from += n + 1; from == to { // the quotes may begin after c.behind
			from, to = wordSpan(s, from)
		}
	}
	if from < to && s[from] == '$' || from < to && s[from] == '-' { // the value is a variable, or it is the next option
		return span{}
	}
	return span{from, to, placedKind}
}

// wordSpan returns the shell word at s[i], without the quotes around it. A word may have several
// parts, and each part may be in quotes.
func wordSpan(s []byte, i int) (from, to int) {
	if from, to = referenceSpan(s, i); to >= 0 {
		return from, to
	}
	from, at := i, i
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		from = i + 1
		if to, at = quotedPart(s, i); at < 0 { // the quote closes in a later line, or not at all
			stop := string(s[i])
			if i > 0 && s[i-1] == '\\' { // this quote belongs to JSON inside a text
				stop += `\`
			}
			to = len(s)
			if n := bytes.IndexAny(s[from:], stop); n >= 0 {
				to = from + n
			}
			return from, from + len(beforeMarkup(s[from:to]))
		}
		if i > 0 && s[i-1] == '\\' || !continuesWord(s[at:]) {
			return from, to
		}
	}
	outer := enclosure{s: s, at: i}
	for at < len(s) {
		c := s[at]
		escaped := c == '\\' && at+1 < len(s) && (s[at+1] == '"' || s[at+1] == '\'')
		switch {
		case c <= ' ' || strings.IndexByte("`;|&)", c) >= 0 || c == '<' && markupLength(s[at:]) > 0:
			return from, at
		case escaped && (outer.isOpen(s[at+1], true) || endsElement(s[at+2:])):
			return from, at
		case escaped:
			at += 2
		case c == '"' || c == '\'':
			end, behind := quotedPart(s, at)
			if behind < 0 || outer.isOpen(c, false) || endsElement(s[at+1:]) {
				return from, at
			}
			if at = behind; !continuesWord(s[at:]) {
				return from, end
			}
		default:
			at++
		}
	}
	return from, at
}

// quotedPart reads the part of a shell word in the quotes that open at s[open]. The result end is
// the end of the text inside the quotes; the result behind is the place after the closing quote.
// Both are -1 if the quotes do not close in the same line. Inside single quotes a backslash escapes
// nothing.
func quotedPart(s []byte, open int) (end, behind int) {
	if s[open] == '\'' && (open == 0 || s[open-1] != '\\') {
		n := bytes.IndexAny(s[open+1:], "'\r\n")
		if n < 0 || s[open+1+n] != '\'' {
			return -1, -1
		}
		return open + 1 + n, open + 2 + n
	}
	if end = quotedEnd(s, open); end < 0 {
		return -1, -1
	}
	return end, skipBytes(s, end, `\`) + 1
}

// continuesWord reports whether a shell word goes on with s after a part in quotes.
func continuesWord(s []byte) bool {
	switch {
	case len(s) < 2:
		return false
	case isWord[s[0]]:
		return true
	case s[0] == '\\':
		return s[1] == '"' || s[1] == '\''
	case s[0] == '"' || s[0] == '\'':
		return !endsElement(s[1:])
	}
	return strings.IndexByte("@#%^+-=/~!*?.:$", s[0]) >= 0 && isAlnum[s[1]]
}

// isLineEnd reports whether s begins with a line end.
func isLineEnd(s []byte) bool {
	return bytes.HasPrefix(s, []byte("\n")) || bytes.HasPrefix(s, []byte("\r\n"))
}

// listedSecrecy returns the secrecy of an element of a list that is a command line. The parameter
// last is the element directly before it, and the parameter before is the text of all earlier
// elements. The parameter command is the program, if another member has named the program.
func listedSecrecy(element, last, before, command []byte) secrecy {
	for n := range credentials {
		c := &credentials[n]
		option := last
		if c.attached {
			option = element
		}
		switch {
		case !bytes.HasPrefix(option, []byte(c.option)) || c.attached == (len(option) == len(c.option)):
		case !c.attached && len(option) > len(c.option) || c.behind != 0 && bytes.IndexByte(element, c.behind) < 0:
		case c.hasProgram(command, before):
			return secret
		}
	}
	return harmless
}
