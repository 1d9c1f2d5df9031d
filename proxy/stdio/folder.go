package stdio

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// elsewhere are programs whose servers see other folders than we do: in a container, on
// another machine, in a sandbox.
var elsewhere = strings.Fields("docker podman nerdctl container kubectl oc ssh wsl flatpak snap chroot bwrap firejail systemd-run sudo doas vagrant multipass lima limactl devcontainer")

// shells are programs that run a text, which may go to another folder first.
var shells = strings.Fields("sh bash dash zsh ksh fish cmd powershell pwsh")

// toFolder are options by which programs start in another folder, or start others there:
// uv, make, git, env, pnpm, npm, yarn, bun, poetry.
var toFolder = strings.Fields("-C --directory --cwd --chdir --prefix --dir --working-directory --workdir -w")

// MovesAway reports whether a command may well start its server in another folder than it
// is run in. A word that only looks so costs relative paths, and opens nothing.
func MovesAway(command []string) bool {
	for i, word := range command {
		name := programName(word)
		option, _, _ := strings.Cut(word, "=")
		switch {
		case slices.Contains(elsewhere, name), slices.Contains(toFolder, option):
			return true
		case slices.Contains(shells, name) && slices.ContainsFunc(command[i+1:], changesFolder):
			return true
		case strings.HasPrefix(word, "-C") && len(word) > 2:
			return true
		}
	}
	return false
}

// RunsElsewhere reports whether a command may start a server that sees another system than
// ours: in a container, on another machine, in the Linux of a Windows machine, whose
// bash.exe is found before others.
func RunsElsewhere(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool {
		name := programName(word)
		return name == "bash" || slices.Contains(elsewhere, name) || slices.ContainsFunc(textWords(word), func(w string) bool { return slices.Contains(elsewhere, programName(w)) })
	})
}

// changesFolder reports whether a shell text holds a word that goes to another folder, or
// a program that does.
func changesFolder(text string) bool {
	return slices.ContainsFunc(textWords(text), func(w string) bool {
		return slices.Contains([]string{"cd", "chdir", "pushd", "popd", "Set-Location", "sl"}, w) || slices.Contains(elsewhere, filepath.Base(w)) ||
			slices.Contains(toFolder, w)
	})
}

// NamesFolder reports whether a server is given another folder than the one it is started in
// as an argument: it may start relative paths there, as the filesystem server does.
func NamesFolder(command []string) bool {
	here, err := os.Getwd()
	for _, word := range command[min(1, len(command)):] {
		_, value, _ := strings.Cut(word, "=")
		for _, dir := range []string{word, value} {
			if dir == "~" || strings.HasPrefix(dir, "~/") { // which some servers take for the home
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

// programName gives what a program is called, without folder and extension.
func programName(word string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")
}

// textWords gives the words of a shell text.
func textWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}'\"", r) })
}
