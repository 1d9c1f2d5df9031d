package flow

import (
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/policy/where/shell"
)

// placeName is the name by which a file is recognized: the place on this machine to which its path
// leads. If a server's folder is not known, the name is the server's name and the server's own name
// for the file. A placeName is in lower case, because some disks ignore case.
type placeName string

// maxPlace is longer than any path, in bytes.
const maxPlace = 4 << 10

// locatePlace returns the place to which a path leads. A relative path starts at base.
func locatePlace(base, text string) (leads string, known bool) {
	text = strings.TrimSpace(text)
	if uri, is := cutScheme(text); is {
		text = uri
	}
	home, _ := os.UserHomeDir()
	if rest, is := strings.CutPrefix(base, "~/"); is {
		base = home + "/" + rest
	}
	if text == "" || len(text) > maxPlace {
		return "", false
	}
	if _, leads, known = disk.LocatePath(text, home, base, disk.SystemDisk()); !known {
		leads = filepath.ToSlash(text)
		if rest, is := strings.CutPrefix(leads, "~/"); is {
			leads = home + "/" + rest
		} else if !path.IsAbs(leads) && !hasDrive(leads) {
			if base == "" {
				return "", false
			}
			leads = filepath.ToSlash(base) + "/" + leads
		}
		leads = path.Clean(leads)
	}
	return leads, true
}

// cutScheme returns the path in an address that begins with "file:".
func cutScheme(text string) (path string, is bool) {
	if len(text) < 5 || !strings.EqualFold(text[:5], "file:") {
		return "", false
	}
	path = text[5:]
	if host, is := strings.CutPrefix(path, "//"); is {
		path = host[max(strings.IndexByte(host, '/'), 0):]
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // for example /C:/x of file:///C:/x
	}
	return path, true
}

func foldPlace(text string) placeName { return placeName(strings.ToLower(norm.NFC.String(text))) }

// foldersAround returns the folders around a place.
func (n placeName) foldersAround() (all []string) {
	if strings.IndexByte(string(n), 0) >= 0 {
		return nil // this file belongs to a server (see placeName), and the folders around it are not known
	}
	for at := range len(n) {
		if n[at] == '/' {
			all = append(all, string(n[:max(at, 1)]))
		}
	}
	return all
}

// touched holds the files that a call may read and write.
type touched struct {
	reading
	writes []placeName
	texts  []string // the texts that the call may write into the files
}

func (t *touched) addRead(base, text string) {
	if leads, known := locatePlace(base, text); known {
		t.files, t.onDisk = append(t.files, foldPlace(leads)), append(t.onDisk, leads)
	}
}

func (t *touched) addFolder(base, text string) {
	if leads, known := locatePlace(base, text); known {
		t.folders = append(t.folders, foldPlace(leads))
	}
}

func (t *touched) addWrite(base, text string) {
	if leads, known := locatePlace(base, text); known && !isFolder(leads) {
		t.writes = append(t.writes, foldPlace(leads))
	}
}

func isFolder(leads string) bool {
	info, err := os.Stat(leads)
	return err == nil && info.IsDir()
}

// filesOf returns the files that a call names.
func (s *ServerLabels) filesOf(p *policy.Policy, c *policy.Call) (t touched) {
	switch {
	case c.Method == builtin.Method && len(c.Names) > 0:
		if tool := builtin.FindTool(c.Server, c.Names[0]); tool.Class != "" {
			t.addOwnFiles(tool, c)
			return t
		}
		s.addNamedFiles(p, c, &t)
	case c.Subject == policy.ToolSubject && len(c.Names) > 0:
		s.addNamedFiles(p, c, &t)
	case c.Subject == policy.ResourceSubject:
		for _, uri := range c.Names {
			if _, is := cutScheme(strings.TrimSpace(uri)); is {
				t.addRead("", uri)
			}
		}
	}
	return t
}

// addOwnFiles adds the files of one of the agent's own tools.
func (t *touched) addOwnFiles(tool builtin.Tool, c *policy.Call) {
	places, _ := sharedTexts(tool, c, "path")
	switch tool.Class {
	case "read":
		for _, place := range places {
			if at := strings.IndexAny(place, "*?["); at >= 0 { // wildcards: the folder holds every file that the path can match
				t.addFolder(c.Cwd, path.Dir(place[:at]+"x"))
			}
			t.addRead(c.Cwd, place)
		}
	case "search":
		if !tool.ShowsContent() {
			return
		}
		for _, place := range places {
			t.addRead(c.Cwd, place)
			t.addFolder(c.Cwd, place)
		}
	case "write":
		for _, place := range places {
			t.addWrite(c.Cwd, place)
		}
		t.texts = writtenTexts(c)
	case "shell":
		base := c.Cwd
		if folders, _ := sharedTexts(tool, c, "cwd"); len(folders) > 0 {
			if leads, known := locatePlace(base, folders[0]); known {
				base = leads
			}
		}
		commands, _ := sharedTexts(tool, c, "command")
		for _, command := range commands {
			f := shell.FilesOf(command)
			for _, name := range f.Reads {
				t.addRead(base, name)
			}
			for _, name := range f.Folders {
				t.addFolder(base, name)
			}
			for _, name := range f.Writes {
				for _, one := range expandBraces(name) {
					t.addWrite(base, one)
				}
			}
		}
	}
}

// addNamedFiles adds the files that the arguments of a server's tool name. The meaning of these
// arguments is not known. So addNamedFiles takes the value of an argument for a file if it has the
// form of a path, or if the argument's name is usual for files.
func (s *ServerLabels) addNamedFiles(p *policy.Policy, c *policy.Call, t *touched) {
	writes := s.mayWrite(c)
	for key, value := range jsonscan.ValueOf(c.Args).Members() {
		value.VisitLeaves(func(name string, leaf jsonscan.Value) {
			if leaf.Kind() != jsonscan.String || len(leaf) > maxPlace {
				return
			}
			if name == "" {
				name = key.Text()
			}
			text := leaf.Text()
			if !isPlace(name, text) {
				return
			}
			add := func(place placeName) {
				if t.files = append(t.files, place); writes && !namesFolder(name) {
					t.writes = append(t.writes, place)
				}
			}
			if !isRooted(text) {
				if traits, _, _ := s.traitsOf(p, c); c.Cwd == "" || traits.PublicSink == policy.Yes { // the path is relative to an unknown folder, or to the server's service
					server, _ := s.callServer(c)
					add(foldPlace(server + "\x00" + path.Clean(filepath.ToSlash(text))))
					return
				}
			}
			if leads, known := locatePlace(c.Cwd, text); known && !isFolder(leads) {
				add(foldPlace(leads))
			}
		})
	}
	if len(t.writes) > 0 {
		t.texts = writtenTexts(c)
	}
}

// namesFolder reports whether an argument with this name holds a folder.
func namesFolder(name string) bool {
	name = strings.ToLower(strings.TrimRight(name, "s"))
	for _, ending := range [...]string{"dir", "directory", "directorie", "folder", "cwd", "root", "repo_path", "repopath"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// mayWrite reports whether a server's tool may write files.
func (s *ServerLabels) mayWrite(c *policy.Call) bool {
	if c.Assurances&policy.ReadOnly != 0 {
		return false
	}
	if _, known := s.callServer(c); known != nil && known.effects[c.Names[0]] != "" {
		return known.effects[c.Names[0]] != "read"
	}
	return !textclass.OnlyTells(textclass.SplitWords(c.Names[0]))
}

// isPlace reports whether an argument names a file.
func isPlace(name, text string) bool {
	if text == "" || strings.ContainsAny(text, "\n\r") {
		return false
	}
	if isRooted(text) {
		return true
	}
	return strings.ContainsAny(text, "./") && !strings.Contains(text, "://") && !strings.Contains(text, "@") &&
		(builtin.NamesPlace(name) || slices.Contains(placeArguments[:], strings.ToLower(name)))
}

// placeArguments are names of arguments in tools that copy or move a file.
var placeArguments = [...]string{"source", "destination", "src", "dst", "dest"}

func isRooted(text string) bool {
	if _, is := cutScheme(text); is {
		return true
	}
	for _, lead := range [...]string{"/", "./", "../", "~/", `\\`, `.\`, `..\`} {
		if strings.HasPrefix(text, lead) {
			return true
		}
	}
	return len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
}

// writtenTexts returns the texts of a call. It leaves out the texts that the call replaces, because
// they were in the file before.
func writtenTexts(c *policy.Call) (all []string) {
	jsonscan.ValueOf(c.Args).VisitLeaves(func(name string, leaf jsonscan.Value) {
		if leaf.Kind() == jsonscan.String && !strings.HasPrefix(strings.ToLower(name), "old") {
			all = append(all, leaf.Text())
		}
	})
	return all
}

// Limits for reading files in order to recognize copies: the number of files, and the bytes of each
// file.
const (
	maxCopies = 16
	maxCopy   = 256 << 10
)

// readCopies returns the beginnings of files.
func readCopies(files []string) (texts []string) {
	for _, file := range files[:min(len(files), maxCopies)] {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, maxCopy))
		if _ = f.Close(); err == nil {
			texts = append(texts, string(text))
		}
	}
	return texts
}

// passFiles passes labels before a call is made. The session gets the labels of the files that the
// call may read. The files that the call may write get the labels of the session.
func (s *ServerLabels) passFiles(p *policy.Policy, c *policy.Call) error {
	t := s.filesOf(p, c)
	if len(t.files)+len(t.folders)+len(t.writes) == 0 {
		return nil
	}
	if found := s.session.unknownLabels(s.session.written.findLabels(&t.reading)); len(found) > 0 {
		own := c.Method == builtin.Method
		if !own && len(c.Names) > 0 {
			s.named.Store(strings.Clone(c.Server+"\x00"+c.Names[0]), found)
		}
		if err := s.keepSeen(found, own); err != nil {
			return err
		}
	}
	if len(t.writes) == 0 {
		return nil
	}
	seen, err := s.session.labelsFor(t.texts)
	if err != nil {
		return err
	}
	for _, l := range s.callLabels(p, c) { // the call itself may bring data, as in curl … > notes.md
		seen = append(seen, Seen{Kind: l.Kind, Source: l.Source})
	}
	if len(seen) == 0 {
		return nil
	}
	return s.session.written.keepFiles(t.writes, t.texts, seen)
}

// keepSeen adds the labels of files to the session. If the parameter own is true, one of the
// agent's own tools reads the files. The texts that such a tool reads never pass here, so
// afterwards every text counts as marked. The texts of other tools are marked when they arrive.
func (s *ServerLabels) keepSeen(found []Seen, own bool) error {
	if !own {
		return s.session.Add(found)
	}
	all := make([]gate.Label, len(found))
	for i, one := range found {
		all[i] = gate.Label{Kind: one.Kind, Source: one.Source}
	}
	return s.keepLabels(all, nil, false)
}

// repliedLabels returns the labels of the files that a call has named, and of files whose copy is
// in the reply. If the arguments of a long call were not kept, it returns the labels that passFiles
// has stored for the tool.
func (s *ServerLabels) repliedLabels(p *policy.Policy, c *policy.Call, message []byte) (all []gate.Label) {
	if c.Method == builtin.Method || !s.session.written.exists() {
		return nil
	}
	t := s.filesOf(p, c)
	var found []Seen
	switch {
	case len(t.files)+len(t.folders) > 0:
		t.message = string(message)
		found = s.session.written.findLabels(&t.reading)
	case len(c.Args) == 0 && len(c.Names) > 0:
		if before, has := s.named.Load(c.Server + "\x00" + c.Names[0]); has {
			found, _ = before.([]Seen)
		}
	}
	for _, one := range found {
		source := fileSource + strings.TrimPrefix(one.Source, fileSource)
		if !s.session.hasSource(one.Kind, strings.TrimPrefix(one.Source, fileSource)) && !slices.Contains(all, gate.Label{Kind: one.Kind, Source: source}) {
			all = append(all, gate.Label{Kind: one.Kind, Source: source})
		}
	}
	return all
}
