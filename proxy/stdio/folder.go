package stdio

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// otherSystems are programs that start servers with other folders than this process has: in a
// container, on another machine, in a sandbox.
var otherSystems = strings.Fields("docker podman nerdctl container kubectl oc ssh wsl flatpak snap chroot bwrap firejail systemd-run sudo doas vagrant multipass lima limactl devcontainer")

// shells are programs that run a text of commands. The text may change the folder first.
var shells = strings.Fields("sh bash dash zsh ksh fish cmd powershell pwsh")

// folderOptions are options with which uv, make, git, env, pnpm, npm, yarn, bun and poetry start in
// another folder, or start a program there.
var folderOptions = strings.Fields("-C --directory --cwd --chdir --prefix --dir --working-directory --workdir -w")

// MovesAway reports whether a command may start its server in another folder than that of this
// process. If the result is wrongly true, rules cannot use relative paths, but no additional call
// is allowed.
func MovesAway(command []string) bool {
	for i, word := range command {
		name := programName(word)
		option, _, _ := strings.Cut(word, "=")
		switch {
		case slices.Contains(otherSystems, name), slices.Contains(folderOptions, option):
			return true
		case slices.Contains(shells, name) && slices.ContainsFunc(command[i+1:], changesFolder):
			return true
		case strings.HasPrefix(word, "-C") && len(word) > 2:
			return true
		}
	}
	return false
}

// RunsElsewhere reports whether a command may start a server on another system: in a container, on
// another machine, or in WSL. WSL is the Linux of a Windows machine, and its bash.exe is the first
// that Windows finds.
func RunsElsewhere(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool {
		name := programName(word)
		return name == "bash" || slices.Contains(otherSystems, name) || slices.ContainsFunc(textWords(word), func(w string) bool { return slices.Contains(otherSystems, programName(w)) })
	})
}

// changesFolder reports whether a text of shell commands changes the folder or runs a program of
// otherSystems.
func changesFolder(text string) bool {
	return slices.ContainsFunc(textWords(text), func(w string) bool {
		return slices.Contains([]string{"cd", "chdir", "pushd", "popd", "Set-Location", "sl"}, w) || slices.Contains(otherSystems, filepath.Base(w)) ||
			slices.Contains(folderOptions, w)
	})
}

// NamesFolder reports whether an argument of a server is another folder than the current one. The
// server may resolve relative paths from that folder, as the filesystem server does.
func NamesFolder(command []string) bool {
	here, err := os.Getwd()
	for _, word := range command[min(1, len(command)):] {
		_, value, _ := strings.Cut(word, "=")
		for _, dir := range []string{word, value} {
			if dir == "~" || strings.HasPrefix(dir, "~/") { // some servers read ~ as the home folder
				return true
			}
			info, missing := os.Stat(dir)
			if dir == "" || missing != nil || !info.IsDir() {
				continue
			}
			if absolute, failed := filepath.Abs(dir); err != nil || failed != nil || absolute != here {
				return true
			}
		}
	}
	return false
}

// programName returns the name of a program without its folder and without .exe.
func programName(word string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")
}

// textWords returns the words in a text of shell commands.
func textWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}'\"", r) })
}
