package policy

import (
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// Forms tells with which texts a glob on an argument or a URI is compared, and how. It is for
// analyses, which must know every text that the glob matches or may match.
type Forms struct {
	PathLike bool // values that are no paths are compared with the glob as paths too
	Absolute bool // a path from an unknown base may lie under the glob
	Homeless bool // the glob lies at a home, or a working directory, that is not known: any path may lie there
	Spells   bool // the glob is about texts that hold JSON, and everything in them
	// Perhaps are further texts that the glob may match: other spellings of a boolean.
	Perhaps []string
	// Forms begins with the glob as written. Each further form is the changed glob under a set of
	// transformations.
	Forms []Form
}

// Form is a glob under some transformations. It is compared with readings that the same
// transformations made.
type Form struct {
	Transforms uint8    // the set of transformations; 0 for the glob as written
	Globs      []string // one of them must match
	Rest       string   // of a glob **/REST, the part REST; a relative path that matches it may match the glob
	Also       []string // further globs that a deny or a prompt may mean
	// Odd means that the comparison is not with the text itself: decoding produced wildcards in
	// the glob, so wildcards in the text are quoted too, or a file: URI became a path, so only
	// paths match.
	Odd bool
}

// GlobForms returns the forms of a glob, as this policy would read it in a rule. The error is
// the error of glob.Compile.
func (p *Policy) GlobForms(text string) (Forms, error) {
	if err := glob.Check(text); err != nil {
		return Forms{}, err
	}
	home := ""
	if p.readers != nil {
		home = p.homeFolder()
	}
	pat, _ := newPattern(text, home, true) // checked above
	f := Forms{PathLike: pat.pathLike, Absolute: pat.absolute, Homeless: pat.homeless || pat.local, Spells: pat.spells, Perhaps: reading.BooleanSpellings(text), Forms: []Form{pat.asWritten.toForm()}}
	for i := range pat.others {
		f.Forms = append(f.Forms, pat.others[i].toForm())
	}
	for i := range f.Forms {
		if pat.local { // the glob may match any path and surely matches none
			f.Forms[i].Globs, f.Forms[i].Odd = append(f.Forms[i].Globs, "**"), true
		}
	}
	return f, nil
}

func (f *guise) toForm() Form {
	out := Form{Transforms: uint8(f.transforms), Globs: []string{f.glob.String()}, Odd: f.quoted || f.file}
	if f.home != nil {
		out.Globs = append(out.Globs, f.home.String())
	}
	if f.rest != nil {
		out.Rest = f.rest.String()
	}
	for _, g := range f.also {
		out.Also = append(out.Also, g.String())
	}
	return out
}
