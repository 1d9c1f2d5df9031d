// Package policyfile says how a command reads a policy: for which home, and what an
// entry of extends leads to.
package policyfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/policy"
)

// Extension gives the text behind an entry of a policy's extends: a starter policy, or
// a file beside the one that names it, if its text is the one that was pinned.
func Extension(x policy.Extension) (name string, src []byte, err error) {
	if x.Profile != "" {
		src, err = fixtures.Policy(x.Profile)
		if err != nil {
			err = fmt.Errorf("there is no profile %q; see: clawai policy init --list", x.Profile)
		}
		return x.String(), src, err
	}
	path := x.File
	switch rest, home := strings.CutPrefix(path, "~/"); {
	case home:
		folders, err := config.Dirs()
		if err != nil || folders.Home == "" {
			return "", nil, fmt.Errorf("%s: your home folder is not known", x.File)
		}
		path = filepath.Join(folders.Home, rest)
	case !filepath.IsAbs(path):
		path = filepath.Join(filepath.Dir(x.Pos.File), path)
	}
	if src, err = config.ReadPinned(path); err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(src)
	if now := hex.EncodeToString(sum[:]); now != x.SHA256 {
		return "", nil, fmt.Errorf("%s is not the text that was pinned; read it, and if it is what you want write sha256 = %q", path, now)
	}
	return path, src, nil
}

// Options says where a policy is read for, as far as its home does.
func Options(home string) policy.Options { return policy.Options{Home: home, Extend: Extension} }

// CountRules says how many rules there are of each action.
func CountRules(p *policy.Policy) string {
	counts := map[policy.Action]int{}
	for _, r := range p.Rules() {
		counts[r.Action]++
	}
	total := len(p.Rules())
	if total == 0 {
		return "no rules: everything is refused"
	}
	noun := " rules"
	if total == 1 {
		noun = " rule"
	}
	return strconv.Itoa(total) + noun + fmt.Sprintf(" (%d allow, %d prompt, %d deny)",
		counts[policy.Allow], counts[policy.Prompt], counts[policy.Deny])
}
