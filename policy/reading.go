package policy

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/where"
)

// reading is one way in which a server could understand a value.
type reading struct {
	s          string
	raw        string // the value as sent
	transforms transforms
	kind       kind

	json  where.Kind // of the value
	whole where.Kind // of the argument that the value stands in

	within string // the text as sent that the value was read out of; see embedded

	unfolded    string // s before its case was folded; "" when it was not
	unslashed   string // s without its last slash, or its fragment: what matches if s does not
	normal      string // of a web URL: s with scheme, host and root normalised, which matches as well
	refusal     string // of a refused reading: why
	pathOnly    bool   // holds under path patterns; under others the value is text
	climbs      bool   // a path by its dot-dot alone: under patterns with blanks, such as commands, the value is text
	unknownBase bool
	relative    bool
	rooted      bool
}

// path is the text of a reading as a path of a disk: whether case counts there is
// for the disk to say.
func (r *reading) path() string {
	if r.unfolded != "" {
		return r.unfolded
	}
	return r.s
}

type kind uint8

const (
	ordinary kind = iota
	absent        // matches nothing: null, an empty list, no such member
	refused       // opens nothing and trips everything
)

const (
	maxValue    = 1 << 20 // bytes of one value; a longer one is refused
	maxReadings = 64      // of one value; more are refused. The walk keeps them in one word
	maxWork     = 4 << 20 // bytes of all readings of one value together
)

// reader makes the readings of values for one argument name.
type reader struct {
	home    string
	effects transforms // the transformations that change some pattern on the name
	paths   bool       // some pattern on the name is about paths
}

// read appends the readings of a value to rs.
func (rd *reader) read(rs []reading, v string, fold *folder, left *effort.Left) []reading {
	if len(v) > maxValue {
		return append(rs, reading{s: v[:64], raw: v[:64], kind: refused, refusal: "value longer than 1 MiB"})
	}
	shape := shapeOf(v)
	path := shape&hasNUL == 0 && pathLike(v, shape)
	if shape&hasNUL != 0 {
		rs = append(rs, reading{s: v, raw: v, kind: refused, refusal: "NUL in a value"})
	}
	switch {
	case shape&hasBreak != 0:
		return rd.readLines(rs, v, path, fold, left)
	case shape&unplain != 0 && isBlankedURL(v):
		return rd.readBlanked(rs, v, fold, left)
	case !path && !rd.paths:
		return append(rs, reading{s: v, raw: v})
	case shape&unplain == 0:
		return rd.readPlain(rs, reading{s: v, raw: v, pathOnly: !path}, shape, fold)
	}
	climbs := path && shape&hasSpace != 0 && !startsLikePath(v)
	return rd.readPath(rs, reading{s: v, raw: v, pathOnly: !path, climbs: climbs}, left)
}

// folder folds ASCII without an allocation for each text. What it gives is
// overwritten after reset.
type folder struct{ room []byte }

func (f *folder) reset() { f.room = f.room[:0] }

func (f *folder) ascii(s string) string {
	start := len(f.room)
	f.room = slices.Grow(f.room, len(s))
	for i := 0; i < len(s); i++ {
		f.room = append(f.room, lower(s[i]))
	}
	return unsafe.String(&f.room[start], len(s))
}

// readPlain is readPath for a value that no stage but folding can change.
func (rd *reader) readPlain(rs []reading, r reading, shape shape, fold *folder) []reading {
	r.rooted = r.s != "" && r.s[0] == '/'
	r.relative = !r.rooted && r.s != ""
	if mayLeadAnywhere(r.s) && leadsAnywhere(r.s) {
		rs = append(rs, r)
		r.pathOnly = true
		return append(rs, refusedFor(r, refusedLink))
	}
	free := rd.effects
	if shape&hasUpper != 0 {
		free &^= folded
	}
	rs = append(rs, r)
	if free != 0 {
		rs = append(rs, r)
		rs[len(rs)-1].transforms = free
	}
	if shape&hasUpper == 0 {
		return rs
	}
	f := r
	f.s, f.transforms, f.unfolded = fold.ascii(r.s), folded, r.s
	rs = append(rs, f)
	if free != 0 {
		f.transforms |= free
		rs = append(rs, f)
	}
	return rs
}

// readPath puts a value through every stage, on and off, and keeps each result
// that differs. A stage that leaves a value as it is may still change a
// pattern: then the same text is a reading with it, too.
func (rd *reader) readPath(rs []reading, r reading, left *effort.Left) []reading {
	first := len(rs)
	rs = append(rs, r)
	free := []transforms{0}
	var why string
	text := false // what is refused as a path may be a text that begins like one
	for _, stage := range stages {
		for i, n := 0, len(rs)-first; i < n; i++ {
			before := rs[first+i]
			if pay(left, before.s, stage); *left <= 0 {
				return append(rs[:first+1], refusedFor(r, effort.TooMuch))
			}
			if stage == located {
				before.address(rd.home)
				rs[first+i] = before
			}
			after, reason := rd.through(before, stage)
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
		at.place(rd.home)
		if why == "" {
			why, text = unreadableAs(at.s)
		}
		if twin := *at; free[i]&rd.effects != 0 {
			twin.transforms |= free[i] & rd.effects
			rs = append(rs, twin)
		}
	}
	if len(r.s)*(len(rs)-first) > maxWork {
		why, text, rs = "value that can be read in too many ways", false, rs[:first+1]
	}
	if why != "" {
		r.pathOnly = r.pathOnly || text
		rs = append(rs, refusedFor(r, why))
	}
	return rs
}

// address notes what a web URL matches beside its text.
func (r *reading) address(home string) {
	if isWeb(r.s) {
		r.normal = rooted(locate(r.s, home))
		r.unslashed = withoutFragment(r.s)
	}
}

func refusedFor(r reading, why string) reading {
	r.kind, r.refusal = refused, why
	return r
}

// through gives the readings one stage makes of another, and a reason to refuse
// the value.
func (rd *reader) through(r reading, stage transforms) (made []reading, refusal string) {
	s := r.s
	for n := 0; ; n++ {
		t := transform(s, stage, rd.home)
		if t == s {
			break
		}
		if n == maxDecodings {
			return made, "percent escapes in too many layers"
		}
		next := r
		next.s, next.transforms = t, r.transforms|stage
		switch stage {
		case folded:
			next.unfolded = r.s
		case located:
			next.address(rd.home)
		}
		if r.unslashed != "" {
			next.unslashed = transform(r.unslashed, stage, rd.home)
		}
		if r.normal != "" {
			next.normal = transform(r.normal, stage, rd.home)
		}
		made, s = append(made, next), t
		if stage != decoded {
			break
		}
	}
	if path := bareFile(r.s); stage == located && path != "" {
		next := r
		next.s, next.transforms = expandHome(path, rd.home), r.transforms|stage
		made = append(made, next)
	}
	if stage == cleaned {
		if head, path, tail := split(s); tail == "" && len(path) > 1 && strings.HasSuffix(path, "/") {
			next := r
			next.s, next.unslashed = s, head+path[:len(path)-1]
			next.transforms |= stage
			made = append(made, next)
		}
	}
	return made, ""
}

// place notes where the path of a reading starts.
func (r *reading) place(home string) {
	r.unknownBase = unknownBase(r.s, home)
	r.relative = !r.unknownBase && relative(r.s)
	r.rooted = !r.relative && !r.unknownBase
}

// unreadableAs says why this spelling of a value is refused, or ""; and whether it
// may be text, so that only patterns about paths refuse it.
func unreadableAs(s string) (why string, text bool) {
	if why = unreadable(s); why != "" {
		return why, proseLike(s)
	}
	if why, text = urlRefusal(s); why != "" {
		return why, text || proseLike(s)
	}
	if leadsAnywhere(s) {
		return refusedLink, true
	}
	if windowsShaped(s) {
		for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' }) {
			if shortName(name) {
				return "generated short name, which stands for another", proseLike(s)
			}
		}
	}
	return "", false
}
