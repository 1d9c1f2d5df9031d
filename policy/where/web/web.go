package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/authority"
)

// NewScheme holds for URLs with one of the schemes, whatever their case. A name
// that is no scheme (RFC 3986, section 3.1) and an empty list are errors.
func NewScheme(names []string) (where.Constraint, error) {
	if len(names) == 0 {
		return nil, errors.New("an empty list, which no scheme is in")
	}
	var c scheme
	for _, name := range names {
		if name == "" || schemeLen(name+":") != len(name) {
			return nil, fmt.Errorf("%q is no scheme (write it as https, without ://)", name)
		}
		c = append(c, strings.ToLower(name))
	}
	return c, nil
}

type scheme []string

func (c scheme) JudgeValue(v where.Value, _ bool) where.Match {
	u := parseURL(v)
	switch {
	case u.hostKind == none:
		return where.No
	case u.hostKind == doubtful, u.guessed:
		return where.Maybe
	}
	return where.MatchOf(slices.Contains(c, u.scheme))
}

func (c scheme) JudgeCost(n int) int { return parseCost(n) + 20*len(c) }

// NewPublic holds for URLs whose host the whole internet can reach, as far as its
// text shows; with false for those whose host certainly is not such a one. What
// encodes an address in another form is neither.
func NewPublic(want bool) where.Constraint { return public(want) }

type public bool

func (c public) JudgeValue(v where.Value, _ bool) where.Match {
	u := parseURL(v)
	var verdict where.Match
	switch u.hostKind {
	case none, hostless:
		return where.No
	case doubtful, foreign:
		return where.Maybe
	default:
		verdict = u.host.judgePublic()
	}
	if !c {
		verdict = where.Yes - verdict
	}
	return u.limitVerdict(verdict)
}

func (public) JudgeCost(n int) int { return parseCost(n) + 500 }

// NewHosts holds for URLs whose host one of the globs matches, whatever its case. A
// star is any run of characters, dots too: *.example.com matches a.example.com
// and a.b.example.com, and not example.com. An IP address is compared in its
// canonical form, without brackets. A block of addresses, such as 10.0.0.0/8, may
// stand for those in it. What cannot be a host (a port, a path, a scheme with it) and
// an empty list are errors.
func NewHosts(globs []string) (where.Constraint, error) {
	if len(globs) == 0 {
		return nil, errors.New("an empty list, which no host is in")
	}
	c := make(hosts, len(globs))
	for i, text := range globs {
		block, found, err := parseNetwork(text)
		if err != nil {
			return nil, err
		}
		if found {
			c[i] = block
			continue
		}
		name, err := hostPattern(text)
		if err != nil {
			return nil, err
		}
		compiled, err := glob.Compile(name)
		if err != nil {
			return nil, err
		}
		c[i] = pattern{compiled, textclass.IsASCII(name), strings.Contains(name, "xn--")}
	}
	return c, nil
}

type hosts []interface{ match(h host) where.Match }

type pattern struct {
	glob            *glob.Pattern
	ascii, punycode bool
}

func (c hosts) JudgeValue(v where.Value, _ bool) where.Match {
	u := parseURL(v)
	switch u.hostKind {
	case none, hostless:
		return where.No
	case doubtful, foreign:
		return where.Maybe
	}
	best := where.No
	for _, p := range c {
		best = max(best, p.match(u.host))
	}
	return u.limitVerdict(best)
}

// match compares a host. That a name is written in Unicode on one side and in
// Punycode on the other is not resolved here: a maybe.
func (p pattern) match(h host) where.Match {
	switch {
	case p.glob.Match(h.Name):
		return where.Yes
	case h.embedded.IsValid() && p.glob.Match(h.embedded.String()),
		!p.ascii && strings.Contains(h.Name, "xn--"),
		p.punycode && !textclass.IsASCII(h.Name):
		return where.Maybe
	}
	return where.No
}

func (c hosts) JudgeCost(n int) int {
	return parseCost(n) + len(c)*(100+authority.MaxName*50)
}
