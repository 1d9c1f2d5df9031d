// Package shell is the constraint `command`: it judges the commands that a shell text
// would run.
//
// A text is read twice: by a parser of bash, and by a small grammar of this package,
// the core (core.go). Every simple command in the text is compared with the patterns:
// the commands in pipes, lists, subshells, loops and substitutions, and the commands
// that other commands run (env, xargs, find -exec, sh -c, eval and similar). A rule
// that allows needs all of them to match; a rule that denies or asks needs one. When
// the two readings differ, or the core cannot read the text, every rule gets a Maybe.
//
// # Patterns
//
// A pattern is the words of one command, separated by blanks. Each word is a glob
// (policy/glob) and matches one word of the command, without its quotes; `ls *`
// matches ls "a b" and not ls a b. A last word `**` matches any further words, or
// none. Quotes keep a blank in a word. A character on which a shell acts must be
// quoted or replaced by a `?`.
//
// # A rule that allows
//
// Yes means that every command matches, whatever the variables and the disk hold, and
// whichever of bash, dash, BusyBox, mksh, zsh and ksh93 reads the text. fish runs no
// other program or refuses the text. So these are a Maybe: assignments, except of the
// variables in variable.go and of the rule; redirections, except to /dev/null, another
// descriptor and the files of the rule; and everything that is not in the core. A word
// that is unknown before the shell runs matches only where the pattern accepts any
// text.
//
// A wildcard does not match everything. The pattern must name options that make a
// program run another program or write a file, subcommands of that kind, and the
// script or program that an interpreter or a launcher gets. When a program hides what
// it runs (python -c, sh from its input, vim, ssh), the whole pattern must have no
// wildcard. The tables are in programs.go, opaque.go, wrapper.go and launcher.go. A
// program that is in no table is assumed to do what its name says with any words; the
// pattern must exclude what it must not do.
//
// # A rule that denies or asks
//
// Such a rule matches generously: /bin/rm, RM, rm.exe and \rm are an rm, and git -C /x
// push is a git push. Text that cannot be read (code of another language, a variable
// in the place of a command, a program that runs others) is a Maybe. The rule does not
// stop every bypass: a script on disk, a copy of a program under another name, or an
// alias of git passes it.
//
// # Limits
//
// The answer is Maybe for a text of more than 64 KiB or 8,000 words, with more than
// 1,000 nesting constructs or 8 levels of commands within commands, for a text that
// does not parse, and for control characters, blanks outside ASCII and invalid UTF-8.
// Only strings are commands: each element of a list of words is a value of its own,
// and this constraint is not meant for such lists. cmd.exe and PowerShell read texts
// by other rules, which are not covered here.
package shell
