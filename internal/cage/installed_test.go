//go:build linux

package cage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

// The folder of an installed server is open to it for reading, though it lies in clawai's own. What strangers
// have written into it opens nothing else, and no table opens what lies around it.
func TestInstalled(t *testing.T) {
	home := t.TempDir()
	state := filepath.Join(home, "state")
	folder := filepath.Join(state, "servers", "x", "new-1")
	secret := filepath.Join(home, "secret", "bin", "tool")
	for path, text := range map[string]string{
		filepath.Join(folder, "node_modules", "p", "index.js"):     "#!" + secret + "\n",
		filepath.Join(folder, "node_modules", "p", "package.json"): "{}",
		filepath.Join(state, "queue"):                              "",
		secret:                                                     "#!/bin/sh\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(folder, "link.js")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"node_modules/p/index.js", "link.js"} {
		for _, tc := range []struct {
			table policy.CageTable
			fails string
		}{
			{policy.CageTable{Level: policy.CageEnforce}, ""},
			{policy.CageTable{Level: policy.CageEnforce, Write: []string{state}}, "is where the server was installed"},
			{policy.CageTable{Level: policy.CageEnforce, Write: []string{folder}}, "is where the server was installed"},
		} {
			plan, err := NewPlan(Options{Tables: []policy.CageTable{tc.table}, Command: []string{"/bin/sh", filepath.Join(folder, script)}, Home: home, Own: []string{state}, Installed: folder})
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("%v: %v", tc.table, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(plan.Spec.Read, []string{folder}) || len(plan.Spec.Write) > 0 {
				t.Errorf("%s opens %q and %q", script, plan.Spec.Read, plan.Spec.Write)
			}
		}
	}
	// Where the state folder lies in a folder that is open, or in one of the system, it is hidden and the program's is back.
	t.Run("around", func(t *testing.T) {
		command := []string{"/bin/sh", filepath.Join(folder, "node_modules/p/index.js")}
		for _, table := range []policy.CageTable{{Level: policy.CageEnforce, Read: []string{"~"}}, {Level: policy.CageEnforce, Read: []string{"/"}}, {Level: policy.CageEnforce}} {
			if table.Read == nil {
				openSystem(t, home)
			}
			plan, err := NewPlan(Options{Tables: []policy.CageTable{table}, Command: command, Home: home, Own: []string{state}, Installed: folder})
			if err != nil || !slices.Contains(plan.Spec.Hide, state) || !slices.Equal(plan.Spec.Back, []string{folder}) {
				t.Errorf("%v: %+v, %v", table, plan, err)
			}
			table.Hide = []string{folder}
			if _, err := NewPlan(Options{Tables: []policy.CageTable{table}, Command: command, Home: home, Own: []string{state}, Installed: folder}); err == nil || !strings.Contains(err.Error(), "stays shut") {
				t.Errorf("%v: %v", table, err)
			}
		}
	})
	// Another server's cage does not open it.
	if _, err := NewPlan(Options{Tables: []policy.CageTable{{Level: policy.CageEnforce, Read: []string{folder}}}, Command: []string{"/bin/sh"}, Home: home, Own: []string{state}}); err == nil {
		t.Error("another server gets it")
	}
}
