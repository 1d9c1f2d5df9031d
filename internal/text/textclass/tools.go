package textclass

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// An Effect is something that a tool does, as a word in the tool's name shows. The description that
// a server gives of its tools is not used, because it is only a claim.
type Effect uint16

// Effects, grouped by the package that uses them.
const (
	// For learned rules (internal/check/learn). A learned rule allows calls without a person, so a
	// word has its worst effect here. If a word is in too many sets, the only cost is that a person
	// must write a rule.

	Reads    Effect = 1 << iota // the tool changes nothing
	Acts                        // the tool changes something
	Reaches                     // the tool reads from the network
	Executes                    // the tool runs, deletes or sends something

	// For questions (internal/ask/view): these effects decide which warnings are looked for. Their
	// sets of words are small, because a person who gets false warnings stops reading them.

	Tells   // the first word of the name: the tool changes and runs nothing, whatever the other words are
	Shell   // the tool runs the text in its arguments
	Starts  // the tool runs the text in its arguments if a Program word follows, and after that the name ends or a Joins word follows
	Program // a word for something that can be run
	Joins   // a small word at which the important part of a name ends
	Changes // the tool writes files
	Wipes   // the tool destroys something large if the next word is in All, or if the next word is in Large and the name ends there (WipesOut)
	Large   // a word for a thing whose loss affects more than one person
	All     // a word that means everything
	Queries // the query in the tool's arguments is SQL

	// For lint (internal/check/lint): the arguments name the things that the tool touches.

	Opens
)

// toolWords lists each word once, with all effects of the word.
var toolWords = [...]struct {
	says  Effect
	words string
}{
	{Tells, "explain"}, // not Reads, because a learned rule would let a server run the command or query that it "explains"
	{Tells | Reads, "check count describe find get list search show view"},
	{Tells | Reads | Opens, "read"},
	{Reads, "cat diff echo glob grep head help info log logs lookup ls open ping reads stat status tail tree version"}, // verbs that are also nouns: log_command
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
	{Changes, "link screenshot store"}, // these are nouns in the names of tools that read
	{Starts, "call"},                   // this is also a noun: get_call
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

// ShellTools are tools of well-known servers that run the text in their arguments, although their
// names do not show this.
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

// ToolWords returns the words with an effect, in alphabetical order.
func ToolWords(e Effect) (words []string) {
	for word, says := range effects() {
		if says&e != 0 {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// EffectsOf returns all effects of the words.
func EffectsOf(words []string) (all Effect) {
	for _, word := range words {
		all |= effects()[word]
	}
	return all
}

// SplitWords returns the words of a name, in lower case: run_command, runCommand,
// files.run-command. A digit counts as a letter: k8s, base64.
func SplitWords(name string) []string {
	return splitWords(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// LetterWords is SplitWords, but also splits a name at digits, so that "run2" has the word "run".
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

// RunsText reports whether a tool runs the text in its arguments, by its name.
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

// OnlyTells reports whether the first word of a name means that the tool changes and runs
// nothing.
func OnlyTells(words []string) bool { return len(words) > 0 && firstWordTells(words) }

func firstWordTells(words []string) bool { return len(words) == 0 || effects()[words[0]]&Tells != 0 }

// endsName reports whether a name, or its important part, ends in front of these words.
func endsName(words []string) bool { return len(words) == 0 || effects()[words[0]]&Joins != 0 }

// ChangesFiles reports whether a tool changes files, by the words of its name.
func ChangesFiles(words []string) bool {
	return !firstWordTells(words) && EffectsOf(words)&Changes != 0
}

// OnlyRead reports whether each name has a word for reading and no word for a change.
func OnlyRead(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		says := EffectsOf(SplitWords(name))
		return says&Reads == 0 || says&(Acts|Changes|Executes) != 0
	})
}

// WipesOut reports whether a tool destroys something large, by the words of its name.
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
