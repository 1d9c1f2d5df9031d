package reading

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/internal/effort"
)

// BaseWord at the beginning of a glob means the folder at which relative paths start:
// ${cwd}/**.
const BaseWord = "${cwd}"

// FromBase reports whether a glob begins with BaseWord.
func FromBase(glob string) bool {
	rest, found := strings.CutPrefix(glob, BaseWord)
	return found && (rest == "" || rest[0] == '/')
}

// Base is the folder at which the relative paths of a call start. A nil Base means that the
// folder is not known.
type Base struct {
	Dir     string     // absolute, clean, with slashes; "" is the root
	effects Transforms // the stages that can change Dir
	// Doubtful means that relative paths may start at another folder, because the server, its
	// client or the call itself names one. Then the place of a relative path is uncertain: an allow
	// does not match the place, but a deny does.
	Doubtful bool

	home    string // the folder that ~ stands for
	windows bool
}

// NewBase returns the Base of a folder. The folder may begin with ~. NewBase returns nil if the
// folder is not an absolute path, or if its text does not show where the path leads.
func NewBase(dir, home string, windows bool) *Base {
	dir = strings.ReplaceAll(dir, `\`, "/")
	if windows {
		if dir = WindowsForm(dir); hiddenPlaceReason(dir) != "" || !hasDriveRoot(dir) && !strings.HasPrefix(dir, "~") {
			return nil
		}
	}
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		dir = expandHome(dir, home)
	}
	rooted := strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir, "//") || HasDrive(dir) && len(dir) > 2 && dir[2] == '/'
	if !rooted || !utf8.ValidString(dir) || unreadableReason(dir) != "" || leadsAnywhere(dir) {
		return nil
	}
	b := &Base{Dir: strings.TrimSuffix(path.Clean(dir), "/"), home: home, windows: windows}
	for _, stage := range []Transforms{composed, compat, folded} {
		if transformStage(b.Dir, stage, "") != b.Dir {
			b.effects |= stage
		}
	}
	return b
}

// FolderPath returns the folder as an absolute path; "" if it is not known.
func (b *Base) FolderPath() string {
	if b == nil {
		return ""
	}
	return cmp.Or(b.Dir, "/")
}

// IsNamedBy reports whether a text names the folder in every reading. A text with ".." does not:
// behind a link, ".." leads to another folder than the text shows.
func (b *Base) IsNamedBy(dir string) bool {
	if dir == "." || dir == "./" {
		return true
	}
	to := NewBase(dir, b.home, b.windows)
	return to != nil && to.Dir == b.Dir && !strings.Contains(dir, "..")
}

// SetBase sets the folder at which the reading starts if the reading is a relative path.
func (r *Reading) SetBase(b *Base) { r.Base, r.DoubtfulBase = b.FolderPath(), b != nil && b.Doubtful }

// IsWorkFolder reports whether an argument with this name, in any spelling, gives the folder in
// which a tool works.
func IsWorkFolder(name string) bool {
	const longest = len("currentworkingdirectory")
	var plain [longest]byte
	n := 0
	for i := range len(name) {
		if name[i] == '_' || name[i] == '-' {
			continue
		}
		if n == longest {
			return false
		}
		plain[n] = LowerByte(name[i])
		n++
	}
	switch string(plain[:n]) {
	case "cwd", "chdir", "workdir", "workingdir", "workingdirectory", "currentdir", "currentdirectory", "currentworkingdirectory":
		return true
	}
	return false
}

// Place is the absolute place to which a value leads, if the value is a relative path (from a Base)
// or a file: URI.
type Place struct {
	Text       string // absolute and clean; with a slash at the end if the value has one
	Local      string // Text with BaseWord instead of the base folder; "" for a place outside the base folder
	Transforms Transforms
	Doubtful   bool // the value may not be a path (an option, a remote file), or may start at another folder
	Own        bool // the value is a whole path, so only globs with BaseWord use this place
}

// AddPlaces adds to each reading the places to which the reading leads. It adds each place as it is
// and in the other spellings of the base. local means that a glob has BaseWord; then whole paths
// get a place, too.
func (rd *Reader) AddPlaces(rs []Reading, b *Base, local bool, left *effort.Left) {
	for i := range rs {
		r := &rs[i]
		r.SetBase(b)
		switch climbs := r.Text == ".." || strings.HasPrefix(r.Text, "../"); {
		case r.Kind != Ordinary:
		case IsFile(r.Text):
			if path := plainFile(r.Text); path != "" {
				b.addPlace(r, Place{Text: path}, left)
			}
		case b == nil:
		case r.Relative || climbs:
			b.addPlace(r, Place{Text: b.Dir + "/" + r.Text, Doubtful: b.Doubtful || hasOddStart(r.Text)}, left)
		case local && r.Rooted && r.Text != "" && (r.Text[0] == '/' || r.Text[0] == '~' || HasDrive(r.Text)):
			b.addPlace(r, Place{Text: expandHome(r.Text, rd.Home), Own: true}, left)
		}
	}
}

// plainFile returns the path of a file: URI that all programs read in the same way. It returns ""
// if the URI has a query, a fragment, or a host other than localhost.
func plainFile(s string) string {
	rest, found := strings.CutPrefix(s[5:], "//")
	if host := "localhost/"; found && len(rest) > len(host) && strings.EqualFold(rest[:len(host)], host) {
		rest = rest[len(host)-1:]
	}
	if !found || !strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "//") || strings.ContainsAny(rest, `?#\`) {
		return ""
	}
	return filePath(rest)
}

// addPlace adds a place to a reading, also in the other spellings of b.
func (b *Base) addPlace(r *Reading, p Place, left *effort.Left) {
	text, more := p.Text, Transforms(0)
	if b != nil {
		more = b.effects &^ r.Transforms
	}
	clean := path.Clean(text)
	if strings.HasSuffix(text, "/") && clean != "/" {
		clean += "/"
	}
	for _, h := range []Transforms{0, more} {
		if h == 0 && len(r.Places) > 0 {
			continue
		}
		left.Spend(len(text) + wideEffort)
		p.Transforms = h | r.Transforms
		p.Text, p.Local = applyFolderStages(clean, p.Transforms), ""
		if b != nil {
			p.Local = b.localGlob(p.Text, p.Transforms)
		}
		r.Places = append(r.Places, p)
	}
}

// localGlob returns a path with BaseWord instead of b, if the path is b or lies below b; "" for
// other paths.
func (b *Base) localGlob(text string, h Transforms) string {
	rest, found := strings.CutPrefix(text, applyFolderStages(b.Dir, h))
	if !found || rest != "" && rest[0] != '/' {
		return ""
	}
	return BaseWord + rest
}

// applyFolderStages applies those stages of h that concern folders.
func applyFolderStages(s string, h Transforms) string {
	for _, stage := range []Transforms{decoded, composed, compat, folded} {
		for n := 0; h&stage != 0 && (n == 0 || stage == decoded && n < maxDecodings); n++ {
			s = transformStage(s, stage, "")
		}
	}
	return s
}

// hasOddStart reports whether a relative path begins like an option, a remote file, a list of
// arguments, a quoted text or a pipe.
func hasOddStart(s string) bool {
	first, _, _ := strings.Cut(s, "/")
	return strings.IndexByte("-@!:&|<>=;`\"' ", s[0]) >= 0 || strings.IndexByte(first, ':') >= 0
}

// RootlessPath returns the path in a text, without the path's root: a relative path, the rest of a
// path at a home, or the path of a file: URI. It returns "" for other texts, and for a text that
// programs could read in different ways.
func RootlessPath(s string) string {
	switch {
	case s == "" || len(s) > 1<<12 || unreadableReason(s) != "":
		return ""
	case IsFile(s):
		_, path, _ := splitValue(s)
		return path
	case s[0] == '~':
		_, rest, _ := strings.Cut(s, "/")
		return rest
	case !isRelative(s) || hasOddStart(s):
		return ""
	}
	return strings.TrimPrefix(s, "./")
}
