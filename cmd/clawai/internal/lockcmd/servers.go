package lockcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/proxy/listing"
	"github.com/clawai/clawai/wrap/client"
)

// server is a server whose lists are compared with the lock.
type server struct {
	name      string
	args, env []string             // the command that starts the server, and its environment
	start     []string             // the command in the form of the lock
	sandbox   []string             // the sandbox in the client's entry, in the form of clienttable.Read
	err       error                // why the server's lists cannot be read; nil if they can
	seen      *pin.SelfDescription // the lists that a proxy has seen; nil means that the server is asked
}

// selectServers returns the servers that the command line names. If it names none, it returns all
// servers of the project.
func selectServers(c *cli.Context) ([]server, error) {
	if c.Bool("from-record") {
		return recordedServers(c)
	}
	names, words := c.StringSlice("server"), c.Args().Slice()
	before := len(os.Args) - len(words) - 1
	dashes := before > 0 && os.Args[before] == "--"
	switch {
	case len(words) > 0 && !dashes:
		return nil, cmdline.Usagef("unexpected argument %q; a server's command comes after --; see: clawai lock --help", words[0])
	case dashes && len(words) == 0:
		return nil, cmdline.Usagef("there is no command behind --")
	case dashes && len(names) != 1:
		return nil, cmdline.Usagef("give the command one name, that your rules know it by: --server NAME")
	case dashes:
		return []server{{name: names[0], args: words, start: sharedWords(words)}}, nil
	}
	byName, err := configuredServers(names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, known := byName[name]; !known {
			return nil, cmdline.Usagef("there is no server %s; see: clawai status", term.VisibleValue(name))
		}
	}
	if len(byName) == 0 {
		return nil, cmdline.Usagef("no client's file of this project has a server; name one: clawai lock --server NAME, or clawai lock --server NAME -- COMMAND")
	}
	all := make([]server, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all, nil
}

// configuredServers returns servers from the clients' files, by name. Without names it returns the
// servers of the project. With names it returns these servers from any file.
func configuredServers(names []string) (map[string]server, error) {
	found, err := wrapcmd.FindServers()
	if err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	byName := map[string]server{}
	for i := range found.Places {
		file := &found.Places[i]
		scope := file.Row.Scope
		if file.Err != nil && (scope == client.Project || scope == client.Workspace) {
			return nil, cmdline.Usagef("%s cannot be read: %w", found.ShortPath(file.Path), file.Err)
		}
		for _, e := range file.Entries {
			if len(names) == 0 && scope != client.Project && scope != client.Workspace || len(names) > 0 && !slices.Contains(names, e.Name) {
				continue
			}
			s := newServer(e)
			if other, twice := byName[e.Name]; twice && !slices.Equal(other.start, s.start) {
				s.err = errors.New("two files start it in two ways; give one: clawai lock --server NAME -- COMMAND")
			}
			byName[e.Name] = s
		}
	}
	return byName, nil
}

// newServer converts an entry of a client's file into a server.
func newServer(e client.Entry) server {
	s := server{name: e.Name, sandbox: e.Sandbox, start: sharedWords(append([]string{e.Command}, e.Args...))}
	switch {
	case e.Kind == client.Remote:
		s.start, s.err = []string{}, errors.New("it is reached by its address, and only servers that are started can be asked yet; lock it by a program that reaches it: clawai lock --server NAME -- COMMAND")
	case e.Kind != client.Stdio || e.Unclear:
		s.err = errors.New("how it is started cannot be told; see: clawai status")
	default:
		s.args, s.env = wrapcmd.LaunchCommand(e)
	}
	return s
}

// sharedWords returns the words of a command line for a file that other people read. It writes ~
// for the home folder and removes secrets.
func sharedWords(words []string) []string {
	home, _ := os.UserHomeDir()
	all, name := make([]string, 0, len(words)), ""
	for _, word := range words {
		flag, value, inline := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "-") && inline && isSecretOption(flag, value):
			all, name = append(all, flag+"="+hidden), ""
			continue
		case strings.HasPrefix(word, "-"):
			name = word
		case name != "" && isSecretOption(name, word):
			all, name = append(all, hidden), ""
			continue
		default:
			name = ""
		}
		if span, found := redact.FindSecret(word, 0); found {
			word = word[:span.Start] + hidden
		}
		if rest, ok := strings.CutPrefix(word, home+string(os.PathSeparator)); ok && home != "" {
			word = "~/" + rest
		}
		all = append(all, word)
	}
	return all
}

// hidden takes the place of a secret.
const hidden = "[secret]"

// isSecretOption reports whether an option has a secret as its value. It looks at the option's name
// and at the value.
func isSecretOption(flag, value string) bool {
	src, err := json.Marshal(map[string]string{strings.TrimLeft(flag, "-"): value})
	return err == nil && strings.Contains(string(redact.ScrubJSON(src)), "[redacted:")
}

// checkReferences returns an error if the server's environment or command contains a reference to
// the vault. clawai lock does not replace references, because the server could repeat a secret in
// its lists, and many people read the lists.
func (s *server) checkReferences() error {
	env := s.env
	if env == nil {
		env = os.Environ()
	}
	for _, v := range env {
		if name, text, _ := strings.Cut(v, "="); vault.HasReference(text) {
			return fmt.Errorf("its variable %s is a reference into the vault, which is not filled in here; give it a value for this once: %s=VALUE clawai lock --server %s -- COMMAND",
				term.VisibleText(name), term.VisibleText(name), cmdline.Quote([]string{s.name}))
		}
	}
	if slices.ContainsFunc(s.args, vault.HasReference) {
		return fmt.Errorf("%s is in an argument, where nothing is filled in; put it into its env", vault.Prefix)
	}
	return nil
}

// listServer starts the server and reads its lists.
func (s *server) listServer(ctx context.Context) (pin.SelfDescription, error) {
	is := pin.SelfDescription{Start: s.start}
	if s.err != nil {
		return is, s.err
	}
	if s.seen != nil {
		is = s.seen.Clone()
		is.Start = s.start
		return is, nil
	}
	if err := s.checkReferences(); err != nil {
		return is, err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return is, err
	}
	start, err := policyfile.PlanStart(folders, policyfile.CagedServer{Name: s.name, Command: s.args, Client: s.sandbox})
	if err != nil {
		return is, err
	}
	list, err := listing.ListServer(ctx, listing.Options{Args: start.Command, Env: s.env, Cage: start.Cage, Within: listing.Within})
	if err != nil {
		return is, err
	}
	words := s.start
	if start.Files != nil { // the version is in the lock
		words = servers.PinVersion(words, start.Files.Version)
	}
	return list.Describe(words)
}
