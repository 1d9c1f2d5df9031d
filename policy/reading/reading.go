package reading

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/where"
)

// Reading is one way in which a server could understand a value.
type Reading struct {
	Text       string // the text that is compared with patterns
	Raw        string // the value as sent
	Transforms Transforms
	Kind       Purpose

	Type   where.Kind // JSON type of the value
	Whole  where.Kind // JSON type of the whole argument, which may be a list or an object that holds the value
	Within string     // the text of the call whose JSON holds the value; "" for a value of the call itself

	unfolded string // Text before case folding; "" if Text was not folded
	// Text without its last slash or without its fragment: compared with a pattern if Text does not
	// match.
	Unslashed string
	Normal    string // for a web URL: Text with scheme, host and root in one form; also compared with patterns
	Refusal   string // for a refused reading: the reason; else ""
	// Only patterns about paths are compared with Text; the value may be text, so other patterns
	// are compared with Raw.
	PathOnly bool
	// The value is a path only because of ".."; patterns with blanks, such as commands, are
	// compared with Raw.
	Climbs bool
	Recast bool // Text is in the Windows form of paths (WindowsForm), but the value may not be a path
	AsForm bool // Text is the value as sent, in the Windows form and otherwise unchanged

	// UnknownBase: the path starts at an unknown place. Relative: it starts at the server's working
	// directory. Rooted: it starts at a root.
	UnknownBase, Relative, Rooted bool

	Base   string  // the folder at which relative paths start; "" if it is not known
	Places []Place // the places to which the path leads from Base
	// DoubtfulBase is the field Doubtful of the type Base, for the folder Base.
	DoubtfulBase bool
}

// DiskPath returns the text of a reading as a path of a disk. It keeps the case of letters, because
// the disk decides whether letter case matters.
func (r *Reading) DiskPath() string {
	text := cmp.Or(r.unfolded, r.Text)
	if IsFile(text) {
		return cmp.Or(plainFile(text), text)
	}
	return text
}

// Purpose tells how a reading is matched.
type Purpose uint8

// The values of Purpose.
const (
	Ordinary Purpose = iota
	Absent           // matches nothing: the value is null, an empty list or a missing member
	Refused          // never matches an allow, and always matches a deny or a prompt
)

const (
	maxValue = 1 << 20 // largest size of one value, in bytes; a longer value is refused
	// Largest number of readings of one value; a value with more is refused. The number is 64
	// because the walk keeps a set of readings in one uint64.
	maxReadings = 64
	maxWork     = 4 << 20 // largest size of all readings of one value together, in bytes
)

// Reader reads the values of one argument name.
type Reader struct {
	Home    string     // the owner's home, for ~; "" if it is not known
	Effects Transforms // the transformations that change at least one pattern on the name
	Paths   bool       // at least one pattern on the name is about paths
	URIs    bool       // the values are URIs, not file names
	Windows bool       // the server runs on Windows; Home and the compared texts are in the Windows form
}

// Read appends the readings of a value to rs. A value has at least one reading. Read refuses the
// value if the readings take more effort than is left.
func (rd *Reader) Read(rs []Reading, v string, fold *CaseFolder, left *effort.Left) []Reading {
	if len(v) > maxValue {
		return append(rs, Reading{Text: v[:64], Raw: v[:64], Kind: Refused, Refusal: "value longer than 1 MiB"})
	}
	shape := shapeOf(v)
	path := shape&hasNUL == 0 && pathLike(v, shape)
	if shape&hasNUL != 0 {
		rs = append(rs, Reading{Text: v, Raw: v, Kind: Refused, Refusal: "NUL in a value"})
	}
	switch {
	case shape&hasBreak != 0:
		return rd.readLines(rs, v, path, fold, left)
	case shape&unplain != 0 && isBlankedURL(v):
		return rd.readBlanked(rs, v, fold, left)
	case !path && !rd.Paths:
		return append(rs, Reading{Text: v, Raw: v})
	case rd.Windows && v != "":
		return rd.readWindows(rs, v, Reading{Raw: v, PathOnly: !path, Climbs: path && shape&hasSpace != 0 && !StartsLikePath(v)}, left)
	case shape&unplain == 0:
		return rd.readPlain(rs, Reading{Text: v, Raw: v, PathOnly: !path}, shape, fold)
	}
	climbs := path && shape&hasSpace != 0 && !StartsLikePath(v)
	return rd.readPath(rs, Reading{Text: v, Raw: v, PathOnly: !path, Climbs: climbs}, left)
}

// CaseFolder folds ASCII texts into one buffer, without an allocation for each text. Reset makes
// all earlier results invalid, because the buffer is then overwritten.
type CaseFolder struct{ room []byte }

// Reset reuses the buffer for the readings of the next call.
func (f *CaseFolder) Reset() { f.room = f.room[:0] }

func (f *CaseFolder) foldASCII(s string) string {
	start := len(f.room)
	f.room = slices.Grow(f.room, len(s))
	for i := 0; i < len(s); i++ {
		f.room = append(f.room, LowerByte(s[i]))
	}
	return unsafe.String(&f.room[start], len(s))
}

// readPlain does what readPath does, for a value that no stage except folding can change.
func (rd *Reader) readPlain(rs []Reading, r Reading, shape shape, fold *CaseFolder) []Reading {
	r.Rooted = r.Text != "" && r.Text[0] == '/'
	r.Relative = !r.Rooted && r.Text != ""
	if mayLeadAnywhere(r.Text) && leadsAnywhere(r.Text) {
		rs = append(rs, r)
		r.PathOnly = true
		return append(rs, refusedFor(r, refusedLink))
	}
	free := rd.Effects
	if shape&hasUpper != 0 {
		free &^= folded
	}
	rs = append(rs, r)
	if free != 0 {
		rs = append(rs, r)
		rs[len(rs)-1].Transforms = free
	}
	if shape&hasUpper == 0 {
		return rs
	}
	f := r
	f.Text, f.Transforms, f.unfolded = fold.foldASCII(r.Text), folded, r.Text
	rs = append(rs, f)
	if free != 0 {
		f.Transforms |= free
		rs = append(rs, f)
	}
	return rs
}

// readPath applies the stages to a value in order. Each stage is applied or left out, and each new
// result is kept as a reading. A stage that does not change the value may still change a pattern.
// Then the same text is also kept as a reading with this stage.
func (rd *Reader) readPath(rs []Reading, r Reading, left *effort.Left) []Reading {
	first := len(rs)
	rs = append(rs, r)
	free := []Transforms{0}
	var why string
	text := false // a value that is refused as a path may be a text that begins like one
	for _, stage := range stages {
		for i, n := 0, len(rs)-first; i < n; i++ {
			before := rs[first+i]
			if payStage(left, before.Text, stage); *left <= 0 {
				return append(rs[:first+1], refusedFor(r, effort.TooMuch))
			}
			if stage == Located {
				before.addWebForms(rd.Home)
				rs[first+i] = before
			}
			after, reason := rd.applyStage(before, stage)
			if reason != "" {
				why = reason
			}
			if len(after) == 0 {
				free[i] |= stage
			}
			for _, a := range after {
				rs, free = append(rs, a), append(free, free[i])
			}
			if len(rs)-first >= maxReadings/2 {
				return append(rs[:first+1], refusedFor(r, "value that can be read in too many ways"))
			}
		}
	}
	for i, n := 0, len(rs)-first; i < n; i++ {
		at := &rs[first+i]
		at.findRoot(rd)
		if why == "" {
			why, text = unreadableAs(at.Text)
		}
		if why == "" && rd.Windows {
			why, text = hiddenPlaceReason(at.Text), true
		}
		if twin := *at; free[i]&rd.Effects != 0 {
			twin.Transforms |= free[i] & rd.Effects
			rs = append(rs, twin)
		}
	}
	if len(r.Text)*(len(rs)-first) > maxWork {
		why, text, rs = "value that can be read in too many ways", false, rs[:first+1]
	}
	if why != "" {
		r.PathOnly = r.PathOnly || text
		rs = append(rs, refusedFor(r, why))
	}
	return rs
}

// addWebForms sets the additional texts that are compared for a web URL.
func (r *Reading) addWebForms(home string) {
	if isWeb(r.Text) {
		r.Normal = addRootSlash(locatePlace(r.Text, home))
		r.Unslashed = withoutFragment(r.Text)
	}
}

func refusedFor(r Reading, why string) Reading {
	r.Kind, r.Refusal = Refused, why
	return r
}

// applyStage applies one stage to a reading. It returns the new readings, and a reason if the value
// must be refused.
func (rd *Reader) applyStage(r Reading, stage Transforms) (made []Reading, refusal string) {
	s := r.Text
	for n := 0; ; n++ {
		t := transformStage(s, stage, rd.Home)
		if rd.Windows && stage == named {
			t = dropStreams(t)
		}
		if t == s {
			break
		}
		if n == maxDecodings {
			return made, "percent escapes in too many layers"
		}
		next := r
		next.Text, next.Transforms = t, r.Transforms|stage
		switch stage {
		case folded:
			next.unfolded = r.Text
		case Located:
			next.addWebForms(rd.Home)
		}
		if r.Unslashed != "" {
			next.Unslashed = transformStage(r.Unslashed, stage, rd.Home)
		}
		if r.Normal != "" {
			next.Normal = transformStage(r.Normal, stage, rd.Home)
		}
		made, s = append(made, next), t
		if stage != decoded {
			break
		}
	}
	if path := bareFile(r.Text); stage == Located && path != "" {
		next := r
		next.Text, next.Transforms = expandHome(path, rd.Home), r.Transforms|stage
		made = append(made, next)
	}
	if stage == compat && s != r.Text && transformStage(r.Text, Located, rd.Home) == r.Text {
		if at := transformStage(s, Located, rd.Home); at != s { // the wide ～ means ~, and file：/x means file:/x
			next := made[0]
			next.Text, next.Transforms = transformStage(at, cleaned, rd.Home), next.Transforms|Located|cleaned
			made = append(made, next)
		}
	}
	if stage == cleaned {
		if head, path, tail := splitValue(s); tail == "" && len(path) > 1 && strings.HasSuffix(path, "/") {
			next := r
			next.Text, next.Unslashed = s, head+path[:len(path)-1]
			next.Transforms |= stage
			made = append(made, next)
		}
	}
	return made, ""
}

// findRoot sets the fields of the reading that tell where its path starts.
func (r *Reading) findRoot(rd *Reader) {
	r.UnknownBase = unknownBase(r.Text, rd.Home) || rd.Windows && windowsBase(r.Text)
	r.Relative = !r.UnknownBase && isRelative(r.Text)
	r.Rooted = !r.Relative && !r.UnknownBase
}

// unreadableAs returns the reason why this spelling of a value is refused; "" if it is not refused.
// If the parameter text is true, the value may be text, and then only patterns about paths refuse
// the value.
func unreadableAs(s string) (why string, text bool) {
	if why = unreadableReason(s); why != "" {
		return why, proseLike(s)
	}
	if why, text = urlRefusal(s); why != "" {
		return why, text || proseLike(s)
	}
	if climbsByEscapes(s) {
		return `".." beside percent escapes, which programs resolve in different orders`, proseLike(s)
	}
	if leadsAnywhere(s) {
		return refusedLink, true
	}
	if windowsShaped(s) {
		if slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' }), shortName) {
			return "generated short name, which stands for another", proseLike(s)
		}
	}
	return "", false
}
