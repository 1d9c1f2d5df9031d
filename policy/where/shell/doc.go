// Package shell is the constraint `command`: what a shell text would run.
//
// A text is read twice, by a parser of bash and by a small grammar of our own,
// the core (core.go), and every simple command in it is compared with the
// patterns: those of pipes, lists, subshells, loops and substitutions, and those
// that other commands are given to run (env, xargs, find -exec, sh -c, eval and
// their like). A rule that allows needs all of them to match, one that denies or
// asks any. Where the two readings differ, or the core does not know the text,
// every rule gets a Maybe.
//
// # Patterns
//
// A pattern is the words of one command, separated by blanks. Each word is a
// glob (policy/glob) and matches one word of the command, without the quotes it
// was written with; `ls *` matches ls "a b" and not ls a b. A last word `**`
// matches any further words, none included. Quotes keep a blank in a word; a
// character on which a shell acts must be quoted, or a `?` put in its place.
//
// # A rule that allows
//
// Yes means: whatever the variables and the disk hold, and whichever of bash,
// dash, BusyBox, mksh, zsh and ksh93 reads the text, every command matches; fish
// runs no other program, or refuses the text. So these are Maybe: assignments but
// of the variables in variable.go and of the rule, redirections but to /dev/null,
// another descriptor and the files of the rule, and whatever is not in the core. A word that is not known before the shell runs matches only where the
// pattern takes any text.
//
// A wildcard does not stand for everything. Options that make a program run
// another or write a file, subcommands of that kind, and the script or program
// that an interpreter or a launcher is given, must be in the pattern by name;
// what hides what it runs (python -c, sh from its input, vim, ssh) by the whole
// pattern, without a wildcard. The tables are in programs.go, opaque.go,
// wrapper.go and launcher.go. A program in none of them does what its name says
// with whatever words: that is for the pattern to say.
//
// # A rule that denies or asks
//
// It is generous: /bin/rm, RM, rm.exe and \rm are an rm, git -C /x push is a git
// push. What cannot be read (code of another language, a variable in the place
// of a command, a program that runs others) is Maybe. It is a tripwire and no
// fence: a script on disk, a copy of a program under another name, or an alias
// of git's passes it.
//
// # Limits
//
// Maybe is the answer to a text of more than 64 KiB or 8,000 words, with more
// than 1,000 things that nest or 8 commands within commands, to what does not
// parse, to control characters, to blanks outside ASCII, and to invalid UTF-8. Only
// strings are commands: of a list of words each element is a value of its own,
// which is not what this constraint is for. cmd.exe and PowerShell read texts by
// other rules; nothing here speaks of them.
package shell
