package attackcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/where/disk"
)

// Command returns "clawai attack".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "attack",
		Usage:     "play attacks of a hostile server through a policy and see what comes through",
		UsageText: "clawai attack [options] [SERVER|POLICY]\n\nSERVER is a starter policy (clawai policy init --list) or the server that it is for, POLICY a file;\nwithout either, your policy, under the layers in force here.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "server", Usage: "the server's `NAME` in rules (default: the starter's name, else the first that rules name)"},
			&cli.StringSliceFlag{Name: "only", Usage: "play only the attacks whose name matches the `GLOB` (repeatable)"},
			&cli.IntFlag{Name: "max-reached", Value: -1, Usage: "exit 1 when more than `N` attacks reach the model or the server", DefaultText: "any number may"},
			&cli.BoolFlag{Name: "list", Usage: "list the attacks, and play none"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runAttacks,
	}
}

func runAttacks(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(names) > 1 {
		return cmdline.Usagef("one policy at a time, not %s", term.VisibleText(strings.Join(names, " ")))
	}
	if n := c.Int("max-reached"); c.IsSet("max-reached") && n < 0 {
		return cmdline.Usagef("--max-reached: %d is not a number of attacks", n)
	}
	all, err := chooseAttacks(c.StringSlice("only"))
	if err != nil {
		return err
	}
	if c.Bool("list") {
		return listAttacks(c, all)
	}
	t, note, err := findTarget(strings.Join(names, ""), c.String("server"))
	if err != nil {
		return err
	}
	done := cmdline.ShowProgress("Playing the attacks")
	verdicts, err := playAll(c.Context, t, all)
	done()
	if err != nil {
		return err
	}
	if err := reportVerdicts(c, t, note, verdicts); err != nil {
		return err
	}
	came := 0
	for _, v := range verdicts {
		if v.Outcome == reached || v.Outcome == marked {
			came++
		}
	}
	if most := c.Int("max-reached"); most >= 0 && came > most {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: fmt.Errorf("%d attacks came through, and --max-reached is %d", came, most)}
	}
	return nil
}

// chooseAttacks returns the attacks with a name that matches one of the globs. Without a glob it
// returns all attacks.
func chooseAttacks(only []string) ([]attack, error) {
	all, err := loadAttacks()
	if err != nil || len(only) == 0 {
		return all, err
	}
	var some []attack
	for _, text := range only {
		g, err := glob.Compile(text)
		if err != nil {
			return nil, cmdline.Usagef("--only: %v", err)
		}
		n := len(some)
		for _, a := range all {
			if g.Match(a.Name) {
				some = append(some, a)
			}
		}
		if len(some) == n {
			return nil, cmdline.Usagef("--only: no attack is called %s; see: clawai attack --list", term.VisibleText(text))
		}
	}
	return slices.DeleteFunc(all, func(a attack) bool {
		return !slices.ContainsFunc(some, func(b attack) bool { return a.Name == b.Name })
	}), nil
}

// home is the owner's home folder for a policy that is not from this machine.
const home = "/home/user"

// findTarget reads the policy to attack. note is a text about that policy for the person.
func findTarget(name, server string) (t *target, note string, err error) {
	t = &target{server: server}
	where := home
	switch {
	case name == "":
		t.own = true
		if t.policy, where, err = loadPolicyInForce(); err != nil {
			return nil, "", err
		}
	case strings.HasSuffix(name, ".toml") || strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, "@"):
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, "", cmdline.Usagef("%v", err)
		}
		if t.policy, err = parsePolicy(name, src); err != nil {
			return nil, "", err
		}
	default:
		var src []byte
		if src, t.server, note, err = findStarter(name); err == nil {
			t.policy, err = parsePolicy("profile:"+t.server, src)
		}
		if err != nil {
			return nil, "", err
		}
		if server != "" {
			t.server = server
		}
	}
	if t.server == "" {
		var others []string
		if t.server, others = chooseServer(t.policy.Policy, where); len(others) > 0 {
			note = "To play as another server: --server " + strings.Join(others, ", ")
		}
	}
	var some bool
	if t.carrier, some = chooseCarrier(t.policy.Policy, t.server, where); !some {
		note = "It lets none of the calls go by which something could come back, so that most attacks end there."
		t.carrier = carrier{"read_text_file", `{"path":"` + where + `/projects/app/README.md"}`}
	}
	return t, note, nil
}

// noServer is the name of a server that the rules do not name.
const noServer = "scripted"

// chooseServer returns the name for the hostile server. A name is suitable if the rules allow some
// call to a server of this name, or ask a person about some call. If noServer is suitable,
// chooseServer returns noServer. Otherwise it returns the first suitable name in the rules. The
// result others has the other suitable names. If there is no suitable name, it returns noServer.
func chooseServer(p *policy.Policy, where string) (server string, others []string) {
	if _, some := chooseCarrier(p, noServer, where); some {
		return noServer, nil
	}
	sources := p.Sources()
	for i := range sources {
		for _, name := range sources[i].Servers {
			if strings.ContainsAny(name, `*?[{\`) || slices.Contains(builtin.ListClients(), name) || slices.Contains(others, name) {
				continue
			}
			if _, some := chooseCarrier(p, name, where); some {
				others = append(others, name)
			}
		}
	}
	if len(others) == 0 {
		return noServer, nil
	}
	return others[0], others[1:]
}

func parsePolicy(name string, src []byte) (*config.Loaded, error) {
	o := policyfile.PolicyOptions(home)
	o.Disk = disk.PlainDisk()
	p, err := policy.Parse(name, src, o)
	if err != nil {
		return nil, cmdline.Usagef("the policy does not load:\n%w", err)
	}
	return &config.Loaded{Policy: p, Path: name}, nil
}

// loadPolicyInForce returns the active policy of this machine, and the owner's home folder. It
// resolves the paths in the rules without the disk, so links on this machine have no effect.
func loadPolicyInForce() (*config.Loaded, string, error) {
	files := base.Files{Disk: disk.PlainDisk(), Packs: packs.Read}
	files.Project, _ = os.Getwd()
	folders, err := files.FindFolders()
	if err != nil {
		return nil, "", err
	}
	loaded, err := files.Load(folders)
	if _, gone := os.Stat(folders.PolicyFile()); errors.Is(gone, fs.ErrNotExist) {
		return nil, "", cmdline.Usagef("you have no policy yet; name a starter (clawai attack github) or a file")
	}
	if err != nil {
		return nil, "", cmdline.Usagef("%v", err)
	}
	return loaded, folders.Home, nil
}

// tierEnd has rules that allow all calls. It is added to a tier (a starter policy that has only
// rules about replies), because without rules about calls every call would be refused.
const tierEnd = `
[[rule]]
action = "allow"
tool = "*"

[[rule]]
action = "allow"
sampling = "**"

[[rule]]
action = "allow"
elicitation = "**"
`

// findStarter returns the text of a starter policy, its name, and a note about it for the person.
// name is the name of the policy or of its server.
func findStarter(name string) (src []byte, called, note string, err error) {
	var words []string
	for _, p := range fixtures.ListProfiles() {
		words = append(words, p.Name)
		if p.Name == name || p.Server == name {
			src, err = fixtures.ComposePolicy(p.Name)
			return src, p.Name, "", err
		}
	}
	for _, p := range fixtures.ListTiers() {
		words = append(words, p.Name)
		if p.Name == name {
			src, err = fixtures.ComposePolicy(p.Name)
			return append(src, tierEnd...), p.Name, "It speaks of no calls: they are all allowed here.", err
		}
	}
	return nil, "", "", cmdline.UnknownWord("attack takes a policy's file (.toml) or a profile", "profile", name, words)
}

// playAll plays attacks one after the other, each in a separate session.
func playAll(ctx context.Context, t *target, all []attack) ([]verdict, error) {
	dir, remove, err := makeStateFolder()
	if err != nil {
		return nil, err
	}
	defer remove()
	verdicts := make([]verdict, len(all))
	for i := range all {
		state := filepath.Join(dir, all[i].Name)
		if err := os.Mkdir(state, 0o700); err != nil {
			return nil, err
		}
		p, err := playExchange(ctx, t, &all[i], state)
		if errors.Is(err, context.Canceled) {
			return nil, &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("interrupted")}
		}
		if err != nil {
			return nil, fmt.Errorf("the attack %s could not be played: %w", all[i].Name, err)
		}
		verdicts[i] = judgeAttack(&all[i], p)
	}
	return verdicts, nil
}

func listAttacks(c *cli.Context, all []attack) error {
	if c.Bool("json") {
		type one struct {
			Name string `json:"name"`
			Says string `json:"says"`
		}
		doc := []one{}
		for _, a := range all {
			doc = append(doc, one{a.Name, a.Says})
		}
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Attacks []one `json:"attacks"`
		}{doc})
	}
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%s  %s\n", cmdline.Pad(a.Name, 22), a.Says)
	}
	_, err := io.WriteString(cmdline.ProseWriter(c.App.Writer), b.String())
	return err
}

// colors are the colors of the headings of the outcomes.
var colors = []cmdline.Mark{
	{Pattern: `^(Reached|Marked): `, Color: cmdline.Red},
	{Pattern: `^(Asked): `, Color: cmdline.Yellow},
	{Pattern: `^(Withheld): `, Color: cmdline.Green},
}

func reportVerdicts(c *cli.Context, t *target, note string, all []verdict) error {
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Policy   string    `json:"policy"`
			Revision string    `json:"revision"`
			Server   string    `json:"server"`
			Attacks  []verdict `json:"attacks"`
		}{t.policy.Path, t.policy.Policy.Revision(), t.server, all})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.\n", cmdline.CountText(len(all), "1 attack", "%d attacks"), renderCounts(all))
	fmt.Fprintf(&b, "%s, as the server %q, by calls of %s.", term.VisibleText(t.policy.Path), t.server, term.VisibleText(t.carrier.tool))
	if note != "" {
		b.WriteString(" " + note)
	}
	b.WriteString("\n")
	for _, o := range outcomes {
		writeOutcome(&b, o.word, o.meaning, all)
	}
	if n := countOutcome(all, reached); n > 0 {
		b.WriteString("\nRules for what a server answers and lists: docs/replies.md, docs/pins.md.\n")
		if t.own && !slices.ContainsFunc(t.policy.Policy.Sources(), func(s policy.Source) bool { return s.From == "profile:strict" }) {
			b.WriteString("To withhold and mark more of it: clawai policy add strict\n")
		}
	}
	_, err := io.WriteString(cmdline.ProseWriter(c.App.Writer, colors...), b.String())
	return err
}

// writeOutcome lists the attacks with one outcome. Attacks on which no rule acted get one line
// each, with their description. The other attacks are grouped by the rules that acted on them.
func writeOutcome(b *strings.Builder, word, meaning string, all []verdict) {
	var acts []string
	names := map[string][]string{}
	var alone []verdict
	for _, v := range all {
		if v.Outcome != word {
			continue
		}
		by := v.By
		if word == asked {
			by = v.Asked
		}
		act := term.VisibleText(strings.Join(by, "; "))
		if act == "" {
			alone = append(alone, v)
			continue
		}
		if names[act] == nil {
			acts = append(acts, act)
		}
		names[act] = append(names[act], v.Name)
	}
	if len(alone) == 0 && len(acts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s%s: %s\n", strings.ToUpper(word[:1]), word[1:], meaning)
	for _, v := range alone {
		fmt.Fprintf(b, "  %s  %s\n", cmdline.Pad(v.Name, 22), v.Says)
	}
	for _, act := range acts {
		fmt.Fprintf(b, "  %s\n", view.Cut(act, 78))
		for _, line := range view.WrapWords(strings.Join(names[act], ", "), 74) {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
}
