package wrapcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/proxy/listing"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// These constants limit the time for a server to list its tools, and the number of tools.
const (
	toldWithin = 20 * time.Second
	toldTools  = 500
)

// askServers asks unknown servers for their tools. It starts these servers only if the person or an
// option on the command line allows it.
func (r *initRun) askServers(targets []wrap.Target) (map[string][]toldTool, error) {
	entries, err := askableServers(targets)
	if err != nil || len(entries) == 0 || r.mode == modeStrict {
		return nil, err
	}
	if !r.c.Bool("ask-servers") {
		if !r.terminal {
			return nil, nil
		}
		answer, err := r.askLine(fmt.Sprintf("\nclawai does not know %s. Ask what tools there are? Each is started once, with its own command, and stopped again. [y/N] ", joinNames(slices.Sorted(maps.Keys(entries)))))
		if err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
			return nil, nil
		}
	}
	told := map[string][]toldTool{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		tools, err := listTools(r.c.Context, entries[name])
		if err != nil {
			fmt.Fprintf(r.errs, "clawai: %s did not say what tools it has: %v; it is asked for call by call\n", term.VisibleLine(name), err)
			continue
		}
		told[name] = tools
	}
	return told, r.chooseTold(told)
}

// askableServers returns the entries of unknown servers that run as a process, by name. It skips a
// name that several different servers have.
func askableServers(targets []wrap.Target) (map[string]client.Entry, error) {
	entries, several := map[string]client.Entry{}, map[string]bool{}
	for _, t := range targets {
		known, err := recogniseServer(t.Entry)
		if err != nil {
			return nil, err
		}
		before, seen := entries[t.Entry.Name]
		same := seen && before.Command == t.Entry.Command && slices.Equal(before.Args, t.Entry.Args)
		if known != nil || t.Entry.Kind != client.Stdio || seen && !same {
			several[t.Entry.Name] = true
		}
		if !seen {
			entries[t.Entry.Name] = t.Entry
		}
	}
	maps.DeleteFunc(entries, func(name string, _ client.Entry) bool { return several[name] })
	return entries, nil
}

// chooseTold asks the person which tools may run without a question. It offers only tools that seem
// to read. Without a person, no tool is allowed.
func (r *initRun) chooseTold(told map[string][]toldTool) error {
	var options []choose.Option
	var tools []*toldTool
	for _, name := range slices.Sorted(maps.Keys(told)) {
		for i := range told[name] {
			if t := &told[name][i]; t.reads {
				tools = append(tools, t)
				options = append(options, choose.Option{Label: term.VisibleLine(name) + "  " + term.VisibleLine(t.name)})
			}
		}
	}
	if !r.terminal || len(options) == 0 {
		return nil
	}
	picked, err := chooseSeveral(r.c.Context, "These say that they only read. Which may run without a question?", options)
	for _, i := range picked {
		tools[i].allow = true
	}
	return err
}

func listTools(ctx context.Context, e client.Entry) (tools []toldTool, err error) {
	args, env := LaunchCommand(e)
	if slices.ContainsFunc(slices.Concat(args, env), vault.HasReference) {
		return nil, errors.New("it has a reference into the vault, which is not filled in here")
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, err
	}
	start, err := policyfile.PlanStart(folders, policyfile.CagedServer{Name: e.Name, Command: args, Client: e.Sandbox})
	if err != nil {
		return nil, err
	}
	list, err := listing.ListServer(ctx, listing.Options{Args: start.Command, Env: env, Cage: start.Cage, Within: toldWithin})
	if err != nil {
		return nil, err
	}
	if len(list.Tools) > toldTools {
		return nil, fmt.Errorf("it lists more than %d tools", toldTools)
	}
	for _, entry := range list.Tools {
		var c toolClaim
		if err := json.Unmarshal(entry.Bytes(), &c); err != nil {
			return nil, errors.New("its list does not hold tools")
		}
		if t, ok := c.judgeTool(); ok && !slices.ContainsFunc(tools, func(o toldTool) bool { return o.name == t.name }) {
			tools = append(tools, t)
		}
	}
	return tools, nil
}

// LaunchCommand returns the command and the environment with which the client would start an entry.
func LaunchCommand(e client.Entry) (args, env []string) {
	env = os.Environ()
	for _, v := range e.Env {
		env = append(env, v.Name+"="+expandVariables(v.Value))
	}
	args = []string{expandVariables(e.Command)}
	for _, word := range e.Args {
		args = append(args, expandVariables(word))
	}
	return args, env
}

// expandVariables replaces variables as clients do: ${NAME} and ${env:NAME}, both also with a
// default value (:-).
func expandVariables(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	return os.Expand(text, func(name string) string {
		name, preset, _ := strings.Cut(strings.TrimPrefix(name, "env:"), ":-")
		if value := os.Getenv(name); value != "" {
			return value
		}
		return preset
	})
}

// toolClaim is a server's own description of one of its tools.
type toolClaim struct {
	Name        string `json:"name"`
	Annotations struct {
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
	} `json:"annotations"`
	InputSchema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	} `json:"inputSchema"`
}

// judgeTool classifies a tool by its name. The server's claims can only make the result stricter.
// Arguments that name a place also make it stricter. It returns false if the tool's name cannot be
// in a rule.
func (c *toolClaim) judgeTool() (toldTool, bool) {
	_, err := policy.Parse("", []byte(policytext.WriteRule(policytext.StringPair("action", "deny"), policytext.StringPair("tool", c.Name))), policy.Options{})
	if err != nil || c.Name == "" || strings.ContainsAny(c.Name, "*?") {
		return toldTool{}, false
	}
	class := learn.ClassOf(c.Name)
	t := toldTool{name: c.Name, grave: class == learn.Executes || c.Annotations.Destructive && !c.Annotations.ReadOnly}
	t.reads = class == learn.Reads && c.Annotations.ReadOnly && !t.grave
	for arg := range c.InputSchema.Properties {
		t.reads = t.reads && !learn.NamesPlace(arg)
	}
	return t, true
}
