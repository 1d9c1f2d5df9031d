package proxycmd

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// tellWaiting tells a person who has started the command by hand why nothing happens. The parameter
// how is a sentence that says how to put the command into a client.
func tellWaiting(w io.Writer, command, how string) {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		_, _ = fmt.Fprintf(w, "clawai %s waits for an MCP client on its standard input: clients start it. %s To end it: Ctrl-D\n", command, how)
	}
}

// launchers lists programs that run a server. An argument of such a program names the server.
var launchers = []string{"npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "docker", "podman"}

// guessName returns a name for the record if the server has no name: the program, or the package or
// script that a launcher runs. Rules never use this name.
func guessName(command []string, name string) string {
	if name != "" || len(command) == 0 {
		return ""
	}
	if u, err := url.Parse(command[0]); err == nil && u.Host != "" && isRemote(command) {
		return u.Hostname()
	}
	base := func(path string) string {
		return strings.TrimSuffix(filepath.Base(path), ".exe")
	}
	first := strings.TrimSuffix(base(command[0]), ".cmd")
	if !slices.Contains(launchers, first) {
		return first
	}
	for _, arg := range command[1:] {
		if strings.HasPrefix(arg, "-") || slices.Contains([]string{"run", "exec", "dlx", "tool"}, arg) {
			continue
		}
		// In @scope/package, the scope says who owns the package, so the name is not shortened.
		if strings.HasPrefix(arg, "@") {
			return arg
		}
		return base(arg)
	}
	return first
}

// parseSize parses a size in bytes, such as 1048576, 512KiB, 64MiB or 1GiB.
func parseSize(text string) (int, error) {
	number, unit := text, 1
	for suffix, factor := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = strings.TrimSpace(rest), factor
		}
	}
	const most = 1 << 30 // a small machine has no memory for a larger frame
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || n > most/unit {
		return 0, fmt.Errorf("%q is not a size up to 1GiB such as 64MiB", text)
	}
	return n * unit, nil
}
