package wrap

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap/client"
)

// reservedVariables lists the variables that make clawai use another policy or state, or load other
// code into clawai. No entry may set them, because the environment of an entry is also clawai's
// environment. A name that ends with * stands for all names with this beginning. docs/wrap.md
// publishes the list.
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

// reservedFor returns the effect of a reserved variable on clawai, or "" for another variable. It
// ignores the case of the name, as some systems do.
func reservedFor(name string) string {
	name = strings.ToUpper(name)
	for _, s := range reservedVariables {
		if start, open := strings.CutSuffix(s.name, "*"); name == s.name || open && strings.HasPrefix(name, start) {
			return s.what
		}
	}
	return ""
}

// Setting is a variable that a client's settings set for all programs that it starts: hooks and
// servers.
type Setting struct {
	client.Variable
	Path string // path of the settings
}

func (s Setting) renderSteering(what string) string {
	return fmt.Sprintf("%s sets %s, which %s", s.Path, s.Name, what)
}

// settingsAround returns the settings of all clients, by client.
func settingsAround(e client.Env) map[string][]Setting {
	all := map[string][]Setting{}
	// Ignore the error: the caller has loaded the same catalogue before without an error.
	rows, _ := client.HookRows()
	for _, row := range rows {
		all[row.Client] = listSettings(e, row)
	}
	return all
}

// listSettings returns the variables in the owner's settings, and those in the project's settings,
// where an agent may write.
func listSettings(e client.Env, row client.HookRow) (all []Setting) {
	if row.Env == "" {
		return nil
	}
	for _, paths := range []client.Paths{row.Paths, row.Settings} {
		for _, path := range (client.Row{Paths: paths}).FindFiles(e) {
			src, err := readRegularFile(path)
			if err != nil || slices.ContainsFunc(all, func(s Setting) bool { return s.Path == path }) { // the project is the home folder: both have the same file
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

// checkVariables returns a message for each variable in an entry, or in the settings around it, that
// changes clawai's behaviour. It ignores a variable that has the same value in pl.Getenv. It ignores
// PATH, unless the client finds clawai through PATH.
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
