package proxycmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/authcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/state/upstream"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/proxy/remote"
)

// readUpstreams reads the servers of --upstream and --wrapped. Each has the form NAME=URL. If NAME
// is missing, the name is the host of the URL.
func (l *listenRun) readUpstreams(c *cli.Context) error {
	texts := c.StringSlice("upstream")
	if c.Bool("wrapped") {
		led, err := httpproxy.ListUpstreams(l.run.spec.Folders.State)
		if err != nil {
			return err
		}
		texts = append(texts, led...)
	}
	l.upstreams = make(map[string]remote.Options, len(texts))
	for _, text := range texts {
		name, address, named := upstream.CutName(text)
		server, err := readAddress([]string{address})
		if err != nil {
			return err
		}
		if !named {
			name = strings.ReplaceAll(server.url.Hostname(), ":", "-")
		}
		if _, twice := l.upstreams[name]; twice {
			return cmdline.Usagef("two servers are called %q; give them names: --upstream NAME=URL", name)
		}
		l.upstreams[name] = remote.Options{URL: server.url, Limits: l.run.limits, Network: egress.Network{Folders: l.run.spec.Folders}}
	}
	files, err := l.headerFiles(c.StringSlice("header-file"))
	if err != nil {
		return err
	}
	var used [][]byte
	for name, o := range l.upstreams {
		if o.Header, err = readHeaders(append(slices.Clone(files[""]), files[name]...)); err != nil {
			return err
		}
		resolver := vaultplace.NewResolver(name, []string{o.URL.String()}, "")
		if err := fillHeaders(resolver, o.Header); err != nil {
			return err
		}
		used = append(used, resolver.UsedValues()...)
		if o.Header.Get("Authorization") == "" {
			o.Credentials = oauth.New(authcmd.SignInOptions(l.run.spec.Folders, o.URL, authcmd.OpenPage))
		}
		l.upstreams[name] = o
	}
	l.run.secrets.known = redact.NewKnown(used)
	return nil
}

// headerFiles returns the header files by server name. The key "" is for all servers. A file for an
// unknown server is an error, because the owner meant its secrets for a certain server.
func (l *listenRun) headerFiles(texts []string) (map[string][]string, error) {
	files := make(map[string][]string)
	for _, text := range texts {
		name, file, _ := upstream.CutName(text)
		if _, known := l.upstreams[name]; name != "" && !known {
			return nil, cmdline.Usagef("--header-file %s: no --upstream is called %q, but %s; a file of that name is written ./%s",
				text, name, cmdline.Quote(slices.Sorted(maps.Keys(l.upstreams))), text)
		}
		files[name] = append(files[name], file)
	}
	return files, nil
}
