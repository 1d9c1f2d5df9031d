package view

import (
	"slices"
	"strings"
	"unicode"
)

// shellWords make a tool shell-like when its name has one of them as a word.
var shellWords = []string{"shell", "bash", "zsh", "sh", "powershell", "pwsh", "cmd", "exec", "terminal", "eval", "subprocess", "osascript", "applescript", "repl", "tmux"}

// shellVerbs make a tool shell-like when one of shellNouns follows and ends the
// name, or a small word does.
var (
	shellVerbs = []string{"run", "execute", "start", "spawn", "launch", "invoke", "send", "call"}
	shellNouns = []string{"command", "commands", "script", "scripts", "code", "process", "program", "binary", "executable",
		"python", "javascript", "js", "node", "ruby", "perl", "php", "java", "macro"}
	smallWords = []string{"in", "on", "at", "with", "from", "to", "via", "async", "sync", "and", "tool", "file", "by"}
)

// shellTools are shell-like tools of well-known servers whose name does not say
// so.
var shellTools = []string{"browser_evaluate", "browser_run_code", "puppeteer_evaluate", "playwright_evaluate", "interact_with_process",
	"write_to_terminal", "send_control_character", "ssh", "python", "javascript", "code_interpreter", "computer"}

// readVerbs begin the name of a tool that only tells.
var readVerbs = []string{"get", "list", "read", "show", "describe", "search", "find", "view", "explain", "check", "count"}

// writeVerbs make a tool one that writes files when its name has one of them as
// a word.
var writeVerbs = []string{"write", "edit", "create", "make", "mkdir", "touch", "move", "mv", "rename", "copy", "cp", "delete", "remove", "rm",
	"rmdir", "unlink", "append", "save", "replace", "patch", "put", "overwrite", "insert", "modify", "update", "link", "symlink", "chmod", "chown",
	"truncate", "download", "export", "extract", "unzip", "unpack", "apply", "store", "trash", "prepend", "clone", "screenshot"}

// A tool that destroys something large has one of wipeVerbs in its name, and
// then one of wipeNouns, at the end or before a small word, or one of allWords.
var (
	wipeVerbs = []string{"delete", "drop", "destroy", "purge", "wipe", "truncate", "erase", "terminate", "nuke"}
	wipeNouns = []string{"repository", "repo", "database", "db", "table", "schema", "collection", "bucket", "project", "account", "cluster",
		"namespace", "organization", "workspace", "volume", "stack", "instance", "server", "user", "environment"}
	allWords = []string{"all", "everything"}
)

// sqlWords in a tool's name say that its query is SQL.
var sqlWords = []string{"sql", "query", "queries", "db", "database", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "duckdb", "snowflake",
	"bigquery", "clickhouse", "statement", "execute"}

// words cuts a tool's name into its words, in lower case: run_command,
// runCommand, files.run-command.
func words(name string) []string {
	var list []string
	start := -1
	var last rune
	for i, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if start >= 0 && (!letter || unicode.IsUpper(r) && unicode.IsLower(last)) {
			list = append(list, strings.ToLower(name[start:i]))
			start = -1
		}
		if letter && start < 0 {
			start = i
		}
		last = r
	}
	if start >= 0 {
		list = append(list, strings.ToLower(name[start:]))
	}
	return list
}

func hasAny(list, of []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(of, s) })
}

// shellLike says whether a tool runs what it is given.
func shellLike(name string) bool {
	if slices.Contains(shellTools, strings.ToLower(name[strings.LastIndexAny(name, "./:")+1:])) {
		return true
	}
	list := words(name)
	if len(list) == 0 || slices.Contains(readVerbs, list[0]) {
		return false
	}
	if hasAny(list, shellWords) {
		return true
	}
	for i, verb := range list {
		if !slices.Contains(shellVerbs, verb) {
			continue
		}
		end := i + 1
		for end < len(list) && slices.Contains(shellNouns, list[end]) {
			end++
		}
		if end > i+1 && (end == len(list) || slices.Contains(smallWords, list[end])) {
			return true
		}
	}
	return false
}

// writes says whether a tool changes files, as far as its name tells.
func writes(list []string) bool {
	return len(list) > 0 && !slices.Contains(readVerbs, list[0]) && hasAny(list, writeVerbs)
}

// wipes says whether a tool destroys something large.
func wipes(list []string) bool {
	for i, verb := range list {
		if !slices.Contains(wipeVerbs, verb) || i+1 == len(list) {
			continue
		}
		noun := list[i+1]
		if slices.Contains(allWords, noun) || slices.Contains(wipeNouns, noun) && (i+2 == len(list) || slices.Contains(smallWords, list[i+2])) {
			return true
		}
	}
	return false
}
