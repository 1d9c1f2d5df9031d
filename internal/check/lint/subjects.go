package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// findClosedSubjects reports a policy that has rules about tools and no rules about resources, prompts,
// sampling and elicitation. This policy denies all four.
func findClosedSubjects(l *linter) {
	if len(l.sources) == 0 {
		return
	}
	about := map[policy.Subject]bool{}
	l.visitRules(func(_ int, r *policy.Source) { about[r.Subject] = true })
	if !about[policy.ToolSubject] {
		return
	}
	for s := policy.ResourceSubject; s <= policy.ElicitationSubject; s++ {
		if about[s] {
			return // an author who names one of the four knows the others
		}
	}
	l.addFinding(&l.sources[0], policy.Position{}, check.Finding{Code: ClosedSubjects,
		Message: "no rule opens resources, prompts, sampling or elicitation",
		Fix:     `write rules such as resource = "file:///home/user/projects/**" for the ones that you use, or leave the policy as it is if they should stay closed`})
}

// findUntiedFolders finds allows that compare a folder with a glob and have no constraint under. Only
// under resolves symbolic links.
func findUntiedFolders(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		if !isAllow(r) {
			return
		}
		for _, a := range r.Args {
			tied := slices.ContainsFunc(r.Where, func(w policy.WhereSource) bool { return w.Key == "under" && slices.Equal(w.Path, a.Path) })
			at := slices.IndexFunc(a.Globs, func(g string) bool { return onDisk(g) && strings.ContainsAny(g, "*?") })
			if tied || at < 0 {
				continue
			}
			l.addFinding(r, a.Pos, check.Finding{Code: LinksLeadOut,
				Message: fmt.Sprintf("%s = %q compares only the text of the path", policytext.DottedKey("args", a.Path...), a.Globs[at]),
				Fix:     underFix(a)})
			return
		}
	})
}

// onDisk reports whether a glob is about paths on the disk. The constraint under can replace only a
// glob about paths on the disk.
func onDisk(g string) bool { return pathGlob(g) && !strings.HasPrefix(g, "file:") }

// underFix returns a suggestion: the constraint under with the folders of all globs. This constraint
// makes a difference only for paths with symbolic links that lead out of these folders.
func underFix(a policy.ArgSource) string {
	key := policytext.DottedKey("where", a.Path...)
	var folders []string
	for _, g := range a.Globs {
		folder := g
		if at := strings.IndexAny(g, "*?"); at >= 0 {
			folder = g[:strings.LastIndexByte(g[:at], '/')+1]
		}
		folder = strings.TrimSuffix(folder, "/")
		if !onDisk(g) || folder == "" || strings.HasPrefix(folder, "~") && folder != "~" && folder[1] != '/' || strings.Contains(folder, `\`) {
			return fmt.Sprintf("add %s = { under = [...] } with the folders that it may be in, which follows links first", key)
		}
		folders = append(folders, policytext.Quote(folder))
	}
	slices.Sort(folders)
	return fmt.Sprintf("add %s = { under = %s }, which follows links first", key, policytext.FormatList(slices.Compact(folders)))
}
