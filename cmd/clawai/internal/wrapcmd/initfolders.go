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

// filesystem is the starter policy for servers that get folders as arguments.
const filesystem = "filesystem"

// noteFolders stores the folders of a filesystem server. It skips a folder that the command "clawai
// policy allow" would refuse. The rules ask about each call in such a folder.
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
// folder starts with ~, so that a rule also matches a call that uses ~.
func (p *starterPlan) folderSpellings() []string {
	all := slices.Clone(p.folders)
	for i, folder := range all {
		all[i] = widen.SpellFolder(folder, p.home)
	}
	return all
}

// foldersTable returns the policy's table with the servers' own folders, or "" if no rule uses this
// list of folders.
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

// presetFolders returns the servers' own folders, or the default folder if there are none. These
// folders are the default answer of the question.
func (p *starterPlan) presetFolders() []string {
	if len(p.folders) > 0 {
		return p.folderSpellings()
	}
	return []string{defaultFolder}
}

// defaultFolder is the folder that the starter policies name.
const defaultFolder = "~/projects"

// askFolders asks the person in which folders the rules allow calls.
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

// parseFolders returns the folders in the person's answer as absolute paths. The text of an error
// is safe for a terminal.
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

// furtherFolders returns a rule for servers that may use folders that the other rules do not name.
// The rule asks a person about calls in these folders. It returns "" if there are no such servers.
func (p *starterPlan) furtherFolders(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(p.askedServers, name) })
	if len(names) == 0 || p.mode == modeStrict {
		return ""
	}
	return renderRule("prompt", names, "tool", []string{
		"read_*", "write_file", "edit_file", "create_directory", "list_directory*", "directory_tree", "search_files", "get_file_info", "move_file",
	}, "Ask: no rule names this folder, and the server may work there")
}

// foldersOf returns the absolute folders in the arguments of a filesystem server. The result all is
// true if the server can use only these folders. It is false if another argument may be a folder.
// It is also false if no argument is a folder, because the server then asks its client for folders.
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
