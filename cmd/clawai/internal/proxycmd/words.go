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

// tellWaiting tells a person who starts a server by hand why nothing happens. how is a text about how to
// make a client start it.
func tellWaiting(w io.Writer, command, how string) {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		_, _ = fmt.Fprintf(w, "clawai %s waits for an MCP client on its standard input: clients start it. %s To end it: Ctrl-D\n", command, how)
	}
}

// launchers lists programs that run a server named by one of their arguments.
var launchers = []string{"npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "docker", "podman"}

// guessName returns the name of an unnamed server in the record: the program, or the package or
// script that its launcher runs. Rules never use this name.
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
		if strings.HasPrefix(arg, "@") { // @scope/package: the scope names the owner
			return arg
		}
		return base(arg)
	}
	return first
}

// parseSize reads 1048576, 512KiB, 64MiB or 1GiB.
func parseSize(text string) (int, error) {
	number, unit := text, 1
	for suffix, factor := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = strings.TrimSpace(rest), factor
		}
	}
	const most = 1 << 30 // a larger frame would not fit into a small machine's memory
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || n > most/unit {
		return 0, fmt.Errorf("%q is not a size up to 1GiB such as 64MiB", text)
	}
	return n * unit, nil
}
