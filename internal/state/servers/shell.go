package servers

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parseContainer parses the arguments of docker and similar programs. It accepts only the command
// run, and returns the image.
func parseContainer(words []string, _ int) (identity, bool) {
	if len(words) > 0 && words[0] == "container" {
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "run" {
		return identity{}, false
	}
	f, ok := options{
		flags: "-i -t -d --rm --init --interactive --tty --privileged --read-only -P --publish-all --no-healthcheck -q --quiet --detach --rm=true --interactive=true",
		values: `-e --env --env-file -v --volume --mount --name --network --net -p --publish -w --workdir -u --user --platform --pull
			--add-host -l --label -m --memory --cpus --cap-add --cap-drop --security-opt --tmpfs --restart --hostname -h --dns --gpus
			--log-driver --log-opt --shm-size --ulimit --device --group-add --userns --pid --ipc --annotation --volumes-from --expose --cidfile`,
	}.parseOptions(words[1:])
	if !ok || len(f.rest) == 0 {
		return identity{}, false
	}
	return containerImage(f.rest[0])
}

// parseShell parses the text after the option -c of a shell, also in the forms -lc and -l -c.
func parseShell(words []string, depth int) (identity, bool) {
	for i, word := range words {
		if !strings.HasPrefix(word, "-") {
			break
		}
		if !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") && i+1 < len(words) {
			return shellLine(words[i+1], depth)
		}
	}
	return identity{}, false
}

func parseCmd(words []string, depth int) (identity, bool) {
	for len(words) > 0 && strings.HasPrefix(words[0], "/") {
		last := strings.EqualFold(words[0], "/c")
		words = words[1:]
		if last {
			return parseCmdLine(words, depth)
		}
	}
	return identity{}, false
}

// parseCmdLine rejects a line that cmd.exe would read as more than one command.
func parseCmdLine(words []string, depth int) (identity, bool) {
	if strings.ContainsAny(strings.Join(words, " "), "&|<>^%") {
		return identity{}, false
	}
	return parseCommand(words, depth)
}

func parsePowershell(words []string, depth int) (identity, bool) {
	for i, word := range words {
		switch strings.ToLower(word) {
		case "-noprofile", "-noninteractive", "-nologo":
		case "-command", "-c":
			return shellLine(strings.Join(words[i+1:], " "), depth)
		default:
			return identity{}, false
		}
	}
	return identity{}, false
}

// shellLine returns the program or server that a shell line finally starts, which is its last
// command. All commands before it must only prepare the start (cd, export, source).
func shellLine(text string, depth int) (identity, bool) {
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return identity{}, false
	}
	var commands [][]string
	for _, stmt := range parsed.Stmts {
		if !listCommands(stmt, &commands) {
			return identity{}, false
		}
	}
	for i, words := range commands {
		if i == len(commands)-1 {
			return parseCommand(words, depth)
		}
		switch words[0] {
		case "cd", "export", "source", ".", "nvm", "set":
		default:
			return identity{}, false
		}
	}
	return identity{}, false
}

// listCommands adds the commands of a statement to the given list, in the order in which they run.
// It returns false if the statement contains more than simple commands joined by &&.
func listCommands(stmt *syntax.Stmt, all *[][]string) bool {
	if stmt.Negated || stmt.Background || stmt.Coprocess || !redirectsErrorOnly(stmt.Redirs) {
		return false
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && listCommands(c.X, all) && listCommands(c.Y, all)
	case *syntax.DeclClause:
		*all = append(*all, []string{"export"})
		return c.Variant.Value == "export"
	case *syntax.CallExpr:
		words := make([]string, len(c.Args))
		for i, word := range c.Args {
			words[i] = literalWord(word)
		}
		*all = append(*all, words)
		return len(words) > 0
	}
	return false
}

// redirectsErrorOnly reports whether all redirections redirect the standard error.
func redirectsErrorOnly(redirections []*syntax.Redirect) bool {
	for _, r := range redirections {
		if r.N == nil || r.N.Value != "2" {
			return false
		}
	}
	return true
}

// literalWord returns a word in its written form, with a $ for each part that the shell would
// replace. No name contains a $.
func literalWord(word *syntax.Word) string {
	var b strings.Builder
	var parts func([]syntax.WordPart)
	parts = func(all []syntax.WordPart) {
		for _, part := range all {
			switch p := part.(type) {
			case *syntax.Lit:
				b.WriteString(p.Value)
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				parts(p.Parts)
			default:
				b.WriteByte('$')
			}
		}
	}
	parts(word.Parts)
	return b.String()
}
