package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/propose"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/hostlist"
	"github.com/clawai/clawai/policy/policytext"
)

// compareSandboxes compares each sandbox with the rules that name its server. It reports places that a
// rule allows and the sandbox closes. It also reports places that the sandbox opens and no rule asks
// for.
func compareSandboxes(l *linter) {
	for _, t := range l.policy.CageTables() {
		if t.Level <= policy.CageOff {
			continue
		}
		asked := propose.ListAsked(l.policy, t.Server)
		for i := range asked {
			l.findClosed(&t, &asked[i])
		}
		if len(asked) > 0 {
			l.findUnasked(&t, asked)
		}
	}
}

// findClosed reports the places and hosts that a rule allows and a sandbox does not open.
func (l *linter) findClosed(t *policy.CageTable, a *propose.Asked) {
	key, open := "read", slices.Concat(t.Read, t.Write)
	if a.Changes {
		key, open = "write", t.Write
	}
	tell := func(key, what, how string, partly bool) {
		f := check.Finding{Code: SandboxCloses, Message: fmt.Sprintf("the sandbox of %q does not open %s, which this rule lets it be asked %s", t.Server, what, how),
			Fix: "open it: clawai sandbox open " + policytext.DottedKey(t.Server) + " --" + key + " " + what}
		if partly {
			f.Severity, f.Message = check.Note, fmt.Sprintf("the sandbox of %q opens only a part of %s, which this rule lets it be asked %s", t.Server, what, how)
		}
		l.addFinding(a.Rule, policy.Position{}, f)
	}
	for _, place := range a.Places {
		if !isComparable(place, open) || slices.ContainsFunc(open, func(o string) bool { return propose.IsBelow(place, o) }) {
			continue
		}
		tell(key, place, "to "+key, slices.ContainsFunc(open, func(o string) bool { return propose.IsBelow(o, place) }))
	}
	list, err := hostlist.ParseList(slices.DeleteFunc(slices.Clone(t.Net), func(n string) bool { return n == policy.AnyHost }))
	if err != nil || slices.Contains(t.Net, policy.AnyHost) {
		return
	}
	for _, host := range a.Hosts {
		if e, err := hostlist.ParseEntry(host); err == nil && len(list.Narrow(hostlist.List{e})) == 0 {
			tell("net", host, "for", false)
		}
	}
}

// findUnasked reports the places that a sandbox opens and no rule asks for. A rule that names no place
// may ask for any place. findUnasked also reports a network that is open to every host, if rules name
// hosts.
func (l *linter) findUnasked(t *policy.CageTable, asked []propose.Asked) {
	tell := func(key, what string) {
		l.addFinding(&policy.Source{Rule: policy.Rule{Pos: t.Pos}, From: t.From}, policy.Position{}, check.Finding{Code: SandboxOpens,
			Message: fmt.Sprintf("%s opens %s, and no rule asks %q for it", key, what, t.Server), Fix: "take it out, if the server does not need it for itself"})
	}
	for _, list := range []struct {
		key    string
		places []string
		asked  func(*propose.Asked) bool
	}{
		{"read", t.Read, func(*propose.Asked) bool { return true }},
		{"write", t.Write, func(a *propose.Asked) bool { return a.Changes }},
	} {
		for _, place := range list.places {
			if !slices.ContainsFunc(asked, func(a propose.Asked) bool {
				return list.asked(&a) && (len(a.Places) == 0 || !isComparable(place, a.Places) ||
					slices.ContainsFunc(a.Places, func(p string) bool { return propose.IsBelow(p, place) || propose.IsBelow(place, p) }))
			}) {
				tell(list.key, place)
			}
		}
	}
	if slices.Contains(t.Net, policy.AnyHost) && slices.ContainsFunc(asked, func(a propose.Asked) bool { return len(a.Hosts) > 0 }) {
		tell("net", "every host")
	}
}

// isComparable reports whether a place and the places in the list others can be compared as texts. Two
// places cannot be compared if only one of them begins with ~ or ${cwd}, because the folders behind ~
// and ${cwd} are unknown here.
func isComparable(place string, others []string) bool {
	return !slices.ContainsFunc(others, func(o string) bool {
		return strings.HasPrefix(o, "$") != strings.HasPrefix(place, "$") || strings.HasPrefix(o, "~") != strings.HasPrefix(place, "~")
	})
}
