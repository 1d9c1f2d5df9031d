package policyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/clienttable"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/installed"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// LoadHere reads the policy in force in the current folder, with the layers above it.
func LoadHere(folders config.Folders) (*config.Loaded, error) {
	layers := base.LayersOf(folders)
	layers.Dir, _ = os.Getwd() // after an error there is no project
	return layers.Load(folders.PolicyFile(), PolicyOptions(folders.Home))
}

// FindFault returns the error if the policy of these folders does not load. In this case clawai
// refuses every call. FindFault returns nil if the policy loads, or if there is no policy file yet.
func FindFault(folders config.Folders) error {
	if _, err := os.Stat(folders.PolicyFile()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err := (&base.Files{Disk: disk.SystemDisk(), Packs: packs.Read}).Load(folders)
	return err
}

// Start describes how clawai starts a server.
type Start struct {
	Command []string
	Cage    *cage.Plan          // nil if neither the policy nor the client's file has a cage for the server
	Files   *installed.Manifest // the installation that is started instead of a launcher; nil if there is none
	// Passed is a text about an installation that is not used, because the command differs. It is
	// "" if the server has no such installation.
	Passed string
}

// CagedServer is a server that may need a cage.
type CagedServer struct {
	Name    string
	Command []string
	Dir     string // the folder in which the server starts; "" for the current folder
	// Client is the client's own sandbox in its entry, in the form of clienttable.Read. It is empty
	// if there is none.
	Client    []string
	Installed string // the folder of the installation; "" if the server is not installed
}

// PlanStart returns how clawai starts a server under the policy in force in the current folder.
// server.Command is the command in the client's entry.
func PlanStart(folders config.Folders, server CagedServer) (Start, error) {
	loaded, err := LoadHere(folders)
	if errors.Is(err, fs.ErrNotExist) {
		// There is no policy file yet, so the policy is empty.
		loaded, err = &config.Loaded{Policy: &policy.Policy{}, Path: folders.PolicyFile()}, nil
	}
	if err != nil {
		return Start{}, err
	}
	return PlanStartBy(loaded, folders, server)
}

// PlanStartBy returns how clawai starts a server under a policy, with the server's cage.
// server.Command is the command in the client's entry. If the server has an installation, clawai
// starts it instead of the launcher. It returns an error if the installed files have changed, or if
// the command asks for another version.
func PlanStartBy(loaded *config.Loaded, folders config.Folders, server CagedServer) (s Start, err error) {
	store := installed.NewStore(folders.State)
	if s.Files, err = CheckInstalled(store, server.Name, server.Command); err != nil {
		return s, err
	}
	if s.Files != nil {
		d, _ := servers.ParseDownload(server.Command)
		server.Command, server.Installed = store.Command(s.Files, d.Args), store.Folder(s.Files)
	}
	s.Command = server.Command
	if s.Cage, err = PlanCageBy(loaded, folders, server); err != nil || s.Files != nil {
		return s, err
	}
	named := false
	if s.Passed, named = DescribePassed(store, server.Name, server.Command); named && s.Cage != nil && s.Cage.Spec.Enforce {
		return s, fmt.Errorf("%s; write the entry as npx, or take the installation away: clawai sandbox install %s --remove", s.Passed, cmdline.Quote([]string{server.Name}))
	}
	return s, nil
}

// DescribePassed returns a text about an installation of the server that this command does not use,
// or "" if there is none. named is true if the command contains the package's name in a form that
// clawai cannot read. Such a command may start the package in a way that bypasses the installation.
func DescribePassed(store *installed.Store, server string, command []string) (text string, named bool) {
	if server == "" {
		return "", false
	}
	m, err := store.Load(server)
	d, read := servers.ParseDownload(command)
	switch {
	case err != nil && !read:
		return "what is installed of it is not used, and cannot be read: " + err.Error(), false
	case err != nil || m == nil || read && m.Matches(d):
		return "", false
	}
	if !read && namesPackage(command, m.Package) {
		return fmt.Sprintf("%s@%s is installed, and the entry starts %s by a command that clawai does not read", m.Package, m.Version, m.Package), true
	}
	return fmt.Sprintf("%s@%s is installed and not used: the entry starts another command", m.Package, m.Version), false
}

// namesPackage reports whether a command contains the name of a package in a form that a launcher
// accepts. A version may follow the name. The name may also be inside a text for a shell. If the
// command only has a path to a file of the package, namesPackage returns false.
func namesPackage(command []string, pkg string) bool {
	for _, word := range strings.FieldsFunc(strings.Join(command, " "), func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;&|()<>=$", r) }) {
		if word == pkg || strings.HasPrefix(word, pkg+"@") {
			return true
		}
	}
	return false
}

// FindInstalled returns the installation of a server. command is the command in the client's entry.
// It returns nil if there is no installation, or if the command names another package.
func FindInstalled(store *installed.Store, server string, command []string) (*installed.Manifest, error) {
	d, ok := servers.ParseDownload(command)
	if !ok || server == "" {
		return nil, nil //nolint:nilnil // nothing is installed
	}
	m, err := store.Load(server)
	if err == nil && m != nil {
		if !m.Matches(d) {
			return nil, nil //nolint:nilnil // the installation is of another package
		}
		err = m.CheckEntry(d)
	}
	if err != nil {
		return nil, adviseInstall(server, err)
	}
	return m, nil
}

// CheckInstalled is like FindInstalled, but also returns an error if the installed files were changed.
func CheckInstalled(store *installed.Store, server string, command []string) (*installed.Manifest, error) {
	m, err := FindInstalled(store, server, command)
	if err == nil && m != nil {
		if err = store.Check(m); err != nil {
			err = adviseInstall(server, err)
		}
	}
	return m, err
}

func adviseInstall(server string, err error) error {
	return fmt.Errorf("what is installed of %q cannot be used: %w; install it again: clawai sandbox install %s", server, err, cmdline.Quote([]string{server}))
}

// PlanCageBy returns the cage of a server, from the policy and from the client's file. It returns
// nil if neither has one.
func PlanCageBy(loaded *config.Loaded, folders config.Folders, s CagedServer) (*cage.Plan, error) {
	p := loaded.Policy
	if len(p.Cages(s.Name)) == 0 {
		if err := checkName(p, s.Name); err != nil || len(s.Client) == 0 {
			return nil, err
		}
	}
	self, err := cage.SelfFiles()
	if err != nil {
		return nil, err
	}
	o := cage.Options{
		Tables: p.Cages(s.Name), Command: s.Command, Dir: s.Dir, Home: folders.Home, Self: self, Others: writeOfOthers(p, s.Name), Installed: s.Installed,
		Own: append([]string{folders.Config, folders.State, filepath.Dir(config.OrgPolicy())}, loaded.Files()...),
	}
	if len(s.Client) > 0 {
		if o.Client, err = clienttable.Read(s.Client); err != nil {
			return nil, fmt.Errorf("the sandbox of its client: %w", err)
		}
	}
	plan, err := cage.NewPlan(o)
	switch {
	case err != nil && o.Client != nil && p.CageLevel(s.Name) <= policy.CageOff:
		return nil, fmt.Errorf("the sandbox of its client: %w", err)
	case err != nil && o.Client != nil:
		return nil, fmt.Errorf("[server.%s.sandbox] and the sandbox of its client: %w", s.Name, err)
	case err != nil:
		return nil, fmt.Errorf("[server.%s.sandbox]: %w", s.Name, err)
	}
	return plan, nil
}

// CagedServers returns the names of the servers that have a sandbox table in a policy or its
// layers.
func CagedServers(p *policy.Policy) (names []string) {
	for _, q := range append([]*policy.Policy{p}, p.Layers()...) {
		for _, t := range q.CageTables() {
			names = append(names, t.Server)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkName returns an error if the policy has an enforced cage that may be meant for this server.
// That is so if the server has no name, or if its name and the name in the policy differ only in
// upper and lower case.
func checkName(p *policy.Policy, server string) error {
	for _, name := range CagedServers(p) {
		switch {
		case p.CageLevel(name) != policy.CageEnforce:
		case server == "":
			return fmt.Errorf("the policy has [server.%s.sandbox], and this server has no name that could tell whether that is its own: start it with --server NAME", name)
		case strings.EqualFold(name, server):
			return fmt.Errorf("the policy has [server.%s.sandbox], and this server is called %q: write both alike (--server NAME)", name, server)
		}
	}
	return nil
}

// writeOfOthers returns the places where other servers with a cage may write.
func writeOfOthers(p *policy.Policy, server string) (places []string) {
	for _, name := range CagedServers(p) {
		if tables := p.Cages(name); name != server && p.CageLevel(name) > policy.CageOff {
			places = append(places, tables[0].Write...)
		}
	}
	return places
}
