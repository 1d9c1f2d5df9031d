package policy

import (
	"strings"
	"sync"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/disk"
)

// lazy is a policy that is compiled on first use.
type lazy struct {
	once   sync.Once
	policy *Policy
}

// forSystem returns the policy for calls to servers on a system. This policy and p share the rules
// as written.
func (p *Policy) forSystem(os string) *Policy {
	if os != Windows || p.options.windows {
		return p
	}
	p.windows.once.Do(func() {
		o := p.options
		if o.windows = true; !disk.OnWindows(o.Disk) {
			o.Disk = nil // the disk belongs to another system and has no Windows paths
		}
		w, _ := compileSources(p.sources, o) // no errors: compileSources has compiled the same globs before
		w.file, w.revision, w.limits, w.trusts, w.cages, w.level, w.screens = p.file, p.revision, p.limits, p.trusts, p.cages, p.level, p.screens
		p.windows.policy = w
	})
	return p.windows.policy
}

// OS returns the system of the policy's machine; "" if it is not known.
func (p *Policy) OS() string { return p.options.OS }

// IsOS reports whether a text can be Facts.OS: Windows, or the name of another system, about which
// the policy assumes nothing.
func IsOS(name string) bool { return name == Windows || name == "linux" || name == "darwin" }

// compilePattern compiles a glob of a rule for the system of the compiler.
func (c *compiler) compilePattern(text string, closes bool) (*pattern, error) {
	if !c.windows {
		return newPattern(text, c.home, closes)
	}
	form := reading.WindowsForm(text)
	p, err := newPattern(form, c.home, closes)
	if err != nil || !p.pathLike {
		return newPattern(text, c.home, closes) // the pattern is about texts
	}
	if closes && form[0] == '/' && !strings.HasPrefix(form, "//") {
		p.aliased = true
		p.asWritten.onAnyDrive()
		for i := range p.others {
			p.others[i].onAnyDrive()
		}
	}
	return p, nil
}

// onAnyDrive changes a glob of a deny or a prompt rule that begins at a root without a drive. The
// glob then also matches the same path on every drive.
func (f *guise) onAnyDrive() {
	g, _ := glob.Compile("?:" + f.glob.String()) // no error: the rest is a valid glob
	f.also = append(f.also, g)
}

// matchRecast compares a value with a pattern that is not about paths. The value may be a Windows
// path or a text. If the path and the text give different answers, the result is Maybe.
func (p *pattern) matchRecast(r reading.Reading, left *effort.Left) where.Match {
	r.Recast = false
	path, text := p.matchReading(&r, left), verdictOf(p.asWritten.matchText(r.Raw, left))
	if path != text {
		return where.Maybe
	}
	return path
}
