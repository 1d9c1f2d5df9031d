// Package clientfiles reads from a client's own files how clawai protects the client. It finds the
// servers that are behind a proxy, and whether a hook judges the client's tools.
package clientfiles

import (
	"os"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/wrap"
	catalogue "github.com/clawai/clawai/wrap/client"
)

// IsProxied reports whether our proxy is in front of a server in all files of the client that name
// the server. If so, every call reaches the proxy's gate, which decides, asks and records.
// IsProxied returns false in four other cases: a file cannot be read, an entry differs from the
// entries of wrap, a proxy enforces nothing, or there is no entry (as for a connector).
func IsProxied(r *client.Row, server, project string) bool {
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

// ownScopes are the scopes of files that only the owner can write.
var ownScopes = map[catalogue.Scope]bool{catalogue.User: true, catalogue.Local: true, catalogue.Profile: true, catalogue.Managed: true}

// ListServers returns the servers in a client's files: first the owner's servers, then all other
// servers. A server in a project's file is the owner's only if wrap has written its entry. Any
// other entry there may come from an agent, which can choose a name that makes its tools look like
// the tools of another server.
func ListServers(r *client.Row, project string) (owners, others []string) {
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

// readFiles reads a client's files. It also returns the planner that recognises our entries in
// these files.
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

// filesOf returns the rows of the catalogue about a client's files.
func filesOf(r *client.Row, rows []catalogue.Row) (own []catalogue.Row) {
	for _, row := range rows {
		if strings.HasPrefix(row.ID, r.FilePrefix()) {
			own = append(own, row)
		}
	}
	return own
}

// IsHooked reports whether the client calls clawai-hook before each of its tools and obeys the
// answer, when it works in this folder. A project's own files can turn hooks off, so IsHooked
// returns false if folder is "".
func IsHooked(r *client.Row, folder string) bool {
	judge := wrap.Planner{Program: wrap.FindProgram(), Getenv: os.Getenv}
	env, err := wrap.SystemEnv()
	if err != nil || folder == "" {
		return false
	}
	env.Dir = folder
	rows, err := catalogue.HookRows()
	if err != nil {
		return false
	}
	all := wrap.FindHooks(env, rows, judge.Program, r.ID)
	for _, h := range all {
		if h.Row.HookWord() == r.ID {
			state, _ := judge.HookState(h, all)
			return state.IsCovered()
		}
	}
	return false
}
