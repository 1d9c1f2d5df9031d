package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

// speller writes paths that want to lead somewhere, in a spelling that does not show it.
type speller struct{ *rand.Rand }

func (g speller) of(all ...string) string { return all[g.IntN(len(all))] }

var targets = []string{`Users\Ana\.ssh\id_rsa`, `Users\Ana\.env`, `Users\Ana\projects\app\.env`, `Users\Ana\secrets\a.txt`, `Users\Ana\projects\a.txt`, `Windows\win.ini`, `Users\Ana\projects\app\src\main.go`, `Users\Ana\projects evil\x`, `Users\Bob\Ärger.txt`}

func (g speller) path() string {
	target := g.of(targets...)
	names := strings.Split(target, `\`)
	for i := range names {
		if g.IntN(4) == 0 {
			names[i] = g.name(names[i])
		}
	}
	path := names[0]
	for _, name := range names[1:] {
		path += g.of(`\`, `\`, `/`, `\\`, `\.\`, `/x/../`, `\x y\..\`, `\projects\..\`, `%5c`, `\ .\`, `\...\`) + name
	}
	return g.dressed(g.rooted(path))
}

func (g speller) rooted(path string) string {
	switch g.IntN(9) {
	case 0:
		return g.of(`\`, `/`, `\\`, `/c/`, `\\?\`, `..\..\..\..\`, `../../../../`, `C:..\..\..\..\`, `C:`, `D:\..\`) + path
	case 1:
		return g.of(`\\localhost\C$\`, `\\127.0.0.1\c$\`, `//ANA-PC/C$/`, `\\?\UNC\localhost\C$\`, `\\host\share\`, `\\.\UNC\LOCALHOST\c$\`, `\\ANA-PC\Users\..\`) + path
	case 2:
		return g.of(`\\?\C:\`, `//?/C:/`, `\\.\C:\`, `\??\C:\`, `\\?\GLOBALROOT\Device\HarddiskVolume1\`, `\\?\Volume{1}\`, `\\.\HarddiskVolume1\`, `\\?\c:/`, `\\.\GLOBAL\C:\`) + path
	case 3:
		return g.of(`~\..\..\`, `~/../../`, `~/projects/../../../`, `%USERPROFILE%\..\..\`, `%HOMEDRIVE%\`, `~\projects\app\..\..\..\..\`) + path
	case 4:
		return g.of(`file:///C:/`, `file:///c%3A/`, `file://C:/`, `file:C:/`, `file:\\\C:\`, `FILE:///C|/`, `file://localhost/C:/`, `file://localhost/C$/`, `file://ANA-PC/C$/`) + path
	}
	return g.of(`C:\`, `C:\`, `c:/`, `C:\`, `C:\Users\Ana\projects\..\..\..\`, `C:\Users\Ana\projects\app\src\..\..\..\..\..\`) + path
}

func (g speller) name(name string) string {
	switch g.IntN(9) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return name + g.of(".", " ", ". .", "..", "::$DATA", ":$I30:$INDEX_ALLOCATION", ":x", "::$INDEX_ALLOCATION", "%20", "%2e", "\t", "<")
	case 2:
		var b strings.Builder
		for i := range len(name) {
			fmt.Fprintf(&b, "%%%02x", name[i])
		}
		return b.String()
	case 3:
		return g.of("SSH~1", "ENV~1", "PROJEC~1", "projec~2", "SECRET~1", "NUL", "con.txt", "COM1", "aux:x")
	case 4:
		return strings.ReplaceAll(name, ".", g.of("%2e", "%252e", "．"))
	case 5:
		return name + g.of(`\..\`, `/../`, `\.\..\`, `%2f..%2f`, `\.. \..\`) + name
	case 6:
		return strings.ReplaceAll(name, "s", g.of("S", "ſ"))
	case 7:
		return g.of("projects", "src", "SECRETS", ".Ssh", "..", ".")
	}
	return strings.ToLower(name)
}

func (g speller) dressed(path string) string {
	switch g.IntN(12) {
	case 0:
		return g.of(" ", `"`, "'", "\t", "") + path + g.of(" ", `"`, "'", ".", `\`, "/", `\.`, " .", "::$DATA", ":x")
	case 1:
		return strings.ReplaceAll(path, `\`, "/")
	case 2:
		return strings.ReplaceAll(path, "/", `\`)
	case 3:
		return strings.ReplaceAll(path, `\`, g.of(`%5c`, `%255C`, `%2f`))
	}
	return path
}

// vow is a policy, and what a call that it allows must not come to.
type vow struct {
	rules string
	kept  func(place) bool
}

var (
	projects = []string{"C:", "USERS", "ANA", "PROJECTS"}
	vows     = []vow{
		{allowing(`"~/projects/**"`), func(p place) bool { return p.within(projects...) }},
		{allowing(`'C:\Users\Ana\projects\**'`), func(p place) bool { return p.within(projects...) }},
		{allowing(`"${cwd}/**"`), func(p place) bool { return p.within(append(projects, "APP")...) }},
		{allowing(`"file:///C:/Users/Ana/projects/**"`), func(p place) bool { return p.within(projects...) }},
		{allowing(`["~/projects/**", "~/secrets/*"]`), func(p place) bool {
			return p.within(projects...) || p.within("C:", "USERS", "ANA", "SECRETS")
		}},
		{denying(`["**/.ssh", "**/.ssh/**", "**/.env"]`), func(p place) bool {
			if slices.Contains(p, ".SSH") {
				return false
			}
			return p[len(p)-1] != ".ENV"
		}},
		{denying(`'~\secrets\**'`), func(p place) bool { return len(p) < 5 || !p.within("C:", "USERS", "ANA", "SECRETS") }},
		{denying(`["c:/users/ana/SECRETS/**", "/Windows/**"]`), func(p place) bool {
			return (len(p) < 5 || !p.within("C:", "USERS", "ANA", "SECRETS")) && (len(p) < 3 || !strings.HasSuffix(p[0], ":") || p[1] != "WINDOWS")
		}},
	}
)

// TestWindowsAgainstBruteForce: of many spellings none that is allowed leads, by any way
// that a program could take, to where the rules do not.
func TestWindowsAgainstBruteForce(t *testing.T) {
	slow.Test(t)
	spellings := slow.Rounds(20_000, 100_000)
	policies := make([]*policy.Policy, len(vows))
	for i, v := range vows {
		policies[i] = parseWindows(t, v.rules)
	}
	allowed := make([]int, len(vows))
	failures := 0
	for seed := range spellings {
		g := speller{rand.New(rand.NewPCG(uint64(seed), 16))}
		path := g.path()
		c := onWindows(path, `C:\Users\Ana\projects\app`)
		var places []place
		for i, p := range policies {
			if p.Decide(c).Action != policy.Allow {
				continue
			}
			allowed[i]++
			if places == nil {
				places = meanings(path)
			}
			for _, at := range places {
				if !vows[i].kept(at) && failures < 20 {
					failures++
					t.Errorf("%d: %s is allowed, and leads to %s\n%s", seed, path, strings.Join(at, `\`), vows[i].rules)
					break
				}
			}
		}
	}
	t.Logf("allowed of %d: %v", spellings, allowed)
	for i, k := range allowed {
		if k < spellings/4000 {
			t.Errorf("allowed %d of %d, which shows nothing:\n%s", k, spellings, vows[i].rules)
		}
	}
}
