package wrap

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/wrap/client"
)

// reservedVariables are the variables that lead clawai to another policy or state, or
// another program into it, and so are no entry's to set: the environment of an
// entry is that of clawai too. A name that ends with * stands for all that begin
// so. docs/wrap.md publishes this list.
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

// reservedFor says what a variable does to clawai; "" for one that is the server's own.
// Systems differ in whether the case of a name counts, so here it does not.
func reservedFor(name string) string {
	name = strings.ToUpper(name)
	for _, s := range reservedVariables {
		if start, open := strings.CutSuffix(s.name, "*"); name == s.name || open && strings.HasPrefix(name, start) {
			return s.what
		}
	}
	return ""
}

// checkVariables says which variables of an entry steer clawai. One that says what the
// environment says here anyway steers nothing. PATH does so only where it finds
// clawai itself.
func (pl Planner) checkVariables(e client.Entry, command string) (all []string) {
	for _, v := range e.Env {
		what := reservedFor(v.Name)
		if strings.EqualFold(v.Name, "PATH") && !filepath.IsAbs(command) {
			what = "says which clawai is started"
		}
		if what != "" && (pl.Getenv == nil || v.Value == "" || pl.Getenv(v.Name) != v.Value) {
			all = append(all, fmt.Sprintf("its environment sets %s, which %s", v.Name, what))
		}
	}
	return all
}

const nextVariables = "take it out, or give it to the server alone by the command: env NAME=value COMMAND"
