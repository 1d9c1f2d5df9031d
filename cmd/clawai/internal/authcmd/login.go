package authcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/oauth"
)

func loginCommand() *cli.Command {
	return &cli.Command{
		Name:      "login",
		Usage:     "sign in to a remote server, and keep the token",
		UsageText: "clawai auth login [options] https://HOST/PATH",
		Description: "Opens the page of the server's sign-in in your browser. Without a browser here, --no-browser prints the page's " +
			"address, and you paste back where another browser was sent; --device shows a code to enter on any device. What you choose " +
			"holds for every later refresh and sign-in, until you sign in again (docs/providers.md).",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "no-browser", Usage: "print the page's address instead of opening it, and take the address that a browser elsewhere was sent to"},
			&cli.BoolFlag{Name: "device", Usage: "show a code to enter on another device, if the server's sign-in offers that"},
			&cli.StringFlag{Name: "callback", Usage: "let the browser come back to `HOST:PORT` of this machine, as registered for your client (default: a free port)"},
			&cli.StringSliceFlag{Name: "scope", Usage: "ask for this `SCOPE` in place of those that the server names (repeatable, or several in one with spaces)"},
			&cli.BoolFlag{Name: "no-resource", Usage: "do not name the server as the token's resource: for providers that refuse that, such as Entra"},
			&cli.StringFlag{Name: "client-id", Usage: "the `ID` of a client you registered with the server's sign-in, or the address of its metadata document (default: clawai registers itself)"},
			&cli.StringFlag{Name: "client-secret-file", Usage: "a `FILE` that only you can read, with that client's secret"},
			&cli.StringFlag{Name: "client-key", Usage: "a PEM `FILE` that only you can read, with the key (RSA or P-256) that signs for that client, in place of a secret"},
			&cli.StringFlag{Name: "client-key-id", Usage: "the `ID` of that key at the provider, if it needs one"},
			&cli.BoolFlag{Name: "client-credentials", Usage: "sign in the client itself, with its secret or key and without a person"},
		},
		Action: runLogin,
	}
}

// readChoices reads the options of the sign-in. It returns an error for an option that has no
// effect.
func readChoices(c *cli.Context) (chosen oauth.Choices, err error) {
	device, client := c.Bool("device"), c.Bool("client-credentials")
	switch {
	case device && client:
		return chosen, cmdline.Usagef("--device is for a person, and --client-credentials for none; use one of them")
	case client && c.Bool("no-browser"), device && c.Bool("no-browser"):
		return chosen, cmdline.Usagef("--no-browser is for a page, and no page is opened here; leave it out")
	case (device || client) && c.String("callback") != "":
		return chosen, cmdline.Usagef("--callback is for a browser that comes back, and none does here; leave it out")
	case c.String("client-id") == "" && (client || c.IsSet("client-secret-file") || c.IsSet("client-key")):
		return chosen, cmdline.Usagef("which client? add: --client-id ID")
	case c.IsSet("client-secret-file") && c.IsSet("client-key"):
		return chosen, cmdline.Usagef("a client shows a secret or a key; use --client-secret-file or --client-key")
	case client && !c.IsSet("client-secret-file") && !c.IsSet("client-key"):
		return chosen, cmdline.Usagef("--client-credentials needs what the client shows: --client-secret-file FILE or --client-key FILE")
	case c.IsSet("client-key-id") && !c.IsSet("client-key"):
		return chosen, cmdline.Usagef("--client-key-id names the key of --client-key FILE")
	case device:
		chosen.Grant = oauth.GrantDevice
	case client:
		chosen.Grant = oauth.GrantClient
	}
	if chosen.Callback = strings.TrimPrefix(c.String("callback"), "http://"); chosen.Callback != "" {
		if err := oauth.CheckCallback(chosen.Callback); err != nil {
			return chosen, cmdline.Usagef("--callback %q: %w", c.String("callback"), err)
		}
	}
	for _, text := range c.StringSlice("scope") {
		for _, scope := range strings.Fields(text) {
			if !oauth.IsScope(scope) {
				return chosen, cmdline.Usagef("--scope %q: a scope has no such characters", scope)
			}
			chosen.Scopes = append(chosen.Scopes, scope)
		}
	}
	chosen.NoResource, chosen.KeyID = c.Bool("no-resource"), c.String("client-key-id")
	if file := c.String("client-key"); file != "" {
		if chosen.KeyFile, err = filepath.Abs(file); err == nil {
			_, err = config.ReadSecret(chosen.KeyFile)
		}
		if err != nil {
			return chosen, cmdline.Usagef("--client-key: %w", err)
		}
	}
	return chosen, nil
}

var errNotAsked = errors.New("the owner wants no browser")

func runLogin(c *cli.Context) error {
	u, err := serverArgument(c)
	if err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	chosen, err := readChoices(c)
	if err != nil {
		return err
	}
	p := &person{out: c.App.Writer, server: u, pastes: term.IsTerminal(int(os.Stdin.Fd())), quiet: c.Bool("no-browser")}
	if p.quiet && !p.pastes && chosen.Callback == "" {
		return fmt.Errorf("not signed in: there is no terminal to paste an address into; use one, or enter a code on another device: clawai auth login --device %s", quoteServer(u))
	}
	o := SignInOptions(folders, u, p.openPage)
	o.ClientID, o.Choices, o.Pages, o.Anew, o.Person = c.String("client-id"), chosen, -1, true, p
	if file := c.String("client-secret-file"); file != "" {
		secret, err := config.ReadSecret(file)
		if err != nil {
			return cmdline.Usagef("--client-secret-file: %w", err)
		}
		if o.ClientSecret = strings.TrimSpace(string(secret)); o.ClientSecret == "" {
			return cmdline.Usagef("--client-secret-file: %s is empty; write the client's secret into it, or leave the option out", file)
		}
	}
	if err := config.PrivateFolder(folders.State); err != nil {
		return err
	}
	// requestChallenge has already closed the body.
	resp, err := requestChallenge(c.Context, u, o.Network) //nolint:bodyclose
	if err != nil {
		return err
	}
	if resp == nil {
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s wants no sign-in.\n", u.Host)
		return nil
	}
	wait := 5 * time.Minute
	// The person may open the page on another machine, and that takes longer.
	if p.quiet || chosen.Grant == oauth.GrantDevice {
		wait = 15 * time.Minute
	}
	ctx, cancel := context.WithTimeout(c.Context, wait)
	defer cancel()
	if err := oauth.New(o).SignIn(ctx, resp, ""); err != nil {
		if exit, ok := errors.AsType[*cmdline.ExitError](err); ok {
			return exit
		}
		return fmt.Errorf("not signed in: %w", err)
	}
	fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "Signed in at %s. The token is kept in %s.\n", u.Host, o.Store.Name())
	return nil
}

// person is the user who has started "clawai auth login".
type person struct {
	out    io.Writer
	server *url.URL
	pastes bool // true if there is a terminal, so that the person can paste an address
	quiet  bool // true if clawai must not open a browser
}

var _ oauth.Person = (*person)(nil)

// quoteServer returns a server's address, quoted for a command line.
func quoteServer(u *url.URL) string { return cmdline.Quote([]string{oauth.ServerKey(u)}) }

func (p *person) openPage(ctx context.Context, page string) error {
	if p.quiet {
		return errNotAsked
	}
	fmt.Fprintf(cmdline.ProseWriter(p.out), "Your browser opens a page of %s to sign in at %s.\n", PageHost(page), p.server.Host)
	return OpenPage(ctx, page)
}

// ShowPage prints the page's address. The address is the whole last line, so that it is easy to
// copy.
func (p *person) ShowPage(page string, device bool) error {
	prose := cmdline.ProseWriter(p.out)
	if p.quiet {
		fmt.Fprintf(prose, "A page of %s is for you, to sign in at %s.\n", PageHost(page), p.server.Host)
	} else {
		fmt.Fprintln(prose, "It could not be opened.")
	}
	if device {
		fmt.Fprintf(prose, "A code on another device would do, too: clawai auth login --device %s\n", quoteServer(p.server))
	}
	if p.pastes {
		fmt.Fprintf(prose, "A browser on another machine ends at an address that it cannot show, which begins with %s. Copy it from there, and paste it here.\n", returnAddress(page))
	}
	_, err := fmt.Fprintf(p.out, "Open this page to sign in:\n%s\n", page)
	return err
}

// returnAddress returns the address (redirect_uri) to which the sign-in page sends the browser
// back.
func returnAddress(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	return u.Query().Get("redirect_uri")
}

// ReadAddress reads the address that the person pastes. The terminal does not show the address,
// because the address contains a code.
func (p *person) ReadAddress(ctx context.Context, why error) (string, error) {
	if !p.pastes {
		return "", oauth.ErrNoPaste
	}
	if why != nil {
		fmt.Fprintf(cmdline.ProseWriter(p.out), "Not taken: %v.\n", why)
	}
	address, err := cmdline.ReadHidden(ctx, p.out, "The address that the browser was sent to (it is not shown): ")
	if errors.Is(err, cmdline.ErrLeft) {
		err = &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("not signed in; nothing was changed")}
	}
	return address, err
}

// ShowCode prints the page's address and the code that the person enters there.
func (p *person) ShowCode(code oauth.DeviceCode) error {
	prose := cmdline.ProseWriter(p.out)
	fmt.Fprintf(prose, "A page of %s takes a code, on any device, to sign in at %s. The code is good until %s.\n",
		PageHost(code.Page), p.server.Host, code.Expires.Local().Format("15:04"))
	if code.Complete != "" {
		fmt.Fprintf(p.out, "Open this page, which has the code in it already:\n%s\n", code.Complete)
	}
	_, err := fmt.Fprintf(p.out, "Open this page:\n%s\nEnter the code:\n%s\n", code.Page, code.Code)
	return err
}
