package cage

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/internal/cage/confine"
)

// HelperArgument is the first argument that makes clawai itself work as clawai-sandbox, if that
// program is not installed.
const HelperArgument = "sandbox-helper"

// HelperCommand returns the command that builds cages. The command is the program clawai-sandbox in
// the folder of this program. Without that program, it is this program with HelperArgument.
func HelperCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	beside := filepath.Join(filepath.Dir(self), "clawai-sandbox")
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
		return []string{beside}, nil
	}
	return []string{self, HelperArgument}, nil
}

// SelfFiles returns the paths of clawai's own programs, which a server must not replace. The
// programs lie beside this program, and beside the link that was used to start this program.
func SelfFiles() (all []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	paths := []string{self}
	if link, err := exec.LookPath(os.Args[0]); err == nil {
		paths = append(paths, link)
	}
	for _, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		for _, name := range []string{filepath.Base(path), "clawai", "clawai-hook", "clawai-sandbox"} {
			all = append(all, filepath.Join(folder, name))
		}
	}
	return all, nil
}

// Describe returns one line about a server's cage: the level, and the restrictions in force.
func Describe(p *Plan, r *confine.Report) string {
	name := "sandbox " + p.Level.String()
	if p.Client {
		name += " (with its client's own)"
	}
	text := name + ": " + strings.Join(r.Holds, "; ")
	if len(r.Holds) == 0 {
		text = name + ": none"
	}
	if len(p.Unshut) > 0 {
		text += "; NOT SHUT, as not there at the start: " + strings.Join(p.Unshut, ", ")
	}
	if len(r.Weaker) > 0 {
		text += "; WEAKER: " + strings.Join(r.Weaker, "; ")
	}
	return text
}
