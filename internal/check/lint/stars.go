package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findShortStars finds globs that do not match texts with one more slash, probably by mistake.
func findShortStars(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		conditions := r.Args
		if isText(r) || r.Subject == policy.ResourceSubject {
			conditions = []policy.ArgSource{{Globs: r.Names}}
		}
		if l.reach[i].Witness == nil {
			return
		}
		for _, a := range conditions {
			for _, g := range a.Globs {
				stops := findStops(g, namesPlaces(r, a))
				if r.Action != policy.Deny && l.starOpens(i, r, a, g, stops) || isAllow(r) {
					continue
				}
				l.starDenies(i, r, a, g, stops)
			}
		}
	})
}

// isText reports whether the rule's glob on the subject is about prose.
func isText(r *policy.Source) bool {
	return r.Subject == policy.SamplingSubject || r.Subject == policy.ElicitationSubject
}

// namesPlaces reports whether a condition is about paths.
func namesPlaces(r *policy.Source, a policy.ArgSource) bool {
	if len(a.Path) == 0 {
		return r.Subject == policy.ResourceSubject
	}
	f := nameFamily(a.Path[len(a.Path)-1])
	return f != nil && f[0] == families[0][0]
}

// stop is a place in a glob. If a text that matches gets one more slash at this place, it no longer
// matches.
type stop struct {
	near    string // a text that the glob matches
	deep    string // the same text with one more slash; the glob does not match it
	tail    string // a folder's path with this ending does not match the glob; "" if the beginning of the glob is fixed
	wide    string // the glob that was probably intended
	literal bool   // true if the glob is a relative path: it matches no file in another folder
	within  bool   // the star is between a folder and the end of a file name, as in src/*.go
}

// findStops returns the places in a glob where a text with one more slash no longer matches. places is
// true if the glob is about paths. Then the intended files may be in any folder.
func findStops(g string, places bool) (stops []stop) {
	for k := 0; k < len(g); k++ {
		if g[k] != '*' {
			continue
		}
		if run := len(g[k:]) - len(strings.TrimLeft(g[k:], "*")); run > 1 {
			k += run - 1
			continue
		}
		before, after := g[:k], g[k+1:]
		if (places || pathGlob(g)) && before != "" && !strings.HasSuffix(before, "/") {
			continue // a star inside a file name, as in id_rsa*, needs no slash
		}
		s := stop{near: fillWildcards(before) + "x" + fillWildcards(after), deep: fillWildcards(before) + "x/x" + fillWildcards(after), wide: before + "**" + after,
			within: places && before != "" && after != "" && after[0] != '/'}
		if !places && !pathGlob(g) {
			s.wide = deepenStars(g)
		}
		if before == "" {
			s.tail = "/x" + fillWildcards(after)
			if places && after != "" {
				s.wide = "**/*" + after
			}
		}
		stops = append(stops, s)
	}
	if places && !pathGlob(g) && !strings.HasPrefix(g, "*") && !strings.HasPrefix(g, ".") || dotFile(g) && places {
		if !strings.Contains(g, ":") && !strings.Contains(g, `\`) {
			stops = append(stops, stop{near: fillWildcards(g), deep: "x/" + fillWildcards(g), tail: "/" + fillWildcards(g), wide: "**/" + g, literal: true})
		}
	}
	return stops
}

// deepenStars returns the glob with ** instead of every *.
func deepenStars(g string) string {
	parts := strings.Split(g, "**")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "*", "**")
	}
	return strings.Join(parts, "**")
}

// dotFile reports whether a glob begins with the name of a hidden file.
func dotFile(g string) bool {
	return len(g) > 1 && g[0] == '.' && g[1] != '.' && g[1] != '/' && g[1] != '*'
}

// starDenies looks for an allowed call that rule i would refuse if a value had one slash less. It adds
// a finding with the first such call.
func (l *linter) starDenies(i int, r *policy.Source, a policy.ArgSource, g string, stops []stop) {
	bases := append([]opening{{i, *l.reach[i].Witness}}, l.findOpenings(i)...)
	for _, s := range stops {
		for _, base := range bases {
			near := withAddress(&base.call, a.Path, s.near)
			if near == nil || base.rule != i && !l.takesArgument(r, &base, a) {
				continue
			}
			if d := l.policy.Decide(near); d.Rule == nil || d.Rule.Index != i {
				continue
			}
			for _, text := range s.unmatchedTexts(folderIn(&base.call, a.Path)) {
				deep := withAddress(&base.call, a.Path, text)
				if l.policy.Decide(deep).Action != policy.Allow {
					continue
				}
				f := check.Finding{Code: StarStops, Message: fmt.Sprintf("%q %s", g, s.stopMessage(g)), Fix: fmt.Sprintf("write %q to include everything below", s.wide)}
				if !strings.HasSuffix(g, "/*") {
					f.Fix = fmt.Sprintf("write %q", s.wide)
					f.Why = "* stops at a slash, so the rule does not match a text that has one."
				}
				if s.literal {
					f.Why = "A glob matches from the first character to the last."
				}
				if s.within || !namesPlaces(r, a) && !pathGlob(g) && !isText(r) && !strings.Contains(g, " ") && (len(a.Path) == 0 || nameFamily(a.Path[len(a.Path)-1]) == nil) {
					f.Severity = check.Note // the glob may be intended, because a value that is no path seldom has slashes
				}
				l.addWitness(&f, deep)
				l.addFinding(r, a.Pos, f)
				return
			}
		}
	}
}

// takesArgument reports whether an allowed call probably can have the argument a of rule r. The answer
// is yes if r names its tools without wildcards. It is also yes if the allow has no conditions, or has
// a condition on an argument with the same meaning. It is also yes if recorded calls of the tool have
// the argument.
func (l *linter) takesArgument(r *policy.Source, base *opening, a policy.ArgSource) bool {
	conditions := conditionsOf(&l.sources[base.rule])
	return len(a.Path) == 0 || !strings.ContainsAny(strings.Join(r.Names, ""), "*?") || len(conditions) == 0 || slices.Contains(l.options.Arguments[base.call.Names[0]], a.Path[0]) ||
		slices.ContainsFunc(conditions, func(c condition) bool {
			return slices.Equal(c.path, a.Path) || areAkin(c.argumentName(), a.Path[len(a.Path)-1])
		})
}

// unmatchedTexts returns texts that the glob does not match. One of them is in folder if possible.
func (s *stop) unmatchedTexts(folder string) []string {
	out := []string{s.deep}
	if s.tail != "" && folder != "" {
		out = append(out, folder+s.tail)
	}
	return out
}

// stopMessage returns the problem of the glob as a phrase.
func (s *stop) stopMessage(g string) string {
	switch {
	case s.literal:
		return "is a relative path, and the same name in a folder is allowed"
	case strings.HasSuffix(g, "/*"):
		return "does not cover deeper paths, and those are allowed"
	}
	return "stops at a slash, and texts with a slash there are allowed"
}

// starOpens looks for a call that no rule matches, and that rule i would match if a value had one slash
// less. It adds a finding with this call. It reports whether it added a finding.
func (l *linter) starOpens(i int, r *policy.Source, a policy.ArgSource, g string, stops []stop) bool {
	stops = slices.DeleteFunc(slices.Clone(stops), func(s stop) bool { return s.literal })
	folder := strings.HasSuffix(g, "/*") && (pathGlob(g) || strings.Contains(g, "://"))
	text := !folder && (isText(r) || g == "*" || strings.Contains(g, " "))
	if len(stops) == 0 || !isAllow(r) && !isText(r) || !folder && !text {
		return false
	}
	s := stops[len(stops)-1]
	near, deep := withAddress(l.reach[i].Witness, a.Path, s.near), withAddress(l.reach[i].Witness, a.Path, s.deep)
	if near == nil {
		return false
	}
	first, second := l.policy.Decide(near), l.policy.Decide(deep)
	if first.Rule == nil || first.Rule.Index != i || second.Action != policy.Deny || second.Rule != nil {
		return false
	}
	f := check.Finding{Code: StarStops, Severity: check.Note, Message: fmt.Sprintf("%q does not open folders below", g), Why: "* stops at a slash.",
		Fix: fmt.Sprintf("write %q to include everything below", s.wide)}
	if isText(r) {
		f.Severity = check.Warning
	}
	if text {
		f.Message = fmt.Sprintf("%q stops at a slash, and a text with one is denied", g)
		f.Why = "Texts hold slashes: dates, addresses, paths, either/or."
		f.Fix = fmt.Sprintf("write %q", s.wide)
	}
	l.addWitness(&f, deep)
	l.addFinding(r, a.Pos, f)
	return true
}
