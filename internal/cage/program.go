package cage

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/cage/confine"
)

// scripts are the file name extensions of scripts. An argument with one of these extensions is a
// part of the server's program.
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".jar", ".pl", ".sh", ".php", ".lua", ".exs"}

// roots are files that mark the root folder of a package.
var roots = []string{"package.json", "pyproject.toml", "setup.py", "pyvenv.cfg", "Gemfile", "composer.json"}

// libraries are the system's folders of shared libraries.
var libraries = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64"}

// openInstalled lets the server read the folder in which it was installed.
func (p *planner) openInstalled() error {
	if p.Installed == "" {
		return nil
	}
	for _, open := range p.plan.Spec.Write {
		if contains(open, p.Installed) {
			return fmt.Errorf("write has %s, and %s in it is where the server was installed, among files of clawai that no server gets; name narrower folders", open, p.Installed)
		}
	}
	p.plan.Spec.Read = append(p.plan.Spec.Read, p.Installed)
	return nil
}

// openProgram lets the server read its own program: the started file, the interpreters of that
// file, and the package that contains it. A caged server may have written a link or the first line
// of a script. openProgram follows no such link and no such line.
func (p *planner) openProgram() error {
	program := p.Command[0]
	if !strings.Contains(program, "/") {
		found, err := exec.LookPath(program)
		if err != nil {
			return nil //nolint:nilerr // the start of the server will fail with the same error and report it
		}
		program = found
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(p.Dir, program)
	}
	p.plan.Spec.Program = program
	p.needs = resolveExisting(libraries)
	p.openFile(program, 0)
	for _, word := range p.Command[1:] {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Dir, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && slices.Contains(scripts, filepath.Ext(path)) {
			p.openFile(path, 0)
		}
	}
	return nil
}

// openFile lets the server read a program and its interpreters. depth is the number of interpreters
// before this one.
func (p *planner) openFile(path string, depth int) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || depth > 4 {
		return
	}
	p.needs = append(p.needs, real)
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		p.needs = append(p.needs, filepath.Join(folder, filepath.Base(path)))
	}
	link := findLink(path, p.made)
	switch {
	case link == "":
		p.openPackage(path)
		p.openPackage(real)
	case !p.isOpen(real):
		p.noteClosed(path, link)
		return
	}
	for _, runner := range readRunners(real) {
		if link == "" && !isBelow(real, p.made) {
			p.openFile(runner, depth+1)
		} else if runner, err := filepath.EvalSymlinks(runner); err == nil && !p.isOpen(runner) {
			p.noteClosed(runner, "what names it, "+real+",")
		}
	}
}

// readRunners returns the programs that run a script. The first line of the script names them.
func readRunners(script string) []string {
	words := readShebang(script)
	if len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) == "env" {
		for _, word := range words[1:] {
			if runner, err := exec.LookPath(word); err == nil && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
				return []string{words[0], runner}
			}
		}
	}
	return words[:1]
}

// openPackage lets the server read a file and the package that contains it.
func (p *planner) openPackage(file string) {
	p.open(file)
	folder := filepath.Dir(file)
	if outer, _, found := strings.Cut(file, "/node_modules/"); found {
		p.open(outer + "/node_modules")
	}
	if parent := filepath.Dir(folder); filepath.Base(folder) == "bin" {
		for _, name := range []string{"bin", "lib", "lib64", "libexec", "pyvenv.cfg"} {
			p.open(filepath.Join(parent, name))
		}
		return
	}
	if !slices.Contains(scripts, filepath.Ext(file)) {
		return
	}
	for at := folder; !contains(at, p.Home) && at != filepath.Dir(at); at = filepath.Dir(at) {
		if slices.ContainsFunc(roots, func(name string) bool { _, err := os.Lstat(filepath.Join(at, name)); return err == nil }) {
			p.open(at)
			return
		}
	}
	if !contains(folder, p.Home) {
		p.open(folder)
	}
}

// open lets the server read a path of its program.
func (p *planner) open(path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || p.isOpen(real) {
		return
	}
	if link := findLink(path, p.made); link != "" {
		p.noteClosed(path, link)
		return
	}
	p.plan.Spec.Read = append(p.plan.Spec.Read, real)
}

// isOpen reports whether the server may read a path.
func (p *planner) isOpen(real string) bool {
	return isBelow(real, slices.Concat(confine.System, p.plan.Spec.Read, p.plan.Spec.Write))
}

// noteClosed notes for the owner that the program at path stays closed. The parameter by is the
// file that leads to the program. The program stays closed because a server may have written that
// file.
func (p *planner) noteClosed(path, by string) {
	p.note("%s stays closed: %s is in a folder that a server with a sandbox may write; if the server needs it, name it in read", path, by)
}

// readShebang returns the words after #! in the first line of a script. It opens only a regular file:
// a server may have put a pipe there, and opening a pipe would wait for ever.
func readShebang(path string) []string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	text, found := strings.CutPrefix(line, "#!")
	if !found {
		return nil
	}
	return strings.Fields(text)
}
