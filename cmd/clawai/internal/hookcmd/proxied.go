package hookcmd

import (
	"os"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/wrap"
	catalogue "github.com/clawai/clawai/wrap/client"
)

// isProxied reports whether our proxy stands before a server wherever the client's files name
// it: then every call to it comes to the proxy's gate, which decides, asks and records.
// In doubt (a file that cannot be read, an entry that is drifted, a proxy that enforces
// nothing, no entry at all, as of a connector) it does not.
func isProxied(r *client.Row, server, project string) bool {
	files, judge, err := readFiles(r, project)
	if err != nil {
		return false
	}
	found := false
	for _, file := range files {
		if file.Err != nil {
			return false
		}
		for i := range file.Entries {
			e := &file.Entries[i]
			if e.Name != server {
				continue
			}
			if !judge.GuardsEntry(&file, *e) {
				return false
			}
			found = true
		}
	}
	return found
}

// ownScopes are those of files that lie where the owner alone writes.
var ownScopes = map[catalogue.Scope]bool{catalogue.User: true, catalogue.Local: true, catalogue.Profile: true, catalogue.Managed: true}

// listServers gives those that a client's files name. An entry of a project's file is the owner's
// where wrap has written it: an agent could write one there, with the name that makes a tool
// look like another server's.
func listServers(r *client.Row, project string) (owners, others []string) {
	files, judge, err := readFiles(r, project)
	if err != nil {
		return nil, nil
	}
	for _, file := range files {
		if file.Err != nil {
			continue
		}
		for i := range file.Entries {
			e := &file.Entries[i]
			switch {
			case ownScopes[file.Row.Scope], judge.GuardsEntry(&file, *e):
				owners = append(owners, e.Name)
			default:
				others = append(others, e.Name)
			}
		}
	}
	return owners, others
}

// readFiles reads a client's files of servers, and what tells which of their entries are ours.
func readFiles(r *client.Row, project string) ([]wrap.ConfigFile, wrap.Planner, error) {
	judge := wrap.Planner{Program: wrap.FindProgram(), Getenv: os.Getenv}
	rows, err := catalogue.LoadCatalogue()
	if err != nil {
		return nil, judge, err
	}
	env, err := wrap.SystemEnv()
	if err != nil {
		return nil, judge, err
	}
	if project != "" {
		env.Dir = project
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, judge, err
	}
	if judge.Journal, err = wrap.ReadJournal(folders.State); err != nil {
		return nil, judge, err
	}
	if judge.HTTPProxy, err = httpproxy.Read(folders.State); err != nil {
		return nil, judge, err
	}
	return wrap.FindConfigFiles(env, filesOf(r, rows)), judge, nil
}

// filesOf gives the rows of a client's files.
func filesOf(r *client.Row, rows []catalogue.Row) (own []catalogue.Row) {
	for _, row := range rows {
		if strings.HasPrefix(row.ID, r.FilePrefix()) {
			own = append(own, row)
		}
	}
	return own
}
