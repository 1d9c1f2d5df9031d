package policyfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// ExtendProfile returns the [[extends]] of a starter policy, pinned to the text that this clawai has,
// for some servers; without servers its rules name their own.
func ExtendProfile(name string, servers []string) (string, error) {
	src, err := fixtures.ReadProfile(name)
	if err != nil {
		return "", err
	}
	lines := []string{"[[extends]]", "profile = " + policytext.Quote(name)}
	if len(servers) > 0 {
		lines = append(lines, "server = "+policytext.OneOrList(policytext.QuoteAll(servers)))
	}
	lines = append(lines, "sha256 = "+policytext.Quote(base.DigestOf(src)))
	return strings.Join(lines, "\n") + "\n", nil
}

// KeepProfiles writes the pinned texts of this clawai's starter policies into files beside the policy at
// path, so that a later clawai, which has other texts, can still read them.
func KeepProfiles(path string, src []byte) error {
	for _, x := range policy.Extensions(path, src) {
		if !x.InPlace || x.Profile == "" || x.SHA256 == "" {
			continue
		}
		text, err := fixtures.ReadProfile(x.Profile)
		if err != nil || base.DigestOf(text) != x.SHA256 {
			continue // an older text, which was kept before
		}
		file := filepath.Join(filepath.Dir(path), base.KeptProfile(x.Profile, x.SHA256))
		if kept, err := os.ReadFile(file); err == nil && string(kept) == string(text) {
			continue
		}
		if err := config.PrivateFolder(filepath.Dir(file)); err != nil {
			return fmt.Errorf("cannot keep the profile %s: %w", x.Profile, err)
		}
		if err := atomicfile.Write(file, text, atomicfile.Options{Mode: 0o600}); err != nil {
			return fmt.Errorf("cannot keep the profile %s: %w", x.Profile, err)
		}
	}
	return nil
}

// ListOlderProfiles returns the starter policies that a policy pins to another text than this
// clawai has.
func ListOlderProfiles(path string, src []byte) (names []string) {
	for _, x := range policy.Extensions(path, src) {
		if !x.InPlace || x.Profile == "" || x.SHA256 == "" {
			continue
		}
		if text, err := fixtures.ReadProfile(x.Profile); err == nil && base.DigestOf(text) != x.SHA256 {
			names = append(names, x.Profile)
		}
	}
	return names
}
