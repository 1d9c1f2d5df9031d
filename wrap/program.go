package wrap

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

const goos = runtime.GOOS

// Program is the clawai program that wrap writes into clients' files.
type Program struct {
	Path string // absolute path that is still valid after an upgrade; "" if Err is set
	Err  error  // why this program must not be written into a file; otherwise nil
	Exe  string // path of this program from os.Executable
}

// StartCommand returns the command for a client's file that starts clawai. In a file that git
// tracks, the command has no path, because clawai has other paths on other machines.
func (p Program) StartCommand(file *ConfigFile) (string, error) {
	if !p.runsOnWindows() && file.readOnWindows() {
		return "", errors.New("a Windows program reads this file, and cannot start the clawai of this system; install clawai on Windows and run it there")
	}
	if file.Tracked {
		return "clawai", nil
	}
	if p.Err != nil {
		return "", p.Err
	}
	path := p.Path
	if strings.Contains(path, " ") && !file.Row.SpaceInCommandOK {
		if path = shortPath(path); strings.Contains(path, " ") {
			return "", fmt.Errorf("%s cannot start a command with a space in its path (%s); install clawai in a folder without one", file.Row.Name, path)
		}
	}
	return path, nil
}

// windowsFolder matches paths to files of Windows programs under WSL and similar systems.
var windowsFolder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)/AppData/(Roaming|Local)/|^/mnt/[a-z]/(Users/[^/]+/\.|Program Files)`)
})

// readOnWindows reports whether a Windows program reads the file. clawai under WSL finds such files
// too, but a path of WSL is not valid on Windows.
func (p *ConfigFile) readOnWindows() bool {
	return windowsFolder().MatchString(p.Path) || windowsFolder().MatchString(p.Real)
}

func (p Program) runsOnWindows() bool {
	return goos == "windows" || strings.HasSuffix(strings.ToLower(cmp.Or(p.Path, p.Exe)), ".exe")
}

// startsWindowsProgram reports whether a command can only be started on Windows.
func startsWindowsProgram(command string) bool {
	drive := len(command) > 2 && command[1] == ':' && strings.ContainsRune(`\/`, rune(command[2]))
	return drive || strings.EqualFold(command, "cmd") || strings.EqualFold(command, "cmd.exe")
}

// FindProgram returns a path of the running program that is still valid after an upgrade.
func FindProgram() Program {
	exe, err := os.Executable()
	if err != nil {
		return Program{Err: fmt.Errorf("the path of this program is not known: %w", err)}
	}
	temp := []string{os.TempDir()}
	if real, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		temp = append(temp, real)
	}
	p := search{exe: exe, arg0: os.Args[0], path: filepath.SplitList(os.Getenv("PATH")), temp: temp, same: sameFile}.findProgram()
	p.Exe = exe
	return p
}

// search holds what findProgram needs to know.
type search struct {
	exe  string                 // path from os.Executable; on Linux without symlinks
	arg0 string                 // first word of the command line
	path []string               // folders of PATH, in order
	temp []string               // folders for temporary files
	same func(a, b string) bool // reports whether two paths lead to the same file
}

// findProgram tries the path that the user typed, then the folders of PATH, and last the path in
// the field exe. This path comes last, because it may be in a folder that the next upgrade removes,
// while a link of a package manager stays.
func (s search) findProgram() Program {
	if s.isTemporary(s.exe) {
		return Program{Err: fmt.Errorf("this clawai is a temporary binary (%s): what go run builds, or what lies in the folder for temporary files, is removed later, and a client that was told to start it would find nothing. Install one that stays, and run that: go install ./cmd/... in a checkout, or go install github.com/clawai/clawai/cmd/...@latest", s.exe)}
	}
	for _, path := range s.candidatePaths() {
		if filepath.IsAbs(path) && isClawai(path) && !s.isTemporary(path) && !versioned().MatchString(filepath.ToSlash(path)) && s.same(path, s.exe) {
			return Program{Path: path}
		}
	}
	if !isClawai(s.exe) {
		return Program{Err: fmt.Errorf("this program is called %s; it must be called clawai to be recognised in a client's file", filepath.Base(s.exe))}
	}
	return Program{Err: fmt.Errorf("this program runs from %s, which the next upgrade takes away; put a link to it into a folder on PATH (ln -s %s ~/.local/bin/clawai) and run that", s.exe, s.exe)}
}

func (s search) candidatePaths() []string {
	var all []string
	if strings.ContainsAny(s.arg0, `/`+string(filepath.Separator)) {
		if abs, err := filepath.Abs(s.arg0); err == nil {
			all = append(all, abs)
		}
	}
	name := "clawai"
	if goos == "windows" {
		name += ".exe"
	}
	for _, dir := range s.path {
		all = append(all, filepath.Join(dir, name))
	}
	return append(all, s.exe)
}

func (s search) isTemporary(path string) bool {
	for _, dir := range s.temp {
		if isInside(path, dir) {
			return true
		}
	}
	return strings.Contains(filepath.ToSlash(path), "/go-build")
}

// versioned matches folders that a package manager creates for one version (Homebrew, Nix, Guix,
// asdf, mise, scoop, pnpm, npx, snap), and Go's module cache.
var versioned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)/(cellar|caskroom)/|^/(nix|gnu)/store/|/installs/[^/]+/|/scoop/apps/[^/]+/[0-9]|/node_modules/\.pnpm/|/_npx/|/pkg/mod/|^/snap/[^/]+/`)
})

func isClawai(path string) bool {
	base := filepath.Base(path)
	return base == "clawai" || strings.EqualFold(base, "clawai.exe")
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// isInside reports whether path is dir or below dir. Both must be clean paths.
func isInside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// checkStartable returns the reason why the command of a wrapper does not start this clawai; nil if
// it does.
func (p Program) checkStartable(command string) error {
	path, err := exec.LookPath(command)
	switch {
	case err != nil && filepath.IsAbs(command):
		return errors.New("there is no clawai at " + command + " any more")
	case err != nil:
		return errors.New("clawai is not on PATH")
	case !filepath.IsAbs(command) && filepath.Base(command) != command:
		return errors.New("the folder of its client decides which program " + command + " is")
	case !sameFile(path, cmp.Or(p.Path, p.Exe)):
		return errors.New("it starts another program: " + path)
	}
	return nil
}
