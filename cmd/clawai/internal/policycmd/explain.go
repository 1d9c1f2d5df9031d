package policycmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/disk"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:  "explain",
		Usage: "tell what every rule says of a call, and why",
		UsageText: "clawai policy explain --policy FILE --fixture FILE | --frame FILE|- |\n" +
			"  --tool NAME [--arg NAME=TEXT]... | --resource URI | --prompt NAME | --method NAME |\n" +
			"  --session KEY [options]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "the policy `FILE` (default: yours, under the layers in force here)"},
			&cli.StringSliceFlag{Name: "layer", Usage: "a `FILE` that can only tighten the policy (repeatable)"},
			&cli.StringFlag{Name: "fixture", Usage: "explain the request in a fixture `FILE`"},
			&cli.StringFlag{Name: "frame", Usage: "explain a JSON-RPC message in a `FILE`, or - for standard input"},
			&cli.StringFlag{Name: "tool", Usage: "explain a call of the tool `NAME`"},
			&cli.StringFlag{Name: "resource", Usage: "explain the reading of a resource `URI`"},
			&cli.StringFlag{Name: "prompt", Usage: "explain a call of the prompt `NAME`"},
			&cli.StringFlag{Name: "method", Usage: "explain a request of the method `NAME` without parameters"},
			&cli.StringSliceFlag{Name: "arg", Usage: "an argument of the tool or prompt: `NAME=TEXT`, or NAME:=JSON (repeatable)"},
			&cli.StringFlag{Name: "server", Usage: "the server `NAME`, where the fixture names none"},
			&cli.StringFlag{Name: "home", Usage: "what ~ means: `DIR` (default: for a fixture /home/user, else your home)"},
			&cli.StringFlag{Name: "root", Usage: "the disk for where.<name>.under: the tree below `DIR` (default: for the policy in force, this machine's)"},
			&cli.StringFlag{Name: "session", Usage: "explain the call in the agent's session `KEY` (clawai status shows it), and show what the session has seen; without a call, only that"},
			&cli.StringFlag{Name: "at", Usage: "the `TIME` of the call, RFC 3339 or 2026-01-31 15:04:05 (default: for the policy in force, now)"},
			&cli.StringFlag{Name: "cwd", Usage: "the `DIR` in which relative paths start (default: for the policy in force, this one)"},
			&cli.StringFlag{Name: "os", Usage: "the `SYSTEM` that the server runs on: windows (paths are compared as on Windows) (default: for the policy in force, this one)"},
			&cli.BoolFlag{Name: "all", Usage: "one line for every rule, also for rules about other things"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runExplain,
	}
}

func runExplain(c *cli.Context) error {
	if err := namePolicy(c); err != nil {
		return err
	}
	in, err := sessionFlag(c)
	if err != nil {
		return err
	}
	if in != nil && !slices.ContainsFunc(requests, c.IsSet) {
		return writeExplanation(c, in, nil)
	}
	request, err := requestFromFlags(c)
	if err != nil {
		return err
	}
	at, err := atFlag(c)
	if err != nil {
		return err
	}
	home := c.String("home")
	if home == "" && c.IsSet("fixture") {
		home = "/home/user" // a fixed folder, so that the result is the same on every machine, as in policy test
	} else if home, err = homeFlag(c); err != nil {
		return err
	}
	cwd, system, err := placeFlags(c)
	if err != nil {
		return err
	}
	o := policyfile.PolicyOptions(home)
	o.Draft = c.String("policy") != ""
	if root := c.String("root"); root != "" {
		o.Disk = disk.RootedDisk(root)
	}
	// Without these flags, the explanation is for this machine and the present time.
	if c.String("policy") == "" && !c.IsSet("fixture") {
		if o.Disk == nil {
			o.Disk = disk.SystemDisk()
		}
		if cwd == "" {
			cwd, _ = os.Getwd() // after an error, relative paths cannot be resolved
		}
		if at.IsZero() {
			at = time.Now()
		}
		if system == "" && runtime.GOOS == policy.Windows {
			system = policy.Windows
		}
	}
	p, err := explainedPolicy(c, o)
	if err != nil {
		return err
	}
	calls, err := request(p)
	calls = explain.FillPlace(explain.FillTime(calls, at), cwd, system)
	if c.String("policy") == "" && !c.IsSet("fixture") {
		identifyCalls(p, calls)
	}
	if in != nil {
		in.markCalls(calls)
	}
	e := explain.DescribeCalls(p, calls)
	if err != nil {
		e = explain.DescribeRefusal(p, err)
	} else if in != nil {
		in.weighCalls(p, c.String("server"), calls, e.Decision.Action)
	}
	if o.Disk == nil && asksDisk(e) {
		fmt.Fprintln(cmdline.ProseWriter(c.App.ErrWriter), "clawai: under looks at a disk, and none was named; --root / is the disk of this machine")
	}
	return writeExplanation(c, in, e)
}

// identifyCalls sets the caller in the calls, as if they came from this machine now.
func identifyCalls(p *policy.Policy, calls []policy.Call) {
	folders, err := config.ReadFolders()
	if err != nil {
		return // after an error, the caller stays unknown
	}
	caller := base.NewCaller(folders.State, p)
	for i := range calls {
		caller.Identify(&calls[i].Facts)
	}
}

// asksDisk reports whether an "under" condition could not be decided, because the disk was not
// read.
func asksDisk(e *explain.Explanation) bool {
	for i := range e.Calls {
		if slices.ContainsFunc(e.Calls[i].Trace.Steps, func(s policy.Step) bool {
			return s.Reached && s.Match == where.Maybe && s.At.Kind == policy.Constraint && strings.HasPrefix(s.At.Want[0], "under = ")
		}) {
			return true
		}
	}
	return false
}

// explainedPolicy returns the policy of --policy, or the policy of this machine.
func explainedPolicy(c *cli.Context, o policy.Options) (*policy.Policy, error) {
	layers := config.Layers{More: c.StringSlice("layer")}
	path := c.String("policy")
	if path == "" {
		var err error
		if path, layers, err = OwnPolicy(); err != nil {
			return nil, err
		}
		layers.More = c.StringSlice("layer")
	} else if len(layers.More) == 0 {
		return lonePolicy(path, o)
	}
	l, err := layers.Load(path, o)
	if err != nil {
		return nil, cmdline.Usagef("nothing was explained: %w", err)
	}
	for _, note := range l.Notes {
		fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: %s\n", note)
	}
	return l.Policy, nil
}

// OwnPolicy returns the path of the person's policy, and the layers above it in the current folder.
func OwnPolicy() (path string, layers config.Layers, err error) {
	folders, err := config.ReadFolders()
	if err != nil {
		return "", layers, err
	}
	layers = base.LayersOf(folders)
	layers.Dir, _ = os.Getwd() // after an error there is no project
	return folders.PolicyFile(), layers, nil
}

// writeExplanation prints a session, and the explanation of a call in it. The parameter in (the
// session) and the parameter e (the explanation) may be nil.
func writeExplanation(c *cli.Context, in *inSession, e *explain.Explanation) error {
	if c.Bool("json") {
		doc := struct {
			*explain.Document
			Session *inSession `json:"session,omitempty"`
		}{Session: in}
		if e != nil {
			d := e.Document()
			doc.Document = &d
		}
		return cmdline.WriteJSON(c.App.Writer, doc)
	}
	return cmdline.WriteProse(c.App.Writer, ExplainMarks, func(w io.Writer) error {
		if in != nil {
			in.writeSession(w)
		}
		if e == nil {
			return nil
		}
		if err := e.WriteText(w, c.Bool("all")); err != nil || in == nil {
			return err
		}
		in.writeThen(w)
		return nil
	})
}

// requests lists the options that name a request.
var requests = []string{"fixture", "frame", "tool", "resource", "prompt", "method"}

// requestFromFlags returns a function for the request in the flags. The function returns the calls
// that the rules judge. It returns an error if clawai would refuse the request before any rule.
func requestFromFlags(c *cli.Context) (func(*policy.Policy) ([]policy.Call, error), error) {
	named := ""
	for _, name := range requests {
		switch {
		case !c.IsSet(name):
		case named != "":
			return nil, cmdline.Usagef("--%s beside --%s: one request is explained at a time", name, named)
		default:
			named = name
		}
	}
	if c.IsSet("arg") && named != "tool" && named != "prompt" {
		return nil, cmdline.Usagef("--arg is for --tool and --prompt")
	}
	var fx check.Fixture
	var err error
	switch named {
	case "":
		return nil, cmdline.Usagef("nothing to explain; give --fixture, --frame, --tool, --resource, --prompt or --method")
	case "frame":
		raw, err := inputFile(c, c.String("frame"))
		if err != nil {
			return nil, cmdline.Usagef("--frame: %w", err)
		}
		raw = bytes.TrimSuffix(raw, []byte("\n")) // the line end is not a part of the message
		return func(p *policy.Policy) ([]policy.Call, error) {
			calls, err := check.ReadCalls(raw, c.String("server"))
			fx.ScreenCalls(p, calls)
			return calls, err
		}, nil
	case "fixture":
		if fx, err = check.ReadFixture(c.String("fixture")); err != nil {
			return nil, cmdline.Usagef("%w", err)
		}
		if fx.JudgedMessage() != policy.OnCall {
			return nil, cmdline.Usagef("--fixture: it is about what came back, and explained are requests; clawai policy test says what the rules make of it")
		}
	default:
		if fx, err = newFixture(c, named); err != nil {
			return nil, err
		}
	}
	return func(p *policy.Policy) ([]policy.Call, error) {
		calls, err := fx.ReadCalls(c.String("server"))
		fx.ScreenCalls(p, calls)
		return calls, err
	}, nil
}

// newFixture returns the request of the flag --tool, --resource, --prompt or --method, as a
// fixture.
func newFixture(c *cli.Context, named string) (fx check.Fixture, err error) {
	params := map[string]any{}
	switch fx.Method = c.String("method"); named {
	case "method":
		return fx, nil
	case "resource":
		fx.Method, params["uri"] = "resources/read", c.String("resource")
	default:
		fx.Method, params["name"] = map[string]string{"tool": "tools/call", "prompt": "prompts/get"}[named], c.String(named)
		if params["arguments"], err = argFlags(c.StringSlice("arg")); err != nil {
			return fx, err
		}
	}
	fx.Params, err = json.Marshal(params)
	return fx, err
}

// argFlags parses the values of --arg. NAME=TEXT is a string, and NAME:=JSON is any JSON value.
func argFlags(flags []string) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	for _, flag := range flags {
		name, text, found := strings.Cut(flag, "=")
		name, raw := strings.CutSuffix(name, ":")
		switch _, twice := args[name]; {
		case !found || name == "":
			return nil, cmdline.Usagef("--arg %q: write NAME=TEXT, or NAME:=JSON", flag)
		case twice:
			return nil, cmdline.Usagef("--arg %s is there twice", name)
		case raw && !json.Valid([]byte(text)):
			return nil, cmdline.Usagef("--arg %s: %q is not JSON; write %s=TEXT for a text", name, text, name)
		case raw:
			args[name] = json.RawMessage(text)
		default:
			value, err := json.Marshal(text)
			if err != nil {
				return nil, err
			}
			args[name] = value
		}
	}
	return args, nil
}

// maxInput is the maximum size of a message in bytes. It is also the maximum size of a frame that
// clawai passes on.
const maxInput = 64 << 20

// inputFile reads a file. If path is "-", it reads standard input.
func inputFile(c *cli.Context, path string) ([]byte, error) {
	in := c.App.Reader
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, check.WithoutPath(err))
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(b) > maxInput {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxInput>>20)
	}
	return b, err
}

// atFlag returns the time of --at, or the zero time without this flag.
func atFlag(c *cli.Context) (time.Time, error) {
	s := c.String("at")
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, cmdline.Usagef("--at: %q is not a time; write 2026-01-31T15:04:05Z or 2026-01-31 15:04", s)
}

// lonePolicy loads a policy without layers. If it fails, the exit code is 2.
func lonePolicy(path string, o policy.Options) (*policy.Policy, error) {
	src, err := readPolicyFile(path)
	if err != nil {
		return nil, err
	}
	p, err := policy.Parse(path, src, o)
	if err != nil {
		return nil, cmdline.Usagef("the policy does not load, so nothing was explained:\n%w", err)
	}
	return p, nil
}
