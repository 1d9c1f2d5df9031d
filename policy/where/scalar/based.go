package scalar

import (
	"regexp"
	"strings"
	"sync"

	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// maxBase is the largest length, in bytes, of a folder for ${cwd}.
const maxBase = 256

// plainBase matches a folder whose text has no special meaning in shells and regular expressions.
var plainBase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:/[\w@+,.-]*[\w@+,-])+$`) })

// based is a regex constraint with ${cwd} in its expression.
type based struct {
	expr, home string
	*regex     // the expression with the longest possible folder; it has the highest cost

	known sync.Mutex
	base  string
	made  *regex // the expression with the folder base
}

func newBasedRegex(expr, home string) (where.Constraint, error) {
	c := &based{expr: expr, home: home}
	var err error
	if c.regex, err = newRegex(strings.ReplaceAll(expr, reading.BaseWord, "(?:"+strings.Repeat("x", maxBase)+"){2}")); err != nil {
		return nil, err
	}
	return c, nil
}

// Expression returns the regular expression as written.
func (c *based) Expression() string { return c.expr }

// JudgeValue implements where.Constraint. The answer is Maybe if the folder is not known, if the
// folder contains the home, or if a shell reads special characters in the folder's name.
func (c *based) JudgeValue(v where.Value, opens bool) where.Match {
	if !hasText(v) {
		return where.No
	}
	if len(v.Base) > maxBase || !plainBase().MatchString(v.Base) || strings.HasPrefix(c.home+"/", v.Base+"/") {
		return where.Maybe
	}
	return c.expressionFor(v.Base).JudgeValue(v, opens)
}

// expressionFor returns the expression with a folder in place of ${cwd}. It keeps the last result,
// because the folder seldom changes.
func (c *based) expressionFor(base string) *regex {
	c.known.Lock()
	defer c.known.Unlock()
	if c.base != base {
		folder := regexp.QuoteMeta(base)
		if below, is := strings.CutPrefix(base, c.home+"/"); is && c.home != "" {
			folder += "|~/" + regexp.QuoteMeta(below)
		}
		c.base, c.made = base, compileLate(strings.ReplaceAll(c.expr, reading.BaseWord, "(?:"+folder+")"))
	}
	return c.made
}

// NamesBase reports whether a constraint is a regex with ${cwd}.
func NamesBase(c where.Constraint) bool {
	_, is := c.(*based)
	return is
}
