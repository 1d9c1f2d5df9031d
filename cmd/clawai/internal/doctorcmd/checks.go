package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/logcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/access"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/wrap"
)

// check is one of the checks that clawai doctor makes. The function look makes the check and
// returns the results.
type check struct {
	name string
	look func(*machine) []finding
}

// checks lists the checks of doctor in the order of its output. A new check needs a function below
// and a line here. A check must not leave a file behind.
var checks = []check{
	{"program", checkProgram},
	{"system", checkSystem},
	{"environment", checkEnvironment},
	{"folders", checkFolders},
	{"policy", checkPolicy},
	{"layers", checkLayers},
	{"centre", checkCentre},
	{"sandbox", checkSandboxes},
	{"state", checkState},
	{"record", checkRecord},
	{"asking", checkAsking},
	{"remote", checkRemote},
	{"wrappers", checkWrappers},
	{"hooks", checkHooks},
	{"models", checkModels},
	{"rules", checkRules},
	{"calls", checkCalls},
	{"flow", checkLeaks},
}

// machine has the data that all checks use.
type machine struct {
	ctx        context.Context
	folders    config.Folders
	foldersErr error
	hooks      bool // true with --hooks: check only the hooks, in detail
}

func healthyFinding(format string, a ...any) []finding {
	return []finding{{Health: healthy, Text: fmt.Sprintf(format, a...)}}
}

func checkProgram(*machine) []finding {
	name := "clawai " + cmdline.ReleaseVersion()
	switch p := wrap.FindProgram(); {
	case p.Err != nil:
		return []finding{{Health: doubtful, Text: name + ", which clients cannot be given", Fix: p.Err.Error()}}
	case p.Path != "":
		return healthyFinding("%s at %s", name, p.Path)
	}
	return healthyFinding("%s", name)
}

func checkSystem(*machine) []finding {
	where := fmt.Sprintf("%s/%s, %s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	if runtime.GOOS == "windows" {
		return []finding{{Health: doubtful, Text: where + "; tested under Wine (proxy, queue, console, clients' files), and on no Windows itself",
			Fix: "see docs/systems.md for what was run where"}}
	}
	return healthyFinding("%s", where)
}

// variables lists the environment variables that change the behaviour of clawai.
var variables = []string{
	"CLAWAI_CONFIG_DIR", "CLAWAI_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AppData", "LocalAppData",
	"HOME", "TERM", "CLAWAI_ACCESSIBLE",
	"CLAWAI_ASK", "CLAWAI_ASK_TIMEOUT", "CLAWAI_ASK_NOBODY", "CLAWAI_ASK_PER_MINUTE", "CLAWAI_ASK_AT_ONCE", "CLAWAI_ASK_NOTIFY", "CLAWAI_KEYCHAIN", "TMUX", "NO_COLOR", "GOMAXPROCS",
}

func checkEnvironment(*machine) []finding {
	var set []string
	for _, name := range variables {
		windows := strings.HasSuffix(name, "AppData")
		if value, ok := os.LookupEnv(name); ok && (!windows || runtime.GOOS == "windows") {
			set = append(set, name+"="+cmdline.Quote([]string{value}))
		}
	}
	if len(set) == 0 {
		return healthyFinding("no variable that matters is set")
	}
	return healthyFinding("%s", strings.Join(set, " "))
}

func checkFolders(p *machine) []finding {
	if p.foldersErr != nil {
		return []finding{{Health: broken, Text: p.foldersErr.Error(),
			Fix: "set HOME, or CLAWAI_CONFIG_DIR and CLAWAI_STATE_DIR, to absolute paths where the client starts clawai"}}
	}
	return healthyFinding("configuration in %s, state in %s", p.folders.Config, p.folders.State)
}

func checkPolicy(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	path := p.folders.PolicyFile()
	loaded, err := config.LoadPolicyFor(path, policyfile.PolicyOptions(p.folders.Home))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{{Health: broken, Text: "there is no policy at " + path + ", so no server is started",
			Fix: firstPolicy()}}
	case err != nil:
		return []finding{{Health: broken, Text: strings.TrimPrefix(err.Error(), "policy ") + "; no server is started with it",
			Fix: policyFix(err)}}
	}
	text := fmt.Sprintf("%s: %s, revision %s", path, policyfile.CountRules(loaded.Policy), loaded.Policy.Revision())
	if len(loaded.Policy.Rules()) == 0 {
		return []finding{{Health: doubtful, Text: text, Fix: "add rules (docs/policy.md), or: clawai policy init --profile NAME --force"}}
	}
	all := healthyFinding("%s", text)
	if older := policyfile.ListOlderProfiles(path, loaded.Source); len(older) > 0 {
		all = append(all, finding{Health: healthy, Text: fmt.Sprintf("it keeps an older text of %s, as it was pinned; to see what this clawai's would change: clawai policy update", strings.Join(older, ", "))})
	}
	return all
}

// firstPolicy returns the command that writes a policy here. If the clients' files cannot be looked
// at, another check says so.
func firstPolicy() string {
	f, err := wrapcmd.FindServers()
	if err != nil {
		return "clawai init"
	}
	return f.FirstPolicyCommand()
}

// policyFix returns the advice to the owner of a policy that does not load.
func policyFix(err error) string {
	if strings.Contains(err.Error(), base.UpdateAdvice) {
		return "clawai policy update"
	}
	return "correct the file, or start over with: clawai policy init --profile NAME --force"
}

// checkLayers shows the layers that apply above the owner's policy in the current folder.
func checkLayers(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	layers := base.LayersOf(p.folders)
	layers.Dir, _ = os.Getwd() // after an error, no project layer applies
	above, notes, err := layers.LoadAbove(policyfile.PolicyOptions(p.folders.Home))
	if err != nil {
		return []finding{{Health: broken, Text: err.Error() + "; no server is started",
			Fix: "correct the file, or ask whoever put it there (docs/layers.md)"}}
	}
	var all []finding
	for _, note := range notes {
		all = append(all, finding{Health: doubtful, Text: note, Fix: "clawai policy trust"})
	}
	for _, layer := range above {
		all = append(all, healthyFinding("the %s's %s tightens it: %s", layer.LayerName(), layer.FileName(), policyfile.CountRules(layer))...)
	}
	if len(all) == 0 {
		return healthyFinding("no other policy applies here")
	}
	return all
}

// checkCentre returns findings about this laptop's enrolment at a team's centre. It returns nothing
// if the laptop is not enrolled.
func checkCentre(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	s := enrolment.FindStanding(p.folders.State, time.Now())
	if s == nil {
		return nil
	}
	all := healthyFinding("%s", strings.Join(s.Describe(), "; "))
	for _, doubt := range s.Doubts {
		f := finding{Health: doubtful, Text: doubt, Fix: "clawai enroll sync, or to leave the centre: clawai unenroll"}
		if s.Broken {
			f.Health = broken
		}
		all = append(all, f)
	}
	return all
}

// checkState checks the state folder with the checks of the proxy. It does not create the folder.
func checkState(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	dir := p.folders.State
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return healthyFinding("%s is not there yet; the first session makes it", dir)
	}
	if err == nil {
		err = config.PrivateFolder(dir)
	}
	if err == nil {
		err = checkWritable(dir)
	}
	if err != nil {
		return []finding{{Health: broken, Text: err.Error() + "; without a record every call is refused",
			Fix: "make " + dir + " a folder that you alone can write, or name another with CLAWAI_STATE_DIR"}}
	}
	if runtime.GOOS == "windows" {
		if err := access.CheckOpen(dir, info); err != nil {
			text, fix, _ := strings.Cut(err.Error(), "; run: ")
			return []finding{{Health: doubtful, Text: text, Fix: fix}}
		}
	} else if info.Mode().Perm()&0o077 != 0 {
		return []finding{{Health: doubtful, Text: fmt.Sprintf("%s can be looked into by other users (mode %04o)", dir, info.Mode().Perm()),
			Fix: "chmod go-rwx " + cmdline.Quote([]string{dir})}}
	}
	return healthyFinding("%s is writable, by you alone", dir)
}

func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func checkRecord(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	report, err := audit.Verify(filepath.Join(p.folders.State, "audit"), "", audit.Retention{})
	switch {
	case err != nil:
		return []finding{{Health: broken, Text: "the record cannot be read: " + err.Error(), Fix: "clawai log verify"}}
	case !report.IsIntact():
		return []finding{{Health: broken, Text: fmt.Sprintf("the record is not what clawai wrote: %s, the first in %s", cmdline.CountText(len(report.Findings), "1 finding", "%d findings"), logcmd.FindingText(report.Findings[0])),
			Fix: "look at all of them with: clawai log verify; keep a copy of the folder, then move it away to begin a new record"}}
	case report.Segments == 0:
		return healthyFinding("no records yet")
	}
	return healthyFinding("intact: %s in %s, %d bytes", cmdline.CountText(int(report.Records), "1 record", "%d records"), cmdline.CountText(report.Segments, "1 file", "%d files"), report.Bytes)
}
