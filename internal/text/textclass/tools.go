package textclass

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// An Effect is what a word in a tool's name says of the tool. What a server declares of
// its tools is a claim of the server's, so that nobody asks it.
type Effect uint16

// The effects, by who asks for them.
const (
	// What learned rules ask (internal/check/learn). Who is let through is let through
	// without a person, so that any word may be the worst one, and a word too many costs
	// a rule that a person has to write.

	Reads    Effect = 1 << iota // it changes nothing
	Acts                        // it changes something
	Reaches                     // it gets what lies on the network
	Executes                    // it runs, deletes, or sends

	// What a question asks (internal/ask/view), to choose what else it looks for. A
	// person who is warned for nothing stops to read, so that these sets are narrow.

	Tells   // as the first word: it changes and runs nothing, whatever the others are
	Shell   // it runs the text that it is given
	Starts  // it does if what follows is a Program, and ends the name or a Joins does
	Program // what can be run
	Joins   // small words, at which what is meant ends
	Changes // it writes files
	Wipes   // it destroys what follows: All, or what is Large, in the same place as a Program
	Large   // what is missed by more than one person
	All     // no less
	Queries // its query is SQL

	// What lint asks (internal/check/lint): that its arguments say what it touches.

	Opens
)

// toolWords has each word once, with all that it says.
var toolWords = [...]struct {
	says  Effect
	words string
}{
	{Tells, "explain"}, // a command, or what a query would do: of learning, a server could do it by doing it
	{Tells | Reads, "check count describe find get list search show view"},
	{Tells | Reads | Opens, "read"},
	{Reads, "cat diff echo glob grep head help info log logs lookup ls open ping reads stat status tail tree version"}, // nouns, too: log_command
	{Executes, `approve click computer deletes deploy email evaluate fill force grant install interpreter kill mail merge message
		pay post press publish push removes reset revert runs ssh sudo transfer type uninstall`},
	{Executes | Shell, "applescript cmd osascript powershell pwsh repl sh subprocess tmux zsh"},
	{Executes | Shell | Opens, "bash eval exec shell terminal"},
	{Executes | Starts, "invoke launch send spawn start"},
	{Executes | Starts | Opens, "run"},
	{Executes | Starts | Queries | Opens, "execute"},
	{Executes | Program, "code commands javascript node process python script"},
	{Executes | Program | Opens, "command"},
	{Executes | Changes, "chmod chown rm rmdir unlink"},
	{Executes | Changes | Opens, "remove"},
	{Executes | Changes | Wipes, "truncate"},
	{Executes | Changes | Wipes | Opens, "delete"},
	{Executes | Wipes, "destroy drop erase nuke purge terminate wipe"},
	{Executes | Queries | Opens, "query sql"},
	{Executes | Opens, "upload"},
	{Reaches, "browse browser goto https visit web"},
	{Reaches | Opens, "fetch http navigate request url"},
	{Reaches | Changes | Opens, "download"},
	{Acts, "add assign branch change checkout close commit disable enable set stash subscribe tag toggle trigger writes"},
	{Acts | Changes, `apply clone cp create export extract insert make mkdir modify mv overwrite patch prepend put rename replace save
		symlink touch trash unpack unzip update`},
	{Acts | Changes | Opens, "append copy edit move write"},
	{Changes, "link screenshot store"}, // nouns in the names of tools that read
	{Starts, "call"},                   // a noun, too: get_call
	{Program, "binary executable java js macro perl php program ruby scripts"},
	{Joins, "and async at by from in on sync to tool via with"},
	{Joins | Opens, "file"},
	{Large, `account bucket cluster collection environment instance namespace organization project repo repository schema server
		stack table user volume workspace`},
	{Large | Queries, "database db"},
	{All, "all everything"},
	{Queries, "bigquery clickhouse duckdb mariadb mysql postgres postgresql queries snowflake sqlite statement"},
	{Opens, "dir directory folder path"},
}

// ShellTools are tools of well-known servers that run what they are given, though the
// words of their names do not say so.
var ShellTools = []string{"browser_evaluate", "browser_run_code", "puppeteer_evaluate", "playwright_evaluate", "interact_with_process",
	"write_to_terminal", "send_control_character", "ssh", "python", "javascript", "code_interpreter", "computer"}

var effects = sync.OnceValue(func() map[string]Effect {
	all := map[string]Effect{}
	for _, row := range toolWords {
		for word := range strings.FieldsSeq(row.words) {
			all[word] |= row.says
		}
	}
	return all
})

// ToolWords gives the words that have an effect, in the order of the alphabet.
func ToolWords(e Effect) (words []string) {
	for word, says := range effects() {
		if says&e != 0 {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// EffectsOf gives all that some words say.
func EffectsOf(words []string) (all Effect) {
	for _, word := range words {
		all |= effects()[word]
	}
	return all
}

// SplitWords cuts a name into its words, in lower case: run_command, runCommand,
// files.run-command. A digit is a letter: k8s, base64.
func SplitWords(name string) []string {
	return splitWords(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// LetterWords cuts a name at digits as well, so that none of them hides a word: run2.
func LetterWords(name string) []string { return splitWords(name, unicode.IsLetter) }

func splitWords(name string, letter func(rune) bool) (list []string) {
	start, last := -1, rune(0)
	for i, r := range name {
		in := letter(r)
		if start >= 0 && (!in || unicode.IsUpper(r) && unicode.IsLower(last)) {
			list, start = append(list, strings.ToLower(name[start:i])), -1
		}
		if in && start < 0 {
			start = i
		}
		last = r
	}
	if start >= 0 {
		list = append(list, strings.ToLower(name[start:]))
	}
	return list
}

// RunsText reports whether a tool runs what it is given.
func RunsText(name string) bool {
	if slices.Contains(ShellTools, strings.ToLower(name[strings.LastIndexAny(name, "./:")+1:])) {
		return true
	}
	list := SplitWords(name)
	if firstWordTells(list) {
		return false
	}
	for i, word := range list {
		says := effects()[word]
		if says&Shell != 0 {
			return true
		}
		end := i + 1
		for says&Starts != 0 && end < len(list) && effects()[list[end]]&Program != 0 {
			end++
		}
		if end > i+1 && endsName(list[end:]) {
			return true
		}
	}
	return false
}

// OnlyTells reports whether the first word of a name says that the tool changes and runs nothing.
func OnlyTells(words []string) bool { return len(words) > 0 && firstWordTells(words) }

func firstWordTells(words []string) bool { return len(words) == 0 || effects()[words[0]]&Tells != 0 }

// endsName says that a name, or what is meant in it, ends before these words.
func endsName(words []string) bool { return len(words) == 0 || effects()[words[0]]&Joins != 0 }

// ChangesFiles reports whether a tool does, as far as the words of its name tell.
func ChangesFiles(words []string) bool {
	return !firstWordTells(words) && EffectsOf(words)&Changes != 0
}

// WipesOut reports whether a tool destroys something large.
func WipesOut(words []string) bool {
	for i, word := range words[:max(0, len(words)-1)] {
		if effects()[word]&Wipes == 0 {
			continue
		}
		if what := effects()[words[i+1]]; what&All != 0 || what&Large != 0 && endsName(words[i+2:]) {
			return true
		}
	}
	return false
}
