//go:build !linux && !darwin

package stdio

import (
	"errors"
	"os/exec"
	"runtime"

	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/policy"
)

// startCaged starts a server without a cage, if the policy accepts a weaker cage.
func startCaged(o Options) (*Child, error) {
	missing := "nothing is confined on " + runtime.GOOS
	if o.Cage.Level == policy.CageEnforce {
		return nil, &StartError{Code: CodeNotExecutable, Name: o.Args[0], Err: errors.New("its sandbox cannot be built: " + missing)}
	}
	c, err := startCommand(exec.Command(o.Args[0], o.Args[1:]...), o)
	if err == nil {
		c.report = &confine.Report{Weaker: []string{missing}}
	}
	return c, err
}
