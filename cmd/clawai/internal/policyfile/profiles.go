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

// ExtendProfile returns the [[extends]] table of a starter policy, with the digest of the text in
// this clawai. With servers, the rules are about these servers. Without servers, the rules name
// their own servers.
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

// KeepProfiles writes files into the policy's folder: the starter policies that the policy pins. A
// later clawai has other texts, so it reads the pinned texts from these files. The parameter path
// is the policy file.
func KeepProfiles(path string, src []byte) error {
	for _, x := range policy.Extensions(path, src) {
		if !x.InPlace || x.Profile == "" || x.SHA256 == "" {
			continue
		}
		text, err := fixtures.ReadProfile(x.Profile)
		if err != nil || base.DigestOf(text) != x.SHA256 {
			continue // the policy pins an older text, which an earlier clawai has written to a file
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

// ListOlderProfiles returns the starter policies whose pinned text differs from the text in this
// clawai.
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
