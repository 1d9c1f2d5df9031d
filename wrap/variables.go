package wrap

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap/client"
)

// reservedVariables are variables that make clawai use another policy or state, or load other code.
// An entry must not set them, because clawai gets the environment of the entry too. A name that
// ends with * stands for all names with this beginning. docs/wrap.md has the same list.
var reservedVariables = []struct{ name, what string }{
	{"CLAWAI_*", "says how clawai works"},
	{"XDG_CONFIG_HOME", "says where clawai finds its policy"},
	{"XDG_STATE_HOME", "says where clawai keeps its state"},
	{"HOME", "says where clawai finds its policy"},
	{"USERPROFILE", "says where clawai finds its policy"},
	{"APPDATA", "says where clawai finds its policy"},
	{"LOCALAPPDATA", "says where clawai keeps its state"},
	{"PROGRAMDATA", "says where clawai finds the organisation's policy"},
	{"LD_*", "loads other code into clawai"},
	{"DYLD_*", "loads other code into clawai"},
	{"GLIBC_TUNABLES", "changes the loader of clawai"},
	{"GODEBUG", "changes how clawai works"},
	{"TMUX", "says where clawai's questions are shown"},
	{"TMUX_PANE", "says where clawai's questions are shown"},
}

// reservedFor tells what a reserved variable changes in clawai; "" for any other variable. It
// ignores the case of the name, because some systems do.
func reservedFor(name string) string {
	name = strings.ToUpper(name)
	for _, s := range reservedVariables {
		if start, open := strings.CutSuffix(s.name, "*"); name == s.name || open && strings.HasPrefix(name, start) {
			return s.what
		}
	}
	return ""
}

// Setting is a variable in a client's settings. The client sets it for each program that it starts:
// hooks and servers.
type Setting struct {
	client.Variable
	Path string // path of the settings file
}

func (s Setting) renderSteering(what string) string {
	return fmt.Sprintf("%s sets %s, which %s", s.Path, s.Name, what)
}

// settingsAround returns the variables in the settings of all clients, by client.
func settingsAround(e client.Env) map[string][]Setting {
	all := map[string][]Setting{}
	// The error is ignored, because the caller has already loaded the same catalogue without an
	// error.
	rows, _ := client.HookRows()
	for _, row := range rows {
		all[row.Client] = listSettings(e, row)
	}
	return all
}

// listSettings returns the variables in the owner's settings and in the project's settings, where
// an agent may write.
func listSettings(e client.Env, row client.HookRow) (all []Setting) {
	if row.Env == "" {
		return nil
	}
	for _, paths := range []client.Paths{row.Paths, row.Settings} {
		for _, path := range (client.Row{Paths: paths}).FindFiles(e) {
			src, err := readRegularFile(path)
			if err != nil || slices.ContainsFunc(all, func(s Setting) bool { return s.Path == path }) { // a file is listed once, even if the project is the home folder
				continue
			}
			_, env := client.ReadSettings(row, src)
			for _, v := range env {
				all = append(all, Setting{v, path})
			}
		}
	}
	return all
}

// checkVariables returns a message for each variable that changes clawai's behaviour. It looks in
// the entry and in the settings around it. It ignores a variable that has the same value in
// pl.Getenv. It also ignores PATH if the command is an absolute path, because the client then does
// not search PATH for clawai.
func (pl Planner) checkVariables(p *ConfigFile, e client.Entry, command string) (all []string) {
	for _, v := range e.Env {
		if what := pl.steeringReason(v, command); what != "" {
			all = append(all, fmt.Sprintf("its environment sets %s, which %s", v.Name, what))
		}
	}
	for _, s := range p.Around {
		if what := pl.steeringReason(s.Variable, command); what != "" {
			all = append(all, s.renderSteering(what))
		}
	}
	return all
}

func (pl Planner) steeringReason(v client.Variable, command string) string {
	what := reservedFor(v.Name)
	if strings.EqualFold(v.Name, "PATH") && !filepath.IsAbs(command) {
		what = "says which clawai is started"
	}
	if pl.Getenv != nil && v.Value != "" && pl.Getenv(v.Name) == v.Value {
		return ""
	}
	return what
}

const nextVariables = "take it out, or give it to the server alone by the command: env NAME=value COMMAND"
