package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// findUnreadFolders looks at the folders in the lists of [folders]. It finds those that rules open
// only to tools that change something. It reports them only if rules open other folders for
// reading, because then the owner probably forgot these folders.
func findUnreadFolders(l *linter) {
	var acts, reads []string // names of lists in [folders]
	for i := range l.sources {
		s := &l.sources[i]
		switch {
		case s.Subject != policy.ToolSubject || s.Action != policy.Allow && s.Action != policy.Prompt:
		case textclass.OnlyRead(s.Names):
			reads = append(reads, s.FolderNames...)
		default:
			acts = append(acts, s.FolderNames...)
		}
	}
	lists := l.policy.Folders()
	var readable []string
	for _, list := range lists {
		if slices.Contains(reads, list.Name) {
			readable = append(readable, list.Folders...)
		}
	}
	if len(readable) == 0 {
		return
	}
	for _, list := range lists {
		if list.From != "" || !slices.Contains(acts, list.Name) {
			continue
		}
		for _, folder := range list.Folders {
			if slices.ContainsFunc(readable, func(r string) bool { return folder == r || strings.HasPrefix(folder, r+"/") }) {
				continue
			}
			reading := lists[slices.IndexFunc(lists, func(of policy.FolderList) bool { return slices.Contains(reads, of.Name) })].Name
			l.addFinding(&policy.Source{Rule: policy.Rule{Pos: list.Pos}}, policy.Position{}, check.Finding{Code: UnreadFolder,
				Message: fmt.Sprintf("rules let tools act in %s by ${%s}, and no list by which they read has it", folder, list.Name),
				Fix:     fmt.Sprintf("write %s = [\"${%s}\"], with what else may be read", reading, list.Name)})
		}
	}
}
