package doctorcmd

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/leaks"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
)

// printTables writes a proposed table for each known server that has no table in the policy. It
// skips a name that several different servers have, because a table sees only the name.
func printTables(w io.Writer, p *machine) error {
	if p.foldersErr != nil {
		return p.foldersErr
	}
	var trusts []policy.TrustTable
	loaded, err := config.LoadPolicyFor(p.folders.PolicyFile(), policyfile.PolicyOptions(p.folders.Home))
	switch {
	case err == nil:
		trusts = loaded.Policy.TrustTables()
	case !errors.Is(err, fs.ErrNotExist): // without a policy there are no tables yet
		return err
	}
	f, err := wrapcmd.FindServers()
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, all := range f.ByClient() {
		for _, s := range all {
			if slices.ContainsFunc(trusts, func(t policy.TrustTable) bool { return t.Server == s.Name }) {
				continue
			}
			text := leaks.RenderTables(s.Name, s.Known)
			if before, seen := texts[s.Name]; seen && before != text {
				text = ""
			}
			texts[s.Name] = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if _, err := io.WriteString(w, texts[name]); err != nil {
			return err
		}
	}
	return nil
}
