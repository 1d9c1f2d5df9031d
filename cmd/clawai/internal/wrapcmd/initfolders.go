package wrapcmd

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check/widen"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/wrap/client"
)

// filesystem is the starter for servers that get folders as arguments.
const filesystem = "filesystem"

// noteFolders records the folders of a filesystem server. Calls in a folder that no rule can
// name, or that a rule should not open, are asked about.
func (p *starterPlan) noteFolders(e client.Entry, home string) {
	folders, all := foldersOf(e, home)
	for _, folder := range folders {
		if widen.IsModestFolder(folder, home) {
			p.folders = append(p.folders, folder)
		} else {
			all = false
		}
	}
	if !all && !slices.Contains(p.askedServers, e.Name) {
		p.askedServers = append(p.askedServers, e.Name)
	}
}

// starterFolder matches ~/projects in the text of a starter policy: as the begin of a quoted path,
// with the characters before the quote, or in a comment.
var starterFolder = regexp.MustCompile(`([=\[,]\s*)"~/projects([^"\n]*)"|~/projects`)

// folderSpellings returns the servers' own folders as rules name them. A folder below the home
// starts with ~, so that a rule also matches a call that writes its path with ~.
func (p *starterPlan) folderSpellings() []string {
	all := slices.Clone(p.folders)
	for i, folder := range all {
		all[i] = widen.SpellFolder(folder, p.home)
	}
	return all
}

// replaceFolder replaces ~/projects by the servers' own folders.
func (p *starterPlan) replaceFolder(rules string) string {
	if len(p.folders) == 0 {
		return rules
	}
	folders := p.folderSpellings()
	rules = strings.ReplaceAll(rules, "# Put your own folders in the place of ~/projects.\n", "")
	return starterFolder.ReplaceAllStringFunc(rules, func(found string) string {
		parts := starterFolder.FindStringSubmatch(found)
		var all []string
		for _, folder := range folders {
			all = append(all, policytext.Quote(folder+parts[2]))
		}
		last := len(folders) - 1
		switch {
		case parts[1] == "" && last == 0:
			return folders[0]
		case parts[1] == "":
			return strings.Join(folders[:last], ", ") + " and " + folders[last]
		case strings.HasPrefix(parts[1], "="):
			return parts[1] + policytext.OneOrList(all)
		case strings.Contains(parts[1], "\n"):
			return parts[1] + strings.Join(all, ","+parts[1][1:])
		}
		return parts[1] + strings.Join(all, ", ")
	})
}

// furtherFolders returns the rule that asks about folders that the servers may use but the
// rules above do not name; "" when there are none.
func (p *starterPlan) furtherFolders(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(p.askedServers, name) })
	if len(names) == 0 || p.mode == modeStrict {
		return ""
	}
	return renderRule("prompt", names, "tool", []string{
		"read_*", "write_file", "edit_file", "create_directory", "list_directory*", "directory_tree", "search_files", "get_file_info", "move_file",
	}, "Ask: no rule names this folder, and the server may work there")
}

// foldersOf returns the absolute folders that a filesystem server gets. If all is false, there
// may be others: another word may be a folder, and a server without folders asks its client for
// them.
func foldersOf(e client.Entry, home string) (folders []string, all bool) {
	server := slices.IndexFunc(e.Args, func(word string) bool {
		return strings.Contains(word, "server-filesystem") || strings.Contains(word, "mcp/filesystem")
	})
	all = true
	for i, word := range e.Args {
		if rest, below := strings.CutPrefix(filepath.ToSlash(word), "~/"); below && home != "" {
			word = filepath.Join(home, rest)
		}
		switch {
		case i <= server || strings.HasPrefix(word, "-") || strings.Contains(filepath.ToSlash(word), "/node_modules/"):
		case filepath.IsAbs(word):
			folders = append(folders, filepath.ToSlash(filepath.Clean(word)))
		case server >= 0:
			all = false
		}
	}
	return folders, all && len(folders) > 0
}
