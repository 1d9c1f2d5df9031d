//go:build windows

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestWindows are the journeys of somebody who sits before Windows.
func TestWindows(t *testing.T) {
	p := scriptsIn("testdata/windows")
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		env.Setenv("TESTBINARY", self) // plays clawai under that name
		return setup(env)
	}
	testscript.Run(t, p)
}
