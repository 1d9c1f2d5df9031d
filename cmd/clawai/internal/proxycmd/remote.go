package proxycmd

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/authcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/proxy/remote"
)

// envReference begins the text env:NAME, which stands for an address. The address is the value of
// the environment variable NAME. An address with a secret must not be on a command line, because
// every process on the machine can read a command line.
const envReference = "env:"

// remoteServer is a remote server: its address on the command line, and its headers.
type remoteServer struct {
	url    *url.URL
	header http.Header
	sse    bool // the client's file says that the server uses the transport of version 2024-11-05
}

// isRemote reports whether a command is the address of a remote server.
func isRemote(command []string) bool {
	first := command[0]
	return strings.HasPrefix(first, "http://") || strings.HasPrefix(first, "https://") || strings.HasPrefix(first, envReference)
}

// readRemote reads the address and the headers of a remote server. For a program it does nothing.
// The parameter was is the value of the flag --was.
func (p *proxyRun) readRemote(headerFiles []string, was string) (err error) {
	if !isRemote(p.command) {
		if len(headerFiles) > 0 {
			return cmdline.Usagef("--header-file is for remote servers: clawai proxy --header-file FILE -- https://HOST/PATH")
		}
		return nil
	}
	if p.remote, err = readAddress(p.command); err != nil {
		return err
	}
	p.remote.sse = slices.Contains(strings.Split(was, ","), "type=sse")
	p.remote.header, err = readHeaders(headerFiles)
	return err
}

// readAddress parses the address of a server. Its errors never contain the address, because the
// address may have a secret.
func readAddress(command []string) (*remoteServer, error) {
	if len(command) != 1 {
		return nil, cmdline.Usagef("nothing follows the address of a remote server; headers go into a file (--header-file)")
	}
	address := command[0]
	if name, ok := strings.CutPrefix(address, envReference); ok {
		if address, ok = os.LookupEnv(name); !ok || address == "" {
			return nil, cmdline.Usagef("the environment has no %q, which should hold the server's address", name)
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, cmdline.Usagef("the server's address cannot be read; write it like https://host/mcp")
	}
	if err := remote.CheckURL(u); err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	return &remoteServer{url: u}, nil
}

// readHeaders reads the headers from the environment and from the files. A file overrides the
// environment, and a later file overrides an earlier file.
func readHeaders(files []string) (http.Header, error) {
	h, err := remote.EnvHeaders(os.Environ(), os.LookupEnv)
	if err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	for _, file := range files {
		src, err := config.ReadSecret(file)
		if err != nil {
			return nil, cmdline.Usagef("--header-file: %w", err)
		}
		more, err := remote.ParseHeaders(string(src), os.LookupEnv)
		if err != nil {
			return nil, cmdline.Usagef("--header-file %s: %w", file, err)
		}
		maps.Copy(h, more)
	}
	return h, nil
}

// renderAddress returns the address for the record and for messages. It removes the query, because
// the query may contain a key.
func (r *remoteServer) renderAddress() string {
	shown := *r.url
	shown.RawQuery = ""
	if r.url.RawQuery != "" {
		return shown.String() + "?…"
	}
	return shown.String()
}

// dialServer returns the upstream for the remote server. If there is an Authorization header,
// clawai uses it. Otherwise the owner can sign in when the server asks for a token.
func (p *proxyRun) dialServer(guard *gate.Session) (*remote.Upstream, error) {
	o := remote.Options{
		URL: p.remote.url, Header: p.remote.header, Limits: p.limits, SSE: p.remote.sse,
		Network: egress.Network{Folders: p.spec.Folders},
		Note: func(code, text string) {
			_ = guard.NoteEvents(&event.Event{Kind: event.Chatter, Server: p.spec.Peer.Name, Code: code, Detail: text})
		},
	}
	if o.Header.Get("Authorization") == "" {
		o.Credentials = oauth.New(authcmd.SignInOptions(p.spec.Folders, p.remote.url, func(ctx context.Context, page string) error {
			o.Note("sign_in", fmt.Sprintf("a page of %s is opened, to sign in at %s", authcmd.PageHost(page), p.remote.url.Host))
			return authcmd.OpenPage(ctx, page)
		}))
	}
	return remote.Dial(o)
}

// describeServer returns the address or the command of the server as a text for the record.
func (p *proxyRun) describeServer() string {
	if p.remote != nil {
		return "server " + p.remote.renderAddress()
	}
	return "command " + cmdline.Quote(p.command)
}
