package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/clawai/clawai/policy"
)

// Layers names the policies above the owner's policy. These policies can only deny more than the
// owner's policy. The zero value names no policy.
type Layers struct {
	// Org are the organisation's files. A file need not exist. If a file exists and cannot be used,
	// loading fails.
	Org []string
	// Lapse returns another layer of the organisation, which is in force only at some times. It is
	// nil if there is no such layer.
	Lapse func() (Lapse, error)
	// Dir is the folder in which the client started us. State is the folder in which clawai stores
	// the projects that the owner trusts. If Dir or State is "", there is no project.
	Dir, State string
	// More are the files that the command line names; each must exist.
	More []string
}

// Lapse is a layer that is in force only while a condition is true, for example while the centre
// cannot be reached. Its text is in no file.
type Lapse struct {
	Path  string // the name that positions of the layer's rules show instead of a file name
	Text  []byte // policy text; nil if the layer is not in force now
	Watch string // a file whose change may begin or end the layer; "" if only time can begin or end it
}

// OrgPolicy returns the path of an organisation's policy on this system.
func OrgPolicy() string { return orgPolicy(runtime.GOOS, os.Getenv) }

func orgPolicy(goos string, getenv func(string) string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/clawai/policy.toml"
	case "windows":
		if dir := getenv("ProgramData"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "clawai", "policy.toml")
		}
		return `C:\ProgramData\clawai\policy.toml`
	}
	return "/etc/clawai/policy.toml"
}

// layerStack holds the layers as they were read from their files.
type layerStack struct {
	sources   []layer
	paths     []resolvedPath
	notes     []string      // messages for the owner about layers
	confirmed confirmations // nil before loadConfirmations
}

// project is the name of the layer for a project's policy that the owner has trusted.
const project = "project"

// layer holds the name, the file and the text in force of one layer.
type layer struct {
	name, path string
	src        []byte
	packs      packTexts
	lapse      bool           // the layer is a Lapse, so it may end without the owner's confirmation
	rules      *policy.Policy // nil before the layer is compiled
}

// layersDigest returns a digest of the texts of all layers and their packs.
func (s *layerStack) layersDigest() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, l := range s.sources {
		fmt.Fprintf(h, "%q %q %x %q\n", l.name, l.path, sha256.Sum256(l.src), l.packs)
	}
	h.Sum(sum[:0])
	return sum
}

// readLayers reads every existing layer. It resolves all paths with w, which checks each folder
// only once. Even after an error, s.paths has the paths that were read.
func (l Layers) readLayers(w *walk) (s layerStack, err error) {
	add := func(name, path string, src []byte) {
		l := layer{name: name, path: path, src: src}
		if name != project { // a project's policy has no packs
			var t resolvedPath
			l.packs, t = readPacks(path, src)
			s.paths = append(s.paths, t)
		}
		s.sources = append(s.sources, l)
	}
	for _, path := range l.Org {
		src, t, err := w.readPolicyFile(path)
		s.paths = append(s.paths, t)
		switch {
		case err == nil:
			add("organisation", path, src)
		case !errors.Is(err, fs.ErrNotExist):
			// The error may be that another user owns a folder of the path. If the file does not
			// exist, the owner of the folder does not matter.
			if _, missing := os.Stat(path); !errors.Is(missing, fs.ErrNotExist) {
				return s, fmt.Errorf("the organisation's policy cannot be used: %w", err)
			}
		}
	}
	if l.Lapse != nil {
		lapse, err := l.Lapse()
		if lapse.Watch != "" {
			s.paths = append(s.paths, resolvedPath{entries: []string{lapse.Watch}})
		}
		if err != nil {
			return s, err
		}
		if lapse.Text != nil {
			s.sources = append(s.sources, layer{name: "organisation", path: lapse.Path, src: lapse.Text, lapse: true})
		}
	}
	for _, path := range l.More {
		src, t, err := w.readPolicyFile(path)
		s.paths = append(s.paths, t)
		if err != nil {
			return s, err
		}
		add("layer", path, src)
	}
	if l.Dir != "" && l.State != "" {
		trust, t, err := w.readTrust(l.State)
		s.paths = append(s.paths, t) // the text in force is in trust.json, so a change of the project's file cannot change it
		if err != nil {
			return s, err
		}
		for _, p := range projectsOf(trust, l.Dir) {
			if p.Trusted != nil {
				add(project, p.Path, p.Trusted)
			}
			if note := p.noteText(); note != "" {
				s.notes = append(s.notes, note)
			}
		}
	}
	return s, nil
}

// LoadAbove reads only the layers, and the notes about them for the owner.
func (l Layers) LoadAbove(o policy.Options) (above []*policy.Policy, notes []string, err error) {
	s, err := l.readLayers(new(walk))
	if err != nil {
		return nil, nil, err
	}
	o, err = s.compileOptions(o)
	return o.Above, s.notes, err
}

// compileOptions compiles the layers and returns the options of a policy below them.
func (s *layerStack) compileOptions(o policy.Options) (policy.Options, error) {
	o.Above = nil
	for i := range s.sources {
		l := &s.sources[i]
		if l.rules == nil {
			if err := l.compileRules(o); err != nil {
				return o, err
			}
		}
		o.Above = append(o.Above, l.rules)
	}
	return o, nil
}

func (l *layer) compileRules(o policy.Options) (err error) {
	o.Layer, o.Above = l.name, nil
	if l.name == project {
		o.Pack = nil // a project's policy has no packs, because packs are not part of the trusted text
	}
	if l.rules, err = policy.Parse(l.path, l.src, o); err != nil {
		return brokenError(l.path, err)
	}
	return nil
}
