package sandboxcmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/hosts"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/installed"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/stdio"
)

// npmWithin is the time limit for npm.
const npmWithin = 10 * time.Minute

// npmRun installs one package into an empty folder.
type npmRun struct {
	server  string
	folders config.Folders
	dir     string
	net     []string // hosts that npm may reach in addition to the registry
}

// installPackage installs the package with npm. npm runs in a cage that allows only the folder and
// the registry. The option --ignore-scripts stops npm from running scripts of packages. Programs
// that npm starts run in the same cage, for example git.
func (n *npmRun) installPackage(ctx context.Context, d servers.Download, version string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("there is no npm in PATH; install Node.js, or start the server without npx")
	}
	if err := os.WriteFile(filepath.Join(n.dir, "package.json"), []byte("{\"private\":true}\n"), 0o600); err != nil {
		return err
	}
	command, _ := d.InstallCommand(n.dir, version)
	plan, err := n.planCage(ctx, d, command)
	if err != nil {
		return err
	}
	said, err := os.Create(filepath.Join(n.dir, ".npm"))
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }()
	var refused []string
	told := make(chan hosts.Refusal, 16)
	ctx, cancel := context.WithTimeout(ctx, npmWithin)
	defer cancel()
	child, err := stdio.Start(stdio.Options{Args: command, Dir: n.dir, Stderr: said, Cage: plan, Refused: func(r hosts.Refusal) {
		select {
		case told <- r:
		default:
		}
	}})
	if err != nil {
		return err
	}
	if weaker := child.Cage().Weaker; len(weaker) > 0 {
		err = errors.New(weaker[0])
	}
	stop := context.AfterFunc(ctx, func() { _ = child.Close(ctx) })
	if err == nil {
		_, _ = io.Copy(said, io.LimitReader(child, maxSaid))
		select {
		case <-child.Done():
		case <-ctx.Done():
		}
	}
	stop()
	_ = child.Close(ctx)
	for len(told) > 0 {
		r := <-told
		refused = append(refused, r.Host+" ("+r.Reason+")")
	}
	switch {
	case err != nil:
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("npm has not ended within %v", npmWithin)
	case ctx.Err() != nil:
		return ctx.Err()
	case child.ExitCode() != 0:
		return describeFailure(said, child.ExitCode(), refused)
	}
	for _, name := range []string{".npm", ".cache"} {
		if err := os.RemoveAll(filepath.Join(n.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// maxSaid is the maximum size of npm's stored output, in bytes.
const maxSaid = 1 << 20

// describeFailure returns the error for a failure of npm. The text has the exit code, the first
// lines of npm's output, and the hosts that the cage has refused.
func describeFailure(said *os.File, code int, refused []string) error {
	text := make([]byte, 4096)
	length, _ := said.ReadAt(text, 0) // reads the open file, because another file may have this name now
	var lines []string
	for line := range strings.Lines(string(text[:length])) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "npm error"), "npm ERR!"))
		if line != "" && len(lines) < 3 {
			lines = append(lines, term.VisibleText(line))
		}
	}
	why := fmt.Sprintf("npm ended with %d: %s", code, strings.Join(lines, "; "))
	if len(refused) > 0 {
		slices.Sort(refused)
		why += fmt.Sprintf("; its sandbox did not let it reach %s: if that is right, give --net HOST", term.VisibleText(strings.Join(slices.Compact(refused), ", ")))
	}
	return errors.New(why)
}

// planCage returns the cage for npm. The cage allows the new folder, the owner's settings of npm,
// and the registries in these settings.
func (n *npmRun) planCage(ctx context.Context, d servers.Download, command []string) (*cage.Plan, error) {
	open := slices.Clone(n.net)
	env := []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"}
	registries, err := n.findRegistries(ctx, d.Package)
	if err != nil {
		return nil, err
	}
	open = append(open, registries...)
	if slices.Contains(open, policy.AnyHost) {
		open, env = []string{policy.AnyHost}, append(env, "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy")
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(strings.ToLower(name), "npm_config_") {
			env = append(env, name)
		}
	}
	table := policy.CageTable{Server: n.server, Level: policy.CageEnforce, Read: []string{}, Write: []string{n.dir}, Net: open, Env: env}
	if rc := filepath.Join(n.folders.Home, ".npmrc"); isFile(rc) {
		table.Read = append(table.Read, rc)
	}
	self, err := cage.SelfFiles()
	if err != nil {
		return nil, err
	}
	// Own lists folders of clawai that no table may open. A folder of clawai that contains the new
	// folder is left out of Own, because NewPlan would return an error. That folder stays closed
	// all the same, because the table opens only the new folder.
	dir, err := filepath.EvalSymlinks(n.dir)
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc([]string{n.folders.Config, filepath.Dir(config.OrgPolicy())}, func(folder string) bool {
		real, err := filepath.EvalSymlinks(folder)
		return err == nil && strings.HasPrefix(dir, strings.TrimSuffix(real, "/")+"/")
	})
	return cage.NewPlan(cage.Options{Tables: []policy.CageTable{table}, Command: command, Dir: n.dir, Home: n.folders.Home, Self: self, Own: own})
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// findRegistries returns the hosts of the registries in npm's settings: the general registry, and
// the registry for the scope of the package.
func (n *npmRun) findRegistries(ctx context.Context, pkg string) (open []string, err error) {
	for _, key := range []string{"registry", registryKey(pkg)} {
		if key == "" {
			continue
		}
		more, err := n.findRegistry(ctx, key)
		if err != nil {
			return nil, err
		}
		open = append(open, more...)
	}
	slices.Sort(open)
	return slices.Compact(open), nil
}

// registryKey returns the key in npm's settings for the registry of the package's scope, or "" if
// the package has no scope.
func registryKey(pkg string) string {
	scope, _, found := strings.Cut(pkg, "/")
	if !found || !strings.HasPrefix(scope, "@") {
		return ""
	}
	return scope + ":registry"
}

// findRegistry asks npm for the registry in its settings. It returns the registry in the form of a
// cage's list of hosts. It adds the addresses of the host, because the registry of a company may
// have a private address.
func (n *npmRun) findRegistry(ctx context.Context, key string) (open []string, err error) {
	cmd := exec.CommandContext(ctx, "npm", "config", "get", "--cache", filepath.Join(n.dir, ".cache"), "--logs-max=0", "--no-update-notifier", "--", key)
	cmd.Dir = n.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("npm does not say which registry it uses: %w", err)
	}
	text := strings.TrimSpace(string(out))
	if text == "undefined" || text == "null" || text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("npm's setting %s is %q, which is not an address", key, text)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	open = []string{net.JoinHostPort(u.Hostname(), port)}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return open, nil
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("npm's registry cannot be found: %w", err)
	}
	for _, addr := range all {
		open = append(open, netip.AddrPortFrom(addr.Unmap(), mustPort(port)).String())
	}
	return open, nil
}

func mustPort(text string) uint16 {
	p, err := netip.ParseAddrPort("0.0.0.0:" + text)
	if err != nil {
		return 0
	}
	return p.Port()
}

// maxText is the maximum size of the files in which a package describes itself, in bytes.
const maxText = 32 << 20

// describePackage returns the manifest of the package in a folder. All values come from the
// package, so describePackage accepts only values in the valid form. The result scripts has the
// names of the packages with install scripts.
func describePackage(dir string, d servers.Download) (m installed.Manifest, scripts []string, err error) {
	m = installed.Manifest{Launcher: d.Launcher, Package: d.Package, Asked: d.Version, Named: d.Program, Installed: time.Now().UTC().Format(time.DateOnly)}
	var lock struct {
		Packages map[string]struct {
			Version          string `json:"version"`
			Integrity        string `json:"integrity"`
			HasInstallScript bool   `json:"hasInstallScript"`
			Resolved         string `json:"resolved"`
			// InBundle is true if the package came inside its parent package. The digest of the
			// parent covers it.
			InBundle bool `json:"inBundle"`
			// Link is true for a symbolic link. Measure refuses a link that leaves the folder.
			Link bool `json:"link"`
		} `json:"packages"`
	}
	if err := readJSON(filepath.Join(dir, "package-lock.json"), &lock); err != nil {
		return m, nil, err
	}
	own := lock.Packages["node_modules/"+d.Package]
	m.Version, m.Integrity = own.Version, own.Integrity
	if !servers.IsExactVersion(m.Version) {
		return m, nil, fmt.Errorf("its version %s is not one that npm knows", term.VisibleValue(m.Version))
	}
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[path]
		// A package from git has no digest, because git verifies the files by the commit.
		fromGit := strings.HasPrefix(p.Resolved, "git") && strings.Contains(p.Resolved, "#")
		if path != "" && p.Integrity == "" && !p.InBundle && !p.Link && !fromGit {
			return m, nil, fmt.Errorf("its registry gives no digest of %s, so nothing shows that it arrived as it is there; use a registry that does, or start the server by npx (clawai sandbox propose NAME --launcher)", term.VisibleValue(strings.TrimPrefix(path, "node_modules/")))
		}
		if p.HasInstallScript {
			scripts = append(scripts, term.VisibleText(strings.TrimPrefix(path, "node_modules/")))
		}
	}
	slices.Sort(scripts)
	root := filepath.Join(dir, "node_modules", filepath.FromSlash(d.Package))
	var about struct {
		Bin json.RawMessage `json:"bin"`
	}
	if err := readJSON(filepath.Join(root, "package.json"), &about); err != nil {
		return m, nil, err
	}
	bin, err := readBin(about.Bin, d.Package)
	if err != nil {
		return m, nil, err
	}
	script, ok := bin.FindProgram(d.Package, d.Program)
	if !ok {
		return m, nil, errors.New("npx would not know which program of the package to run")
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(script)))
	if err != nil {
		return m, nil, fmt.Errorf("its program is not there: %w", err)
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return m, nil, err
	}
	if !strings.HasPrefix(real, realRoot+"/") || !isFile(real) {
		return m, nil, fmt.Errorf("its program %s is not a file of the package", term.VisibleValue(script))
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return m, nil, err
	}
	if m.Script, err = filepath.Rel(realDir, real); err != nil {
		return m, nil, err
	}
	if m.Options, err = readOptions(real); err != nil {
		return m, nil, err
	}
	m.Runner, err = exec.LookPath("node")
	if err == nil {
		m.Runner, err = filepath.Abs(m.Runner)
	}
	return m, scripts, err
}

func readJSON(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("npm has installed no such package: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := json.NewDecoder(io.LimitReader(f, maxText)).Decode(into); err != nil {
		return fmt.Errorf("%s cannot be read: %w", filepath.Base(path), err)
	}
	return nil
}

// readBin reads the member bin of a package. The member is one path, or several paths by name.
func readBin(src json.RawMessage, pkg string) (servers.Bin, error) {
	var one string
	if json.Unmarshal(src, &one) == nil {
		return servers.Bin{filepath.Base(pkg): one}, nil
	}
	var several servers.Bin
	if err := json.Unmarshal(src, &several); err != nil || len(several) == 0 {
		return nil, errors.New("the package has no program")
	}
	return several, nil
}

// readOptions returns the options for node in the first line of a script. If the script is for
// another program, it returns an error, because its first line could name any file on this machine.
func readOptions(script string) (options []string, err error) {
	f, err := os.Open(script)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	line, _ := bufio.NewReader(io.LimitReader(f, 512)).ReadBytes('\n')
	text, found := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(text))
	if len(words) > 0 && filepath.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
	}
	if !found || len(words) == 0 || filepath.Base(words[0]) != "node" {
		return nil, fmt.Errorf("its program is not one for node: its first line is %s", term.VisibleValue(strings.TrimSpace(string(line))))
	}
	return words[1:], installed.CheckOptions(words[1:])
}
