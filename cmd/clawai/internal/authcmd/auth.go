// Package authcmd implements "clawai auth". clawai proxy uses the same sign-in.
package authcmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/proxy/remote"
)

// Command returns "clawai auth".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "auth",
		Usage:     "sign in to remote servers, and sign out",
		UsageText: "clawai auth login|logout|list",
		Subcommands: []*cli.Command{
			loginCommand(),
			{
				Name: "logout", Usage: "forget the token for a remote server", UsageText: "clawai auth logout https://HOST/PATH | --all",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "for every server"}},
				Action: runLogout,
			},
			{
				Name: "list", Usage: "show at which servers you are signed in", UsageText: "clawai auth list [--json]",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print one JSON document"}},
				Action: runList,
			},
		},
	}
}

// serverArgument parses the server's address, the only argument of the command.
func serverArgument(c *cli.Context) (*url.URL, error) {
	if c.NArg() != 1 {
		return nil, cmdline.Usagef("which server? write: clawai %shttps://HOST/PATH", cmdline.CommandPath(c))
	}
	u, err := url.Parse(c.Args().First())
	if err != nil {
		return nil, cmdline.Usagef("the address cannot be read; write it like https://host/mcp")
	}
	if err := remote.CheckURL(u); err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	return u, nil
}

// requestChallenge sends a request without a token. It returns the server's response if the server
// asks for a token, and otherwise nil.
func requestChallenge(ctx context.Context, u *url.URL, through egress.Network) (*http.Response, error) {
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"clawai","version":"1"}}}`
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client := remote.NewClient(remote.Options{Network: through})
	defer client.CloseIdleConnections()
	ask := func(method, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := remote.DoRequest(client, r)
		if err != nil {
			return nil, fmt.Errorf("the server cannot be reached: %w", err)
		}
		_ = resp.Body.Close()
		return resp, nil
	}
	posted, err := ask(http.MethodPost, initialize)
	if err != nil {
		return nil, err
	}
	resp := posted
	// A server of version 2024-11-05 may ask for a token only when the client opens its stream.
	if remote.MayBeLegacySSE(resp.StatusCode) {
		if resp, err = ask(http.MethodGet, ""); err != nil {
			return nil, err
		}
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return resp, nil
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil, nil
	}
	return nil, fmt.Errorf("the server answered %s; is this the address of an MCP server?", remote.StatusText(posted))
}

func runLogout(c *cli.Context) error {
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	var servers []string
	var damaged error
	store := SignInOptions(folders, &url.URL{}, nil).Store
	if c.Bool("all") {
		if err := cmdline.NoArguments(c); err != nil {
			return err
		}
		all, err := store.List()
		if damaged = err; err != nil && !isDamage(err) {
			return err
		}
		for _, e := range all {
			servers = append(servers, e.Server)
		}
	} else {
		u, err := serverArgument(c)
		if err != nil {
			return err
		}
		servers = []string{oauth.ServerKey(u)}
	}
	for _, server := range servers {
		err := store.Delete(server)
		if errors.Is(err, oauth.ErrNone) {
			return fmt.Errorf("not signed in at %s; see: clawai auth list", term.VisibleText(server))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "Signed out of %s. The server itself may still honour the token until it expires.\n", term.VisibleText(server))
	}
	if len(servers) == 0 && damaged == nil {
		fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), "Signed in nowhere.")
	}
	return damaged
}

// isDamage reports whether an error means that only some entries of the store cannot be read.
func isDamage(err error) bool {
	_, ok := errors.AsType[*oauth.DamageError](err)
	return ok
}

// signInDoc is one line of auth list. It never contains a token.
type signInDoc struct {
	Server  string     `json:"server"`
	Since   time.Time  `json:"since"`
	Expires *time.Time `json:"expires,omitempty"`
	Renews  bool       `json:"renews"` // true if there is a refresh token or if the client needs none
	Scopes  []string   `json:"scopes,omitempty"`
	// Options has the options of "auth login" that later refreshes and sign-ins use again.
	Options []string `json:"options,omitempty"`
}

func runList(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	all, damaged := SignInOptions(folders, &url.URL{}, nil).Store.List()
	if damaged != nil && !isDamage(damaged) {
		return damaged
	}
	list := make([]signInDoc, 0, len(all))
	for _, e := range all {
		s := signInDoc{Server: e.Server, Since: e.Since, Renews: e.IsRenewable(), Scopes: e.Scopes, Options: e.Options()}
		if !e.Expiry.IsZero() {
			s.Expires = &e.Expiry
		}
		list = append(list, s)
	}
	if c.Bool("json") {
		return errors.Join(cmdline.WriteJSON(c.App.Writer, list), damaged)
	}
	if len(list) == 0 && damaged != nil {
		return damaged
	}
	if len(list) == 0 {
		fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), "Signed in nowhere. To sign in: clawai auth login https://HOST/PATH")
		return nil
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tSINCE\tTOKEN")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", term.VisibleText(s.Server), s.Since.Local().Format("2006-01-02 15:04"), s.tokenState())
		if len(s.Options) > 0 {
			fmt.Fprintf(w, "  %s\n", term.VisibleText(strings.Join(s.Options, " ")))
		}
	}
	return errors.Join(w.Flush(), damaged)
}

func (s *signInDoc) tokenState() string {
	switch {
	case s.Renews:
		return "renewed when it expires"
	case s.Expires == nil:
		return "does not expire"
	case s.Expires.Before(time.Now()):
		return "expired " + s.Expires.Local().Format("2006-01-02 15:04")
	}
	return "until " + s.Expires.Local().Format("2006-01-02 15:04")
}
