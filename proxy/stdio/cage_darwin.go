package stdio

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/internal/cage/seatbelt"
	"github.com/clawai/clawai/policy"
)

// untried is the text in the report about the profile. It states that the profile was never tested.
const untried = "macOS: by a Seatbelt profile that was never run by its makers"

// startCaged starts a server under sandbox-exec, if the policy accepts a cage that was never
// tested.
func startCaged(o Options) (*Child, error) {
	fault := func(err error) error { return &StartError{Code: CodeNotExecutable, Name: o.Args[0], Err: err} }
	if o.Cage.Level == policy.CageEnforce {
		return nil, fault(errors.New(`its sandbox cannot be built: on macOS none was ever tried; level = "try" uses it all the same`))
	}
	if found := exec.Command(o.Args[0]); found.Err != nil {
		return nil, startError(o.Args[0], found.Err)
	}
	temp, err := os.MkdirTemp("", "clawai-")
	if err != nil {
		return nil, fault(err)
	}
	gone := removal(temp)
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		_ = gone.Close()
		return nil, fault(err)
	}
	profile, err := seatbelt.Profile(&o.Cage.Spec, temp)
	if err != nil {
		_ = gone.Close()
		return nil, fault(err)
	}
	o.Env = narrowEnv(o.Env, o.Cage.Spec.Env, temp)
	c, err := startCommand(exec.Command("/usr/bin/sandbox-exec", append([]string{"-p", profile, o.Cage.Spec.Program}, o.Args[1:]...)...), o)
	if err != nil {
		_ = gone.Close()
		return nil, err
	}
	c.hosts, c.report = gone, &confine.Report{Weaker: []string{untried}}
	if o.Cage.Spec.Hosts {
		c.report.Weaker = append(c.report.Weaker, "no host of its list is reached on macOS")
	}
	return c, nil
}

// removal is a folder that Close removes.
type removal string

func (r removal) Close() error { return os.RemoveAll(string(r)) }

// narrowEnv returns the environment variables for the server: those in names, and TMPDIR.
func narrowEnv(env, names []string, temp string) []string {
	if env == nil {
		env = os.Environ()
	}
	kept := []string{"TMPDIR=" + temp}
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); name != "TMPDIR" && slices.Contains(names, name) {
			kept = append(kept, v)
		}
	}
	return kept
}
