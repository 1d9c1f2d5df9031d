package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// closed says which subjects a policy of tool rules leaves shut.
func closed(l *linter) {
	if len(l.sources) == 0 {
		return
	}
	about := map[policy.Subject]bool{}
	l.each(func(_ int, r *policy.Source) { about[r.Subject] = true })
	if !about[policy.ToolSubject] {
		return
	}
	for s := policy.ResourceSubject; s <= policy.ElicitationSubject; s++ {
		if about[s] {
			return // whoever wrote of one of them knows
		}
	}
	l.add(&l.sources[0], policy.Position{}, Finding{Code: ClosedSubjects,
		Message: "no rule opens resources, prompts, sampling or elicitation",
		Fix:     `write rules such as resource = "file:///home/user/projects/**" for what you use; nothing, if they are to stay shut`})
}

// links finds allows for folders that no constraint ties to the disk.
func links(l *linter) {
	l.each(func(_ int, r *policy.Source) {
		if !opens(r) {
			return
		}
		for _, a := range r.Args {
			tied := slices.ContainsFunc(r.Where, func(w policy.WhereSource) bool { return w.Key == "under" && slices.Equal(w.Path, a.Path) })
			at := slices.IndexFunc(a.Globs, func(g string) bool { return pathGlob(g) && strings.ContainsAny(g, "*?") })
			if tied || at < 0 {
				continue
			}
			folder, _, _ := strings.Cut(a.Globs[at], "*")
			if folder = strings.TrimRight(folder, "/"); folder == "" {
				folder = "/"
			}
			l.add(r, a.Pos, Finding{Code: LinksLeadOut,
				Message: fmt.Sprintf("%s = %q allows by the text of the path", argName(a.Path), a.Globs[at]),
				Fix:     fmt.Sprintf("add where.%s = { under = [%q] }, which resolves links first", strings.Join(a.Path, "."), folder)})
			return
		}
	})
}
