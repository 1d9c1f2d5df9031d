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

// NewScheme returns a constraint that holds for URLs with one of the schemes; letter case does not
// matter. A name that is not a scheme (RFC 3986, section 3.1) and an empty list are errors.
func NewScheme(names []string) (where.Constraint, error) {
	if len(names) == 0 {
		return nil, errors.New("an empty list; name at least one scheme")
	}
	var c scheme
	for _, name := range names {
		if name == "" || schemeLen(name+":") != len(name) {
			return nil, fmt.Errorf("%q is not a scheme (write it as https, without ://)", name)
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

// NewPublic returns a constraint that holds for URLs whose host the whole internet can reach,
// judged by the text alone. If want is false, it holds for URLs whose host certainly is not public.
// If the host encodes an address in another form, the answer is Maybe in both cases.
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

// NewHosts returns a constraint that holds for URLs whose host matches one of the globs; letter
// case does not matter. A star matches any characters, also dots: *.example.com matches
// a.example.com and a.b.example.com, but not example.com. An IP address is compared in its
// canonical form, without brackets. A block of addresses, such as 10.0.0.0/8, matches the addresses
// in it. A text that cannot be a host (with a port, a path or a scheme) and an empty list are
// errors.
func NewHosts(globs []string) (where.Constraint, error) {
	if len(globs) == 0 {
		return nil, errors.New("an empty list; name at least one host")
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

// match compares a host with the pattern. It returns Maybe if one of them is in Unicode and the
// other in Punycode, because match does not convert them.
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
