package wrapcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/check/widen"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/wrap/client"
)

// filesystem is the starter for servers that get folders as arguments.
const filesystem = "filesystem"

// noteFolders records the folders of a filesystem server, without those that "policy allow" would
// refuse: the person is asked about calls in those.
func (p *starterPlan) noteFolders(e client.Entry, at config.Folders) {
	folders, all := foldersOf(e, at.Home)
	for _, folder := range folders {
		if widen.CheckFolder(folder, at.Home, []string{at.Config, at.State}) == nil {
			p.folders = append(p.folders, folder)
		} else {
			all = false
		}
	}
	if !all && !slices.Contains(p.askedServers, e.Name) {
		p.askedServers = append(p.askedServers, e.Name)
	}
}

// folderSpellings returns the servers' own folders as rules name them. A folder below the home
// starts with ~, so that a rule also matches a call that writes its path with ~.
func (p *starterPlan) folderSpellings() []string {
	all := slices.Clone(p.folders)
	for i, folder := range all {
		all[i] = widen.SpellFolder(folder, p.home)
	}
	return all
}

// foldersTable returns the table with the servers' own folders; "" if no rule names them.
func (p *starterPlan) foldersTable() string {
	if !p.named {
		return ""
	}
	table := strings.TrimSuffix(fixtures.Folders, "\n")
	if len(p.folders) == 0 {
		return table
	}
	preset := policytext.FormatList(policytext.QuoteAll([]string{defaultFolder}))
	return strings.Replace(table, preset, policytext.FormatList(policytext.QuoteAll(p.folderSpellings())), 1)
}

// presetFolders returns the servers' own folders. The rules get them if the person changes nothing.
func (p *starterPlan) presetFolders() []string {
	if len(p.folders) > 0 {
		return p.folderSpellings()
	}
	return []string{defaultFolder}
}

// defaultFolder is the folder that the starters name.
const defaultFolder = "~/projects"

// askFolders asks a person which folders the rules open.
func (r *initRun) askFolders() error {
	if !r.terminal || !r.plan.named {
		return nil
	}
	what := "Servers read there, and you are asked before a change."
	if r.plan.agents {
		what = "Servers read there, and you are asked before a change. Your agents' own tools read and write there unasked."
	}
	text, err := choose.EnterText(r.c.Context, os.Stdin, os.Stdout, "Which folders may be used?", what+"\nSeveral are separated by commas.",
		strings.Join(r.plan.presetFolders(), ", "), func(text string) error {
			_, err := r.parseFolders(text)
			return err
		})
	if errors.Is(err, choose.ErrLeft) {
		return errLeft
	}
	if err != nil {
		return err
	}
	r.plan.folders, err = r.parseFolders(text)
	return err
}

// parseFolders returns the folders of an answer as absolute paths. An error is harmless text.
func (r *initRun) parseFolders(text string) (folders []string, err error) {
	home := filepath.Clean(r.plan.home)
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if rest, below := strings.CutPrefix(filepath.ToSlash(word), "~/"); below {
			word = filepath.Join(home, rest)
		}
		if word == "" {
			continue
		}
		if !filepath.IsAbs(word) {
			return nil, fmt.Errorf("%s is not a whole path: write / or ~/ before it", term.VisibleText(word))
		}
		word = filepath.Clean(word)
		if err := widen.CheckFolder(word, home, []string{r.folders.Config, r.folders.State}); err != nil {
			return nil, errors.New(term.VisibleText(err.Error()))
		}
		folders = append(folders, filepath.ToSlash(word))
	}
	if len(folders) == 0 {
		return nil, errors.New("name a folder, or leave with Esc")
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
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
