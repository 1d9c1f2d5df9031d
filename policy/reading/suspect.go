package reading

import (
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Suspicion is the reason why an argument may name a place or a command.
type Suspicion uint8

// The suspicions; the weakest is first.
const (
	Innocent Suspicion = iota
	ByName
	AsPath
	AsURL
	AsCommand
)

var suspicionWords = [...]string{
	ByName: "is called as what names a path, a URL or a command", AsPath: "looks like a path",
	AsURL: "looks like a URL", AsCommand: "looks like a command",
}

func (s Suspicion) String() string { return suspicionWords[s] }

// SuspectReason returns the reason why an argument without a condition is suspicious: its name, or
// the form of its whole text. An allow with conditions on other arguments does not match a call
// with such an argument. SuspectReason returns "" if nothing is suspicious. The tables are
// published in docs/policy.md.
func SuspectReason(name, text string) string { return SuspectText(ClassOf(name), text, false).String() }

// NameClass tells what an argument's name says about the argument's text.
type NameClass uint8

// The classes of names.
const (
	plainName NameClass = iota
	placeName           // the argument is a place or a command, whatever its text looks like
	TextName            // the tool only writes, searches for or shows the argument's text
)

// The tables are built on first use, because a hook process judges only one call and ends.

// nameTables holds the classes of names.
type nameTables struct {
	// words: the last word of a name, such as path in filePath, source_path and PATH; whole: the
	// whole name
	words, whole map[string]NameClass
	sizes        wordSizes // the lengths of the words in both maps
}

var names = sync.OnceValue(func() *nameTables {
	t := &nameTables{words: nameClasses(placeWords, textWords), whole: nameClasses(placeWords+placeNames, textWords+textNames)}
	t.sizes = sizesOf(t.whole)
	return t
})

func nameClasses(place, text string) map[string]NameClass {
	all := map[string]NameClass{}
	for word := range strings.FieldsSeq(place) {
		all[word] = placeName
	}
	for word := range strings.FieldsSeq(text) {
		all[word] = TextName
	}
	return all
}

// wordSizes tells which lengths the words of a set have, by the words' first letters. One lookup
// excludes most words that are not in the set.
type wordSizes [256]uint64

func sizesOf[V any](words map[string]V) (t wordSizes) {
	for word := range words {
		t[word[0]] |= 1 << len(word)
	}
	return t
}

// mayContain reports whether a word may be in the set. Letter case does not matter.
func (t *wordSizes) mayContain(word string) bool {
	return word != "" && t[LowerByte(word[0])]&(1<<len(word)) != 0 || !textclass.IsASCII(word)
}

const placeWords = `path paths filepath filepaths pathname pathnames basepath rootpath
file files filename filenames infile outfile logfile
dir dirs dirname directory directories folder folders cwd workdir workingdir homedir tmpdir outdir root roots
source sources src destination destinations dest dst
url urls baseurl uri uris href host hosts hostname webhook
command commands cmd cmds cmdline commandline args arguments argv script scripts shell exec executable program`

const textWords = `content contents text texts body message messages title subject description summary caption
comment comments note notes prompt prompts question questions answer answers reply instruction instructions
token tokens password passwords passphrase secret secrets apikey credential credentials authorization
reason thought markdown html css xml yaml json sql stdin
query queries q search pattern patterns regex regexp keyword keywords term terms
selector selectors xpath locator replacement`

// These words have a class only as whole names, not as the last word of a name.
const (
	placeNames = ` code file_name dir_name folder_name path_name`
	textNames  = ` api_key old_string new_string old_str new_str oldstring newstring`
)

// maxWord is a little larger than the length of the longest word in the tables.
const maxWord = 32

// ClassOf returns the class of a name. If the tables do not have the name, the class is that of the
// name's last word, without digits and signs after the word.
func ClassOf(name string) NameClass {
	t := names()
	if class := t.classOf(t.whole, name); class != plainName {
		return class
	}
	end := len(name)
	for end > 0 && !isLetter(name[end-1]) {
		end--
	}
	start, capital := end, 0 // in HTMLFile the last capital of HTML could also begin the word
	for start > 0 && isLetter(name[start-1]) {
		start--
		if !isUpper(name[start]) {
			continue
		}
		capital = max(capital, start)
		if start > 0 && !isUpper(name[start-1]) {
			break
		}
	}
	if end-start < len(name) { // if the word is the whole name, the lookup above has already failed
		if class := t.classOf(t.words, name[start:end]); class != plainName {
			return class
		}
	}
	if capital <= start {
		return plainName
	}
	return t.classOf(t.words, name[capital:end])
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func (t *nameTables) classOf(classes map[string]NameClass, word string) NameClass {
	if len(word) > maxWord || !t.sizes.mayContain(word) {
		return plainName
	}
	var room [maxWord]byte
	return classes[string(FoldInto(room[:0], word))]
}

// SuspectText returns the suspicion of a text. class is the class of the argument's name. windows
// means that the server is known to run on Windows.
func SuspectText(class NameClass, s string, windows bool) Suspicion {
	switch {
	case class == TextName || s == "":
		return Innocent
	case class == placeName:
		return ByName
	}
	if !hasTellingByte(s) {
		return Innocent
	}
	if s = strings.TrimSpace(s); s == "" || strings.IndexByte(s, '\n') >= 0 || strings.IndexByte(s, '\r') >= 0 {
		return Innocent // a text of several lines may hold a path, but it is not a path
	}
	for range maxDecodings + 1 {
		if windows {
			s = strings.ReplaceAll(s, `\`, "/") // \x is a path on Windows; on other systems it is mostly an escape
		}
		if why := suspectShape(s); why != Innocent || !hasEscape(s) {
			return why
		}
		s = unescapeOnce(s)
	}
	return AsPath // only a text that hides a path has so many layers of escapes
}

// hasTellingByte reports whether a text has at least one of certain characters. A text without any
// of these characters is not suspicious.
func hasTellingByte(s string) bool {
	for i := 0; i < len(s); i++ {
		if tells[s[i]] {
			return true
		}
	}
	return false
}

var tells = func() (t [256]bool) {
	for _, c := range " :./\\~$%`" {
		t[c] = true
	}
	return t
}()

// suspectShape returns the suspicion of a line of text.
func suspectShape(s string) Suspicion {
	switch {
	case isAddress(s):
		return AsURL
	case isPath(s):
		return AsPath
	case isCommand(s):
		return AsCommand
	}
	return Innocent
}

// isAddress reports whether a text is an address: an absolute URL (RFC 3986, section 4.3) with a
// host, a javascript: URL, or an address in the form of git and scp.
func isAddress(s string) bool {
	i := strings.IndexByte(s, ':')
	if i <= 0 || strings.ContainsAny(s, " \t") {
		return false
	}
	scheme, rest := s[:i], s[i+1:]
	if n := SchemeLen(s); n == i {
		return strings.HasPrefix(rest, "//") && len(rest) > 2 || strings.EqualFold(scheme, "javascript")
	}
	user, host, found := strings.Cut(scheme, "@")
	return found && user != "" && host != "" && rest != "" && strings.Trim(user+host, addressLetters) == ""
}

const addressLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// longestPath is a length in bytes. No system opens a longer path: PATH_MAX and the limit of
// Windows are smaller.
const longestPath = 1 << 15

// isPath reports whether a text is certainly a path: it starts at a root, a home, a drive or a
// variable, or goes through a parent or into a hidden folder. isPath returns false for other paths,
// such as src/a.go, because they look like a branch, a media type or a date.
func isPath(s string) bool {
	if len(s) > longestPath {
		return false
	}
	switch s[0] {
	case '/':
		return !strings.HasPrefix(s, "/9j/4") // /9j/4 begins a JPEG image in base64, not a path
	case '~':
		return isHome(strings.ReplaceAll(s, `\`, "/")) && !(len(s) > 1 && '0' <= s[1] && s[1] <= '9')
	case '\\':
		return len(s) > 2 && s[1] == '\\' && strings.IndexByte(s[2:], '\\') > 0 // a share: \\host\share
	case '.':
		if StartsLikePath(s) {
			return true
		}
	case '$', '%':
		return isVariable(s)
	}
	return HasDrive(s) && len(s) > 2 && isSlash(s[2]) || IsFile(s) ||
		strings.IndexByte(s, '.') >= 0 && (hasDotDot(s) || hasHiddenName(s))
}

// isVariable reports whether a text is a shell variable, or a path that begins with one.
func isVariable(s string) bool {
	if strings.ContainsAny(s, " \t") || !unknownBase(s, "") {
		return false
	}
	name := strings.Trim(s, "$%{}_0123456789")
	return strings.ContainsAny(s, `/\`) || name != "" && name == strings.ToUpper(name)
}

// hasHiddenName reports whether a path has a folder or a file whose name begins with a dot.
func hasHiddenName(s string) bool {
	if !strings.ContainsAny(s, `/\`) || strings.ContainsAny(s, " \t") {
		return false
	}
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '.' && (i == 0 || isSlash(s[i-1])) && isLetter(s[i+1]) {
			return true
		}
	}
	return false
}

// programs holds words that begin a command, unless prose follows them.
var programs = sync.OnceValue(func() *programTable {
	t := &programTable{names: map[string]bool{}}
	for word := range strings.FieldsSeq(programWords) {
		t.names[word] = true
	}
	t.sizes = sizesOf(t.names)
	return t
})

type programTable struct {
	names map[string]bool
	sizes wordSizes
}

func (t *programTable) hasProgram(word string) bool {
	return len(word) <= maxWord && t.sizes.mayContain(word) && t.names[strings.ToLower(word)]
}

const programWords = `sh bash dash zsh ksh fish busybox cmd cmd.exe powershell powershell.exe pwsh
sudo su doas env xargs nohup eval exec
cat cp mv rm ln ls dd tee tar zip unzip find grep sed awk chmod chown mkdir rmdir touch
curl wget nc ncat netcat ssh scp sftp rsync socat telnet
python python2 python3 node deno bun perl ruby php lua java
git npm npx pnpm yarn pip pip3 uv uvx make docker podman kubectl terraform aws gcloud az
kill killall systemctl crontab mount`

// isCommand reports whether a text is a shell command. A command is a substitution, or a program
// with an option, a place or an operator after its name.
func isCommand(s string) bool {
	if strings.HasPrefix(s, "$(") || s[0] == '`' && len(s) > 2 && s[len(s)-1] == '`' {
		return true
	}
	first, rest, found := strings.Cut(s, " ")
	for found && strings.IndexByte(first, '=') > 0 { // skip NAME=value before the program
		first, rest, found = strings.Cut(rest, " ")
	}
	if !found || !programs().hasProgram(first) {
		return false
	}
	if strings.ContainsAny(rest, "|&;<>$`") {
		return true
	}
	for word := range strings.FieldsSeq(rest) {
		if len(word) > 1 && word[0] == '-' && word[1] != ' ' || isPath(word) || isAddress(word) {
			return true
		}
	}
	return false
}
