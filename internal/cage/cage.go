package cage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/cage/clienttable"
	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/hostlist"
)

// Plan is the cage of one server.
type Plan struct {
	Level policy.CageLevel
	Spec  confine.Spec
	// The proxy of the cage connects only to Hosts. Doors[i] is the target of Spec.Doors[i].
	Hosts hostlist.List
	Doors []hostlist.Target
	// The proxy never connects to NotHosts, even if Hosts contains them.
	NotHosts hostlist.List
	Client   bool // the plan includes the sandbox from the client's file
	// Unshut are places in open folders that should stay shut, but do not exist yet. If the server
	// makes such a place later, the place is open.
	Unshut []string
	Notes  []string // notes for the owner about the table, for example places that do not exist
}

// Options is the input of NewPlan.
type Options struct {
	Tables  []policy.CageTable // the server's tables, a result of policy.Cages
	Client  *clienttable.Table // the sandbox from the client's file; nil: the file has none
	Command []string           // the server's command
	Dir     string             // the server's working folder; "": the folder of this process
	Home    string
	Own     []string // clawai's folders and files: no table opens them
	Self    []string // clawai's programs: no table opens them for writing
	// Installed is the folder into which clawai installed the server's program
	// (internal/state/installed); "" for none. The server may read the folder. But links and
	// scripts in the folder open no other place, because strangers wrote them.
	Installed string
	// Others are places that other servers in cages may write. Links in these places are never
	// followed. ${cwd} in Others means Dir.
	Others []string

	mounts []mount // the mounts of the system; nil: NewPlan reads them
}

// variables are the names of the variables that every server gets. These variables hold no secrets.
var variables = strings.Fields("PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME")

// NewPlan returns the cage that the tables describe. It returns nil if no table switches a cage on
// and the client's file has no sandbox. It returns an error if this machine cannot enforce a table.
func NewPlan(o Options) (*Plan, error) {
	p := &planner{Options: o}
	for _, t := range o.Tables {
		p.plan.Level = max(p.plan.Level, t.Level)
	}
	if p.plan.Level <= policy.CageOff && o.Client == nil {
		return nil, nil //nolint:nilnil // no cage
	}
	go func() { secretGlobs(); laterGlobs() }() // built in the background, because they are needed last
	p.system = resolveExisting(confine.System)
	var err error
	if p.mounts == nil {
		if p.mounts, err = readMounts(); err != nil {
			return nil, fmt.Errorf("clawai cannot tell what is mounted where: %w", err)
		}
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	if p.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if p.Home, err = filepath.EvalSymlinks(o.Home); err != nil {
		return nil, err
	}
	if o.Installed != "" {
		if p.Installed, err = filepath.EvalSymlinks(o.Installed); err != nil {
			return nil, err
		}
	}
	p.planClient()
	p.plan.Spec = confine.Spec{Enforce: p.plan.Level == policy.CageEnforce, Forks: true, Network: true}
	for _, read := range []func() error{p.readPlaces, p.readRest, p.openInstalled, p.openProgram, p.hidePlaces, p.shutPlaces} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return &p.plan, nil
}

// planner makes one plan.
type planner struct {
	Options
	plan Plan
	// fixed are the places that the client's table forbids to write.
	fixed []place
	// made are the folders that this server or another caged server may write. Links in these
	// folders may come from such a server.
	made []string
	// system are the places of confine.System that exist. Every server may read them.
	system []string
	// needs are the files and folders that the program needs to run.
	needs []string
}

// place is a place of a table, with its links resolved.
type place struct {
	written string // the place as the table spells it
	path    string
}

// readPlaces resolves the places in the keys read and write of the policy's table, and narrows them by
// the tables of the layers.
func (p *planner) readPlaces() error {
	var reads, writes []place
	for i, t := range p.Tables {
		r, err := p.resolveAll(t.Read)
		if err != nil {
			return err
		}
		w, err := p.resolveAll(t.Write)
		if err != nil {
			return err
		}
		if i == 0 {
			reads, writes = r, w
			continue
		}
		if t.Read != nil {
			reads, writes = narrow(reads, append(r, w...)), narrow(writes, append(r, w...))
		}
		if t.Write != nil {
			reads, writes = append(reads, dropBelow(writes, w)...), narrow(writes, w)
		}
	}
	writes, denied, fixed, err := p.denyWrites(writes)
	if err != nil {
		return err
	}
	reads, p.fixed = append(reads, denied...), fixed
	for _, home := range append([]string{p.Home}, p.aliasesOf(p.Home)...) {
		if at := slices.IndexFunc(writes, func(w place) bool { return contains(w.path, home) }); at >= 0 {
			return fmt.Errorf("write has %s, which is or holds your home folder; name the folders in it", writes[at].written)
		}
	}
	p.made = pathsOf(writes)
	if p.Installed != "" {
		p.made = append(p.made, p.Installed)
	}
	for _, text := range p.Others {
		if real, err := filepath.EvalSymlinks(p.expand(text)); err == nil {
			p.made = append(p.made, real)
		}
	}
	for _, one := range slices.Concat(reads, writes, fixed) {
		if link := findLink(p.expand(one.written), p.made); link != "" {
			return fmt.Errorf("%s leads through %s, a link in a folder that the server may write, or another one with a sandbox: it may lead anywhere tomorrow", one.written, link)
		}
	}
	self := slices.Clone(p.Self)
	for _, file := range p.Self {
		self = append(self, p.aliasesOf(file)...)
	}
	for _, file := range self {
		if at := slices.IndexFunc(writes, func(w place) bool { return contains(w.path, file) }); at >= 0 {
			return fmt.Errorf("write has %s, and clawai's own program lies there (%s); name a narrower folder, or put clawai elsewhere", writes[at].written, file)
		}
	}
	for _, r := range reads {
		if !isBelow(r.path, pathsOf(writes)) {
			p.plan.Spec.Read = append(p.plan.Spec.Read, r.path)
		} else if at := slices.IndexFunc(writes, func(w place) bool { return w.path != r.path && contains(w.path, r.path) }); at >= 0 {
			p.note("read has %s, which lies in %s of write: it may be written, too", r.written, writes[at].written)
		}
	}
	p.plan.Spec.Write = pathsOf(writes)
	return nil
}

func (p *planner) resolveAll(written []string) ([]place, error) {
	return p.resolve(written, func(text, _ string) { p.note("%s is not there; make it before the server starts", text) })
}

// resolveShut resolves places that must stay shut. Only a file or folder that exists can be shut,
// because a mount must cover it. The server could later make a missing place in an open folder. So
// resolveShut lists missing places in Unshut.
func (p *planner) resolveShut(written []string) ([]place, error) {
	return p.resolve(written, func(text, path string) {
		if isBelow(existingFolder(path), slices.Concat(p.plan.Spec.Read, p.plan.Spec.Write, p.system)) {
			p.plan.Unshut = append(p.plan.Unshut, text)
			p.note("%s is to stay shut and is not there: if it is made while the server runs, it is open until the next start; make it before", text)
		}
	})
}

func (p *planner) resolve(written []string, missing func(text, path string)) (all []place, err error) {
	for _, text := range written {
		path := p.expand(text)
		real, err := filepath.EvalSymlinks(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing(text, path)
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		all = append(all, place{text, real})
	}
	return all, nil
}

func (p *planner) note(format string, a ...any) {
	if text := fmt.Sprintf(format, a...); !slices.Contains(p.plan.Notes, text) {
		p.plan.Notes = append(p.plan.Notes, text)
	}
}

// expand returns a place of a table as an absolute path: it replaces ${cwd} and ~.
func (p *planner) expand(text string) string {
	if rest, found := strings.CutPrefix(text, "${cwd}"); found {
		return filepath.Join(p.Dir, rest)
	}
	if rest, found := strings.CutPrefix(text, "~"); found {
		return filepath.Join(p.Home, rest)
	}
	return filepath.Clean(text)
}

// findLink resolves path, and returns the first symbolic link on the way that lies in one of the
// folders; "" for none. It also resolves the targets of links.
func findLink(path string, folders []string) string {
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		to, err := os.Readlink(next)
		switch {
		case err != nil:
			at = next
			continue
		case isBelow(at, folders):
			return next
		case filepath.IsAbs(to):
			at = "/"
		}
		links++
		rest = append(strings.Split(to, "/"), rest...)
	}
	return ""
}

// maxLinks is Linux's limit of links on one path.
const maxLinks = 40

// readRest reads the keys net, exec and env.
func (p *planner) readRest() error {
	s := &p.plan.Spec
	for i, t := range p.Tables {
		if i == 0 || t.Net != nil {
			if err := p.narrowNetwork(t.Net); err != nil {
				return err
			}
		}
		if i == 0 || t.Exec != policy.Unsaid {
			s.Forks = s.Forks && t.Exec != policy.No
		}
		switch {
		case i == 0:
			s.Env = append(slices.Clone(variables), t.Env...)
		case t.Env != nil:
			s.Env = slices.DeleteFunc(s.Env, func(name string) bool { return !slices.Contains(variables, name) && !slices.Contains(t.Env, name) })
		}
	}
	return p.denyHosts()
}

// hidePlaces applies the key hide of all tables. It also makes a place read-only if the client's
// table forbids to write it. It must run after all steps that open a place.
func (p *planner) hidePlaces() error {
	for _, t := range p.Tables {
		for _, text := range t.Hide {
			if link := findLink(p.expand(text), p.made); link != "" {
				return fmt.Errorf("%s is to stay shut and leads through %s, a link in a folder that the server may write, or another one with a sandbox: it may be gone tomorrow; write the place that it leads to", text, link)
			}
		}
		hidden, err := p.resolveShut(t.Hide)
		if err != nil {
			return err
		}
		for _, h := range hidden {
			if err := p.hide(h.path, h.written); err != nil {
				return err
			}
		}
	}
	for _, f := range p.fixed {
		p.fix(f.path)
	}
	return nil
}

// narrowNetwork removes the hosts that a table does not open.
func (p *planner) narrowNetwork(net []string) error {
	s := &p.plan.Spec
	if slices.Contains(net, policy.AnyHost) {
		return nil
	}
	hosts, err := hostlist.ParseList(net)
	if err != nil {
		return err
	}
	if !s.Network {
		hosts = p.plan.Hosts.Narrow(hosts)
	}
	s.Network, s.Hosts, p.plan.Hosts = false, len(hosts) > 0, hosts
	return nil
}

// maxDoors is the largest number of doors of a cage. Further hosts are reached only through the proxy.
const maxDoors = 100

// makeDoors adds doors for the names and the loopback IPv4 addresses in the list of hosts, one for each
// port. A door is an address in the server's own network that leads to that host and port.
func (p *planner) makeDoors() {
	addresses := map[string]string{"localhost": "127.0.0.1"}
	for _, e := range p.plan.Hosts {
		address, known := addresses[e.Name]
		switch {
		case e.Below, e.Addr.IsValid() && !(e.Addr.IsLoopback() && e.Addr.Is4()):
			continue
		case e.Addr.IsValid():
			address = e.Addr.String()
		case !known:
			address = fmt.Sprintf("127.77.0.%d", len(addresses))
			addresses[e.Name] = address
		}
		for _, port := range e.Ports() {
			taken := slices.ContainsFunc(p.plan.Spec.Doors, func(d confine.Door) bool { return d.Address == address && d.Port == port })
			if taken || len(p.plan.Doors) == maxDoors {
				continue
			}
			if p.plan.NotHosts.Covers(hostlist.Target{Name: e.Name, Addr: e.Addr, Port: port}) {
				continue
			}
			name := e.Name
			if name == "localhost" {
				name = ""
			}
			p.plan.Spec.Doors = append(p.plan.Spec.Doors, confine.Door{Name: name, Address: address, Port: port})
			p.plan.Doors = append(p.plan.Doors, hostlist.Target{Name: e.Name, Addr: e.Addr, Port: port})
		}
	}
}

// hide shuts a place under every path that shows the place, because bind mounts can show one folder
// at several paths.
func (p *planner) hide(path, written string) error {
	for _, at := range p.everyPathOf(path) {
		if err := p.hideOne(at, written); err != nil {
			return err
		}
	}
	return nil
}

// hideOne shuts a path if the path is open, lies in an open place, or contains an open place. If
// the folder in which the server was installed lies in the path, that folder stays open.
func (p *planner) hideOne(path, written string) error {
	s := &p.plan.Spec
	inInstalled := p.Installed != "" && contains(p.Installed, path)
	open := slices.Concat(s.Read, s.Write, p.system)
	holdsSystem := slices.ContainsFunc(p.system, func(o string) bool { return contains(path, o) })
	if !isBelow(path, open) && !holdsSystem || isBelow(path, s.Hide) && !inInstalled {
		return nil
	}
	around := p.Installed != "" && contains(path, p.Installed) && !inInstalled
	for _, o := range slices.Concat(s.Read, s.Write, p.needs) {
		switch {
		case !contains(path, o) || around && contains(p.Installed, o):
		case slices.Contains(p.needs, o):
			return fmt.Errorf("%s stays shut, and the server does not run without %s in it; name narrower places to hide, or put one of the two elsewhere", written, o)
		default:
			return fmt.Errorf("%s stays shut, and %s in it is to be open; name that alone, or not at all", written, o)
		}
	}
	if around {
		s.Back = []string{p.Installed}
	}
	s.Hide = slices.DeleteFunc(s.Hide, func(h string) bool { return contains(path, h) && !(around && contains(p.Installed, h)) })
	s.Hide = append(s.Hide, path)
	return nil
}

// resolveExisting returns the paths that exist, with their links resolved. It resolves each parent
// folder only once.
func resolveExisting(paths []string) (all []string) {
	folders := map[string]string{}
	for _, path := range paths {
		above, name := filepath.Split(path)
		folder, known := folders[above]
		if !known {
			folder, _ = filepath.EvalSymlinks(above)
			folders[above] = folder
		}
		real := filepath.Join(folder, name)
		info, err := os.Lstat(real)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			real, err = filepath.EvalSymlinks(real)
		}
		if err == nil && folder != "" && !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// narrow returns the places that both lists open.
func narrow(all, by []place) (both []place) {
	for _, a := range all {
		if isBelow(a.path, pathsOf(by)) {
			both = append(both, a)
			continue
		}
		for _, b := range by {
			if contains(a.path, b.path) {
				both = append(both, b)
			}
		}
	}
	return both
}

// dropBelow returns the places in the list all, except those that are in the list others or lie below a
// place in that list.
func dropBelow(all, others []place) (rest []place) {
	for _, a := range all {
		if !isBelow(a.path, pathsOf(others)) {
			rest = append(rest, a)
		}
	}
	return rest
}

func pathsOf(all []place) (paths []string) {
	for _, one := range all {
		if !slices.Contains(paths, one.path) {
			paths = append(paths, one.path)
		}
	}
	return paths
}

// contains reports whether a path is the given place, or lies in it.
func contains(place, path string) bool {
	return path == place || place == "/" || strings.HasPrefix(path, place+"/")
}

// isBelow reports whether a path is one of the places, or lies in one.
func isBelow(path string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return contains(place, path) })
}
