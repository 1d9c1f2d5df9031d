package vault

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Programs and options that decide whether the meaning of a command depends on the folder in which
// it is started.
var (
	// interpreters run the file in their first operand, or code that may load files from that
	// folder.
	interpreters = strings.Fields("node nodejs tsx ts-node python pythonw pypy py ruby perl php lua luajit java bash dash zsh ksh fish ash pwsh powershell rscript julia elixir erl osascript wscript cscript groovy tclsh expect")
	// shells run the text after the option -c.
	shells = strings.Fields("sh bash dash zsh ksh fish ash")
	// projectTools run programs that the project in the folder specifies, even if the command has
	// the tool's whole path.
	projectTools = strings.Fields(`npm pnpm yarn bun deno uv poetry pipenv hatch pdm rye cargo go make gmake just task dotnet mvn gradle rake bundle composer mix docker-compose mise pixi nix
		invoke inv fab tox nox sbt mill lein stack cabal swift zig dub nimble ant bb clojure clj bazel pants air turbo nx vite nodemon rails
		uvicorn gunicorn hypercorn daphne flask fastapi streamlit celery mcp fastmcp devbox devenv direnv`)
	// rootless are programs that run no files of the folder. Their operands name things in a
	// container, on another machine or in a separate package, or are only texts.
	rootless = strings.Fields("docker podman nerdctl ssh kubectl uvx pipx clawai printenv printf echo export exit true false sleep")
	// packageRunners run a package by its name. If the folder has a package of that name, they run
	// that package.
	packageRunners = strings.Fields("npx bunx pnpx")
	// launchers start the command after their own options and variables.
	launchers = strings.Fields("env nice nohup timeout setsid stdbuf ionice time command exec cmd winpty")
	// folderOptions are options with which a project tool or env works in another folder.
	folderOptions = strings.Fields("-C --directory --cwd --chdir --dir --prefix")
)

// fileEndings are endings of file names. A word with such an ending counts as the name of a file,
// even if the file does not exist yet.
var fileEndings = sync.OnceValue(func() []string {
	return strings.Fields(".js .mjs .cjs .ts .mts .cts .tsx .jsx .py .pyw .rb .pl .php .lua .jar .class .sh .bash .zsh .fish .ps1 .bat .cmd .exe .wasm .so .dll .dylib .json .json5 .jsonc .toml .yaml .yml .ini .cfg .conf .env .xml .csproj .sln .db .sqlite")
})

// readsFolder reports whether a command may mean something else in another folder. This is so if
// the command names a file in the folder, or a program that reads files of the folder. An unknown
// program counts as such a program, unless one of the words is a whole path. dir is the folder in
// which the command is started; "" if the folder is not known. In doubt readsFolder returns true.
func readsFolder(words []string, dir string) bool {
	for len(words) > 0 && slices.Contains(launchers, programName(words[0])) {
		if namesFile(words[0], dir) {
			return true
		}
		rest, moved := launchedCommand(words)
		if moved {
			return false
		}
		words = rest
	}
	if len(words) == 0 || len(words) == 1 && strings.Contains(words[0], "://") {
		return false
	}
	name, rest := programName(words[0]), words[1:]
	if namesFile(words[0], dir) || strings.ContainsAny(words[0], `/\`) && !filepath.IsAbs(words[0]) {
		return true
	}
	switch {
	case slices.Contains(shells, name) && slices.Contains(rest, "-c"):
		return slices.ContainsFunc(rest, func(word string) bool { return textReadsFolder(word, dir) })
	case slices.Contains(interpreters, name):
		return !startsAbsolute(rest) || namesFiles(rest, dir)
	case slices.Contains(packageRunners, name), runsPackage(name, rest):
		return holdsPackage(dir, rest) || namesFiles(rest, dir)
	case slices.Contains(projectTools, name):
		folder, named := projectFolder(rest)
		return !named || !filepath.IsAbs(folder)
	case slices.Contains(rootless, name):
		return slices.Contains(rest, "compose") || slices.Contains(rest, "build") || namesFiles(rest, dir)
	}
	return namesFiles(rest, dir) || !slices.ContainsFunc(words, filepath.IsAbs) && !isServer(name)
}

// isServer reports whether the name of a program tells that it is a server. Such a program runs no
// project.
func isServer(name string) bool {
	return strings.Contains(name, "mcp-server") || strings.Contains(name, "server-mcp") || strings.HasSuffix(name, "-mcp")
}

// programName returns the name of a program without its folder, its version and its file name
// ending.
func programName(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, ending := range [...]string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return strings.TrimRight(name, "0123456789.")
}

// launchedCommand returns the command that a launcher starts. moved means that an option of the
// launcher names an absolute folder for the command. Then the folder of the launcher does not
// matter.
func launchedCommand(words []string) (rest []string, moved bool) {
	rest = words[1:]
	for len(rest) > 0 {
		word := rest[0]
		option, value, joined := strings.Cut(word, "=")
		switch {
		case slices.Contains(folderOptions, option):
			if !joined && len(rest) > 1 {
				value, rest = rest[1], rest[1:]
			}
			if filepath.IsAbs(value) {
				return nil, true
			}
		case strings.HasPrefix(word, "-") || strings.HasPrefix(word, "/") && len(word) == 2: // an option, such as /c of cmd
		case joined && !strings.ContainsAny(option, `/\`): // a variable
		case strings.Trim(word, "0123456789.smhd") == "": // a time, as in timeout 5s
		default:
			return rest, false
		}
		rest = rest[1:]
	}
	return nil, false
}

// textReadsFolder is like readsFolder, but for all commands in a shell text.
func textReadsFolder(text, dir string) bool {
	for command := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`", r) }) {
		words := strings.FieldsFunc(command, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`"'<>`, r) })
		if len(words) > 0 && words[0] != text && readsFolder(words, dir) || namesFiles(words, dir) {
			return true
		}
	}
	return false
}

// startsAbsolute reports whether the first operand of an interpreter is an absolute path. It
// returns false if an option (-c, -e, -m) gives the code instead.
func startsAbsolute(words []string) bool {
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			return filepath.IsAbs(word)
		}
		if word == "-m" || word == "-c" || word == "-e" || word == "-p" || strings.HasPrefix(word, "--eval") || strings.HasPrefix(word, "--print") {
			return false
		}
	}
	return false
}

// runsPackage reports whether a project tool runs a package by its name. words are the tool's
// arguments.
func runsPackage(name string, words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch name {
	case "npm", "pnpm", "yarn":
		return slices.Contains([]string{"exec", "x", "dlx"}, words[0])
	case "bun":
		return words[0] == "x"
	case "uv":
		return len(words) > 1 && words[0] == "tool" && words[1] == "run" // "uv tool run" ignores the project in the folder
	}
	return false
}

// projectFolder returns the folder in an option of a project tool. The result named is false if
// there is no such option. words are the tool's arguments.
func projectFolder(words []string) (folder string, named bool) {
	for i, word := range words {
		option, value, joined := strings.Cut(word, "=")
		switch {
		case slices.Contains(folderOptions, option) && joined:
			return value, true
		case slices.Contains(folderOptions, option) && i+1 < len(words):
			return words[i+1], true
		case !strings.HasPrefix(word, "-") && word != "run" && word != "exec":
			return "", false // all further words belong to the program that the tool runs
		}
	}
	return "", false
}

// holdsPackage reports whether the folder dir, or a folder above it, may hold a package with one of
// the words as name. It also returns true for a file that names the source of packages.
func holdsPackage(dir string, words []string) bool {
	if dir == "" {
		return false
	}
	for {
		project, readable := readProject(dir)
		if !readable {
			return true
		}
		for _, word := range words {
			name := word
			if at := strings.LastIndexByte(word, '@'); at > 0 {
				name = word[:at]
			}
			if name == "" || strings.HasPrefix(name, "-") || !filepath.IsLocal(name) {
				continue
			}
			if strings.Contains(project, `"`+name+`"`) || exists(dir, "node_modules", name) || exists(dir, "node_modules", ".bin", path.Base(name)) {
				return true
			}
		}
		above := filepath.Dir(dir)
		if home, _ := os.UserHomeDir(); above == dir || dir == home {
			return false
		}
		if exists(dir, ".npmrc") {
			return true
		}
		dir = above
	}
}

// maxProject is the maximum size of a package.json that is searched, in bytes.
const maxProject = 1 << 20

// readProject returns the package.json of a folder; "" if the folder has none. readable is false if
// the file cannot be searched, for example because it is a pipe, which could be read for ever.
func readProject(dir string) (text string, readable bool) {
	path := filepath.Join(dir, "package.json")
	info, err := os.Stat(path)
	if err != nil {
		return "", errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() || info.Size() > maxProject {
		return "", false
	}
	src, err := os.ReadFile(path) //nolint:gosec // the text is only searched for names
	return string(src), err == nil
}

func namesFiles(words []string, dir string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return namesFile(word, dir) })
}

// namesFile reports whether a word, or the value in an option, is a path relative to the folder
// dir. It judges by the form of the word, or by a file of that name in dir.
func namesFile(word, dir string) bool {
	if strings.Contains(word, "PWD}") || strings.Contains(word, "$PWD") || strings.Contains(word, "%CD%") {
		return true
	}
	parts := []string{word}
	if _, value, is := strings.Cut(word, "="); is {
		parts = append(parts, value)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		parts = append(parts, word[2:])
	}
	if last := parts[len(parts)-1]; !strings.Contains(word, "://") && !filepath.IsAbs(last) {
		parts = append(parts, strings.FieldsFunc(last, func(r rune) bool { return strings.ContainsRune("=,:", r) })...) // for example .:/work or source=.
	}
	return slices.ContainsFunc(parts, func(part string) bool {
		plain := strings.ReplaceAll(part, `\`, "/")
		switch {
		case part == "" || filepath.IsAbs(part) || strings.Contains(part, "://"):
			return false
		case part == "." || part == ".." || strings.HasPrefix(plain, "./") || strings.HasPrefix(plain, "../"):
			return true
		case part[0] != '-' && slices.Contains(fileEndings(), strings.ToLower(path.Ext(plain))):
			return true
		}
		return dir != "" && part[0] != '-' && exists(dir, part)
	})
}

func exists(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return err == nil
}

// realFolder returns the path of a folder without symlinks, so that two paths of one folder become
// equal.
func realFolder(dir string) string {
	if dir == "" {
		return ""
	}
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return filepath.Clean(dir)
}
