package sandboxcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/internal/cage/hosts"
	"github.com/clawai/clawai/internal/check/traced"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/listing"
)

// tryWithin is the time limit for starting a server and reading its lists.
const tryWithin = 30 * time.Second

// trial has the results of two starts of a server. free is the start without a sandbox, and caged
// is the start in the sandbox.
type trial struct {
	free, caged       listing.List
	freeErr, cagedErr error
	seen              *traced.Seen // nil if strace is not installed or has seen nothing
	refused           []hosts.Refusal
}

func runTry(c *cli.Context) error {
	t, err := findTarget(c)
	if err != nil {
		return err
	}
	proposed := !t.isCaged()
	plan, err := t.planCage(proposed)
	if err != nil {
		return err
	}
	say := func(format string, a ...any) {
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s\n", term.VisibleText(fmt.Sprintf(format, a...)))
	}
	if proposed {
		say("The policy has no sandbox for %s, so this one is tried:", t.name)
		say("")
		fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), t.table.Text())
	}
	done := cmdline.ShowProgress("Starting " + t.name + " without and in its sandbox")
	defer done()
	r := t.tryServer(c.Context, plan)
	done()
	openings := t.describeTrial(r, plan, say)
	for _, o := range openings {
		if key := clientKeys[o.Key]; len(t.sandbox) > 0 && key != "" {
			say("In its client's file, the sandbox of %s would need: %s %s", t.name, key, o.Value)
		}
	}
	switch {
	case len(openings) == 0 && !proposed:
		return nil
	case len(t.loaded.Policy.Cages(t.name)) == 0 && !proposed:
		say("Then: clawai wrap, and try it again.")
		return nil
	case proposed:
		say("To write this table: clawai %s", cmdline.Quote(append([]string{"sandbox", "propose", t.name, "--write"}, t.commandWords(c)...)))
		if len(openings) > 0 {
			say("and then, to open what it needs beside: clawai %s", cmdline.Quote(openCommand(t.name, openings)))
		}
		return nil
	}
	return policycmd.WriteSandbox(c, t.name, "", openings, openCommand(t.name, openings))
}

// clientKeys maps each key of a table to the rules in a client's sandbox that have the same effect.
var clientKeys = map[string]string{"write": "filesystem.allowWrite", "net": "network.allowedDomains", "read": "filesystem.denyRead without"}

// isCaged reports whether the policy or the client's file has a sandbox for the server.
func (t *target) isCaged() bool {
	return len(t.sandbox) > 0 || len(t.loaded.Policy.Cages(t.name)) > 0
}

// planCage returns the cage for the server in the policy. If proposed is true, it returns the cage
// of the proposed table.
func (t *target) planCage(proposed bool) (*cage.Plan, error) {
	return t.planCageOf(t.started, t.program, proposed)
}

// planCageOf is like planCage, but for another command that starts the server. program is the
// folder of clawai that contains the command's program, or "".
func (t *target) planCageOf(command []string, program string, proposed bool) (*cage.Plan, error) {
	loaded := *t.loaded
	if proposed {
		text := t.table.Text()
		p, err := policy.Parse("proposed.toml", []byte(text), policy.Options{Home: t.folders.Home, Above: t.loaded.Policy.Layers()})
		if err != nil {
			return nil, fmt.Errorf("no policy could hold the table: %w", err)
		}
		loaded.Policy = p
	}
	if slices.ContainsFunc(t.sandbox, func(rule string) bool { return strings.Contains(rule, "${") }) {
		return nil, errors.New("its client's sandbox has places that only the client fills in, so it cannot be built here; clawai log has how the last start was shut in")
	}
	plan, err := policyfile.PlanCageBy(&loaded, t.folders, policyfile.CagedServer{Name: t.name, Command: command, Installed: program, Client: t.sandbox})
	switch {
	case err != nil || plan != nil:
	case t.isSwitchedOff():
		err = errOff
	default:
		err = errNoTable
	}
	return plan, err
}

// tryServer starts the server twice: first without a sandbox, and then in the sandbox that the
// parameter plan describes.
func (t *target) tryServer(ctx context.Context, plan *cage.Plan) (r trial) {
	r.free, r.seen, r.freeErr = t.tryFree(ctx)
	var mu sync.Mutex
	r.caged, r.cagedErr = listing.ListServer(ctx, listing.Options{Args: t.started, Env: t.env, Cage: plan, Within: tryWithin, Refused: func(one hosts.Refusal) {
		mu.Lock()
		defer mu.Unlock()
		r.refused = append(r.refused, one)
	}})
	mu.Lock() // the proxy of the cage may still call Refused
	defer mu.Unlock()
	return r
}

// tryFree starts the server as a client would. If strace is installed, the server runs under
// strace.
func (t *target) tryFree(ctx context.Context) (list listing.List, seen *traced.Seen, err error) {
	strace, missing := exec.LookPath("strace")
	dir, err := os.MkdirTemp("", "clawai-try")
	if err != nil {
		return list, nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := t.started
	if missing == nil {
		args = append([]string{strace, "-ff", "-qq", "-s", "4096", "-e", "trace=" + traced.Calls, "-e", "signal=none", "-o", filepath.Join(dir, "t"), "--"}, t.started...)
	}
	list, err = listing.ListServer(ctx, listing.Options{Args: args, Env: t.env, Within: tryWithin})
	var text strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "t.*"))
	for _, file := range files {
		one, _ := os.ReadFile(file)
		text.Write(one)
	}
	if text.Len() == 0 { // strace is missing, or the system forbids it
		if missing == nil && err != nil {
			list, err = listing.ListServer(ctx, listing.Options{Args: t.started, Env: t.env, Within: tryWithin})
		}
		return list, nil, err
	}
	folder, _ := os.Getwd()
	all := traced.Read(text.String(), folder)
	return list, &all, err
}

// describeTrial prints the result of a trial. It returns the openings that the table lacks.
func (t *target) describeTrial(r trial, plan *cage.Plan, say func(string, ...any)) (openings []policycmd.Opening) {
	add := func(key, value, format string, a ...any) {
		say("  "+format, a...)
		if o := (policycmd.Opening{Key: key, Value: value}); value != "" && !slices.Contains(openings, o) {
			openings = append(openings, o)
		}
	}
	switch {
	case r.freeErr != nil && r.cagedErr != nil:
		say("It does not list anything, in a sandbox or without: %v", r.freeErr)
	case r.cagedErr != nil:
		say("It does not start in the sandbox: %v", r.cagedErr)
	case r.freeErr != nil:
		say("Without the sandbox it lists nothing: %v", r.freeErr)
	case sameLists(&r.free, &r.caged):
		say("In the sandbox it lists the same %s as without.", cmdline.CountText(len(r.free.Tools), "1 tool", "%d tools"))
	default:
		say("In the sandbox it lists other things than without: %d tools, not %d.", len(r.caged.Tools), len(r.free.Tools))
	}
	for _, one := range r.refused {
		add("net", one.Host, "it asked for the host %s", one.Host)
	}
	if r.seen == nil {
		say("What it touches was not seen: that needs strace (on Debian: apt install strace).")
		return openings
	}
	for _, list := range []struct {
		key        string
		paths      []string
		open, shut []string
	}{
		{"write", r.seen.Written, append(slices.Clone(plan.Spec.Write), "/dev", confine.TempFolder), append(slices.Clone(plan.Spec.Hide), plan.Spec.Fixed...)},
		{"read", r.seen.Read, slices.Concat(confine.System, plan.Spec.Read, plan.Spec.Write, []string{"/dev", "/sys"}), plan.Spec.Hide},
	} {
		for _, place := range gatherPlaces(list.paths, list.open, list.shut, t.folders) {
			if textclass.NamesShut(place) || textclass.NamesShut(place+"/") {
				add("", "", "it used %s, which stays shut; if it needs that: clawai sandbox open %s --%s %s", place, t.name, list.key, place)
				continue
			}
			add(list.key, shortenPath(place, t.folders.Home), "it used %s (%s)", shortenPath(place, t.folders.Home), list.key)
		}
	}
	if !plan.Spec.Network {
		for _, host := range r.seen.Hosts {
			add("", "", "it connected to %s, by this address; name the host in net if it needs it", host)
		}
	}
	for _, socket := range r.seen.Sockets {
		add("", "", "it connected to the socket %s, which no sandbox opens", socket)
	}
	return openings
}

// gatherPlaces returns the paths that the cage does not open: the paths that are in none of the
// open places, and the paths inside a shut place. If three or more of these paths are in one
// folder, it returns the folder instead of them.
func gatherPlaces(paths, open, shut []string, folders config.Folders) (places []string) {
	const several = 3
	count := map[string]int{}
	var closed []string
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			real = path
		}
		below := func(place string) bool {
			return real == place || strings.HasPrefix(real, strings.TrimSuffix(place, "/")+"/")
		}
		if slices.ContainsFunc(open, below) && !slices.ContainsFunc(shut, below) || real == "/" || below(os.TempDir()) || below(folders.Config) || below(folders.State) {
			continue
		}
		closed = append(closed, real)
		count[filepath.Dir(real)]++
	}
	for _, path := range closed {
		if parent := filepath.Dir(path); count[parent] >= several && parent != folders.Home && !strings.HasPrefix(folders.Home, parent+"/") && parent != "/" {
			path = parent
		}
		if !slices.Contains(places, path) {
			places = append(places, path)
		}
	}
	return places
}

func shortenPath(path, home string) string {
	if rest, found := strings.CutPrefix(path, home+"/"); found {
		return "~/" + rest
	}
	return path
}

// sameLists reports whether the server sent the same lists in both starts, byte by byte.
func sameLists(a, b *listing.List) bool {
	return fmt.Sprint(a.Version, a.Instructions, bytesOf(a)) == fmt.Sprint(b.Version, b.Instructions, bytesOf(b))
}

func bytesOf(l *listing.List) (all []string) {
	for _, v := range slices.Concat(l.Tools, l.Prompts, l.Templates) {
		all = append(all, string(v.Bytes()))
	}
	return all
}
