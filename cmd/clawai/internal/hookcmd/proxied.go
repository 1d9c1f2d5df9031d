package hookcmd

import (
	"os"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/hook/client"
	"github.com/clawai/clawai/wrap"
	catalogue "github.com/clawai/clawai/wrap/client"
)

// proxied says whether our proxy stands before a server wherever the client's files name
// it: then every call to it comes to the proxy's gate, which decides, asks and records.
// In doubt (a file that cannot be read, an entry that is drifted, a proxy that enforces
// nothing, no entry at all, as of a connector) it does not.
func proxied(r *client.Row, server, project string) bool {
	rows, err := catalogue.Catalogue()
	if err != nil {
		return false
	}
	env, err := wrap.System()
	if err != nil {
		return false
	}
	if project != "" {
		env.Dir = project
	}
	judge := wrap.Planner{Program: wrap.FindProgram(), Getenv: os.Getenv}
	folders, err := config.Dirs()
	if err == nil {
		judge.Journal, err = wrap.ReadJournal(folders.State)
	}
	if err == nil {
		judge.HTTPProxy, err = httpproxy.Read(folders.State)
	}
	if err != nil {
		return false
	}
	found := false
	for _, file := range wrap.FindConfigFiles(env, filesOf(r, rows)) {
		if file.Err != nil {
			return false
		}
		for i := range file.Entries {
			e := &file.Entries[i]
			if e.Name != server {
				continue
			}
			if !judge.Guards(&file, *e) {
				return false
			}
			found = true
		}
	}
	return found
}

// filesOf are the rows of a client's files.
func filesOf(r *client.Row, rows []catalogue.Row) (own []catalogue.Row) {
	for _, row := range rows {
		if strings.HasPrefix(row.ID, r.Files()) {
			own = append(own, row)
		}
	}
	return own
}

// servers are those that the user's own files of a client name. A project's are left out:
// an agent could write one there, with the name that makes a tool look like another server's.
func servers(r *client.Row, _ string) (names []string) {
	rows, err := catalogue.Catalogue()
	if err != nil {
		return nil
	}
	env, err := wrap.System()
	if err != nil {
		return nil
	}
	for _, file := range wrap.FindConfigFiles(env, filesOf(r, rows)) {
		if file.Row.Scope != catalogue.User || file.Err != nil {
			continue
		}
		for i := range file.Entries {
			names = append(names, file.Entries[i].Name)
		}
	}
	return names
}
