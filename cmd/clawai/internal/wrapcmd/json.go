package wrapcmd

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
)

// wrapDoc is the output of wrap --json and unwrap --json.
type wrapDoc struct {
	DryRun bool `json:"dry_run"`
	// Servers has the changed servers. In a dry run it has the servers that would change.
	Servers []editedServer   `json:"servers"`
	Hooks   []editedSettings `json:"hooks,omitempty"`
	Models  []editedSettings `json:"models,omitempty"`
	Hub     string           `json:"hub,omitempty"`   // path of the configuration into which servers were moved
	Vault   []movedSecret    `json:"vault,omitempty"` // secrets that were moved into the vault or out of it
	Undo    string           `json:"undo,omitempty"`
}

type editedServer struct {
	Name    string `json:"name"`
	Client  string `json:"client"`
	Path    string `json:"path"`
	Restart string `json:"restart,omitempty"` // what the person must do before the change takes effect
	Profile string `json:"profile,omitempty"` // only for init: the starter policy for the server
	Known   string `json:"known,omitempty"`   // only for init: the server's name in the catalogue
	Error   string `json:"error,omitempty"`   // the reason why the entry was not changed
}

// editedServers returns the changed servers, and the command that undoes the changes.
func (r *wrapRun) editedServers(changes []wrap.Change, failed []error) (all []editedServer, undo string) {
	all = []editedServer{}
	var done []string
	for i, c := range changes {
		if c.Hook != nil || c.Model != nil {
			continue
		}
		for _, e := range c.Edits {
			s := editedServer{Name: e.Entry.Name, Client: e.Row.Client, Path: c.Path, Restart: e.Row.Restart}
			if failed != nil && failed[i] != nil {
				s.Error, s.Restart = term.VisibleText(failed[i].Error()), ""
			} else {
				done = append(done, e.Entry.Name)
			}
			all = append(all, s)
		}
	}
	if len(done) > 0 && !r.dryRun {
		undo = fmt.Sprintf("clawai %s %s", r.op.Undo(), r.undoArguments(done))
	}
	return all, undo
}

// printDocument prints the document of --json if this flag is set.
func (r *wrapRun) printDocument(changes []wrap.Change, failed []error) error {
	if !r.c.Bool("json") {
		return nil
	}
	doc := wrapDoc{DryRun: r.dryRun}
	doc.Servers, doc.Undo = r.editedServers(changes, failed)
	if r.Judge.Hub.Into && len(changes) > 0 {
		doc.Hub = r.folders.SettingsFile()
	}
	doc.Hooks, doc.Models = listSettings(changes, failed)
	doc.Vault = r.vault.listSecrets()
	if r.hooks && len(doc.Hooks) > 0 && !r.dryRun {
		doc.Undo = r.undoSettings("--hooks", doc.Hooks)
	}
	if r.models && !r.dryRun {
		doc.Undo = r.undoSettings("--llm", doc.Models)
	}
	return cmdline.WriteJSON(r.c.App.Writer, doc)
}

// undoSettings returns the command that undoes the edits of hooks or of models' addresses. option
// is --hooks or --llm. It returns "" if nothing was changed.
func (r *wrapRun) undoSettings(option string, all []editedSettings) string {
	var done []string
	for _, s := range all {
		if s.Error == "" {
			done = append(done, s.Client)
		}
	}
	if len(done) == 0 {
		return ""
	}
	return fmt.Sprintf("clawai %s %s %s", r.op.Undo(), option, strings.Join(dropRepeats(done), " "))
}
