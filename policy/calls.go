package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/where"
)

// A hook process reads the whole policy to judge one call, and most rules are about other
// tools. With Options.Calls all rules are still read and checked, so that a policy loads whole
// or not at all, but only the rules that can match the calls are compiled.

// otherCall is the reason for a denial by a policy that was read for other calls.
const otherCall = "the policy was read for another call"

// includesCall reports whether the policy was read for this call.
func (o *Options) includesCall(c *Call) bool {
	return o.Calls == nil || slices.ContainsFunc(o.Calls, func(r Call) bool {
		return r.Subject == c.Subject && r.Server == c.Server && r.Method == c.Method && r.OS == c.OS && r.Spelling == c.Spelling && slices.Equal(r.Names, c.Names)
	})
}

// mayMatchCalls reports whether the subject and the servers of the rule fit at least one of the
// calls. In doubt it returns true.
func (r *ruleSource) mayMatchCalls(calls []Call) bool {
	for i := range calls {
		if r.mayMatchCall(&calls[i]) {
			return true
		}
	}
	return false
}

func (r *ruleSource) mayMatchCall(c *Call) bool {
	return r.coversSubject(c.Subject) && r.mayServe(c) && (c.Subject == ResourceSubject || r.subject == NoSubject || slices.ContainsFunc(r.patterns, func(text string) bool { return namesOne(text, c) }))
}

// mayServe reports whether the rule may match the call's server.
func (r *ruleSource) mayServe(c *Call) bool {
	for i := range r.calls {
		if s := &r.calls[i]; s.Key == ruleKeys[serverKey] && s.test.matchCall(c) == where.No {
			return false
		}
	}
	return true
}

// namesOne reports whether the glob may match a name of the call, or the class of the tool that the
// call names.
func namesOne(text string, c *Call) bool {
	matches, err := func(name string) bool { return name == text }, error(nil)
	if strings.ContainsAny(text, "*?") {
		var g *glob.Pattern
		g, err = glob.Compile(text)
		matches = g.Match
	}
	return err != nil || slices.ContainsFunc(c.Names, func(name string) bool {
		class := builtinOf(c, name).Class
		_, other := respellName(text, name, c.Spelling)
		return other || matches(name) || class != "" && matches(class)
	})
}

// argGlobs returns the globs of the rule's conditions on arguments and on the URI of a resource.
func (r *ruleSource) argGlobs() []argSource {
	all := slices.Concat(r.args, r.not.args)
	if r.subject == ResourceSubject {
		all = append(all, argSource{globs: slices.Concat(r.patterns, r.not.patterns), pos: r.Pos})
	}
	return all
}
