package wrapcmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/wrap"
)

const protect = "protect"

// ProtectCommand returns "clawai protect", which is init for one client. Other tools have a command
// with this name.
func ProtectCommand() *cli.Command {
	return &cli.Command{
		Name:      protect,
		Usage:     "start with one client: clawai init only for it, or for ChatGPT what to do by hand",
		UsageText: "clawai protect CLIENT [--yes] [--mode MODE]",
		Flags:     append(initFlags(), &cli.StringFlag{Name: "client", Hidden: true}),
		Action:    runProtect,
	}
}

func runProtect(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(names) != 1 || names[0] == "all" || c.String("client") != "" {
		return cmdline.Usagef("which client? claude-desktop, gemini, chatgpt, or another that clawai status names")
	}
	if names[0] == "chatgpt" {
		_, err := fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), chatGPT, wrap.DefaultListen)
		return err
	}
	if err := c.Set("client", names[0]); err != nil {
		return err
	}
	return runInit(c)
}

// chatGPT is a list of steps for the person, because ChatGPT has no file on this machine.
const chatGPT = `ChatGPT keeps its servers with your account and reaches them over the internet: there is no file here
to edit, and servers that are started here it cannot use. What it does with remote ones, clawai can judge:

1. Run clawai before the server, and leave it running:
     clawai proxy --listen %s --upstream NAME=https://HOST/PATH --host YOUR.HOST
   It prints the address, whose path holds a secret: who has the address has the server.
2. Let an HTTPS tunnel or a reverse proxy of yours lead https://YOUR.HOST to it, with the path as it is.
3. In ChatGPT on the web: Settings, Apps, Advanced settings: switch developer mode on.
4. Settings, Apps, Create app: as its URL https://YOUR.HOST and the path of step 1, no authentication of its own.

Every call is judged by your policy and recorded. More: docs/remote.md.
`
