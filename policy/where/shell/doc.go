// Package shell is the constraint `command`: it judges the commands that a shell text would run.
//
// A text is read twice: by a parser of bash, and by a small grammar of this package, the core
// (core.go). Every simple command in the text is compared with the patterns: the commands in pipes,
// lists, subshells, loops and substitutions, and the commands that other commands run (env, xargs,
// find -exec, sh -c, eval and similar). For an allow rule all commands must match; for a deny or
// prompt rule one command is enough. If the two readings differ, or if the core cannot read the
// text, the answer is Maybe for every rule.
//
// # Patterns
//
// A pattern is the words of one command, separated by blanks. Each word is a glob (policy/glob) and
// matches one word of the command, without its quotes; `ls *` matches ls "a b" and not ls a b. If
// the last word is `**`, it matches any number of words, also none. Quotes keep a blank in a word.
// In a pattern, a character that is special to a shell must be quoted or replaced by a `?`.
//
// # A rule that allows
//
// Yes means that every command matches in bash, dash, BusyBox, mksh, zsh and ksh93, with any values
// of variables and any files on the disk. fish runs no programs other than these, or refuses the
// text. So the answer is Maybe for these: assignments, except of the variables in variable.go and
// of the rule; redirections, except to /dev/null, another descriptor and the files of the rule; and
// everything that is not in the core. A word that is unknown before the shell runs matches only
// where the pattern accepts any text.
//
// A wildcard does not match every word. The pattern must write out the options and subcommands that
// make a program run another program or write a file. It must also write out the script of an
// interpreter and the program of a launcher. If a program hides what it runs (python -c, sh from
// its input, vim, ssh), the pattern must not have a wildcard at all. The tables are in programs.go,
// opaque.go, wrapper.go and launcher.go. If a program is in no table, the pattern must contain at
// least a part of every word of the command.
//
// # A rule that denies or asks
//
// Such a rule matches more than the exact words: /bin/rm, RM, rm.exe and \rm match rm, and git -C
// /x push matches git push. The answer is Maybe for text that the package cannot read: code in
// another language, a variable instead of a command, a program that runs other programs. The rule
// does not stop every bypass: a script on disk, a copy of a program under another name, or an alias
// of git passes it.
//
// # Limits
//
// The answer is Maybe for these texts:
//   - a text of more than 64 KiB or 8,000 words;
//   - a text with more than 1,000 nesting constructs or 8 levels of commands within commands;
//   - a text that does not parse;
//   - a text with control characters, blanks outside ASCII or invalid UTF-8.
//
// Only strings are commands: each element of a list of words is a value of its own, and this
// constraint is not meant for such lists. cmd.exe and PowerShell read texts by other rules, which
// are not covered here.
package shell
