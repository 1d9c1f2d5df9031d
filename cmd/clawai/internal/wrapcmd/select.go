package wrapcmd

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// selectionFlags returns the flags that select servers. They are the same for all commands.
func selectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "client", Usage: "only this `CLIENT`'s files, as clawai status names it; all: every client's"},
		&cli.BoolFlag{Name: "all", Usage: "every server"},
		&cli.StringFlag{Name: "scope", Usage: "only files of this `SCOPE`: user, local, project, workspace, profile"},
		&cli.StringFlag{Name: "file", Usage: "only this `PATH`; with --client, any file in that client's form"},
	}
}

func (f *Found) selectionOf(c *cli.Context, names []string) (wrap.Selection, error) {
	s := wrap.Selection{Names: names, Client: c.String("client"), Scope: client.Scope(c.String("scope"))}
	if s.Client == "all" {
		s.Client = ""
	}
	var clients, scopes []string
	for _, row := range f.rows {
		clients, scopes = append(clients, row.Client), append(scopes, string(row.Scope))
	}
	if s.Client != "" && !slices.Contains(clients, s.Client) {
		slices.Sort(clients)
		return s, cmdline.UnknownWord("--client", "client", s.Client, append([]string{"all"}, slices.Compact(clients)...))
	}
	if s.Scope != "" && !slices.Contains(scopes, string(s.Scope)) {
		slices.Sort(scopes)
		return s, cmdline.UnknownWord("--scope", "scope", string(s.Scope), slices.Compact(scopes))
	}
	if path := c.String("file"); path != "" {
		return s, f.selectFile(&s, path)
	}
	return s, nil
}

// selectFile selects one file. With --client, the file may be outside the catalogue, because it is
// then read in the form of that client.
func (f *Found) selectFile(s *wrap.Selection, path string) (err error) {
	if s.File, err = filepath.Abs(path); err != nil {
		return err
	}
	if _, err := os.Lstat(s.File); err != nil {
		return cmdline.Usagef("--file %s: there is no such file", path)
	}
	if slices.ContainsFunc(f.Places, func(p wrap.ConfigFile) bool { return p.Path == s.File || p.Real == s.File }) {
		return nil
	}
	if s.Client == "" {
		return cmdline.Usagef("--file %s: no client in the catalogue keeps servers there; name the client whose form it has with --client", path)
	}
	var best *wrap.ConfigFile
	for _, row := range f.rows {
		if row.Client != s.Client || s.Scope != "" && row.Scope != s.Scope {
			continue
		}
		if p := wrap.ReadConfigFile(row, s.File); best == nil || len(p.Entries) > len(best.Entries) {
			best = &p
		}
	}
	if best != nil {
		f.Places = append(f.Places, *best)
	}
	return nil
}
