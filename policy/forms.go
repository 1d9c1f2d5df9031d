package policy

import (
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// Forms tells which texts are compared with a glob on an argument or a URI, and how. Analyses use
// Forms, because they must know every text that the glob matches or may match.
type Forms struct {
	PathLike bool // the glob is also compared, as a path, with values that are not paths
	Absolute bool // a path whose base is not known may lie under the glob
	Homeless bool // the glob lies below a home or a working directory that is not known: any path may lie there
	Spells   bool // the glob is about texts that hold JSON, and about all values in the JSON
	// Perhaps holds other texts that the glob may match: other spellings of a boolean.
	Perhaps []string
	// Forms begins with the glob as written. Each later form is the glob after some
	// transformations.
	Forms []Form
}

// Form is a glob after some transformations. It is compared with readings of the value after the
// same transformations.
type Form struct {
	Transforms uint8    // the set of transformations; 0 for the glob as written
	Globs      []string // at least one must match
	Rest       string   // the part REST of a glob **/REST; a relative path that matches REST may match the glob
	Also       []string // additional globs that the author of a deny or a prompt may mean
	// Odd means that the comparison is not with the text itself. There are two cases: decoding
	// produced wildcards in the glob, and then wildcards in the text are quoted too; or a file: URI
	// became a path, and then only paths match.
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
	pat, _ := newPattern(text, home, true) // no error: glob.Check has accepted the text
	f := Forms{PathLike: pat.pathLike, Absolute: pat.absolute, Homeless: pat.homeless || pat.local, Spells: pat.spells, Perhaps: reading.BooleanSpellings(text), Forms: []Form{pat.asWritten.toForm()}}
	for i := range pat.others {
		f.Forms = append(f.Forms, pat.others[i].toForm())
	}
	for i := range f.Forms {
		if pat.local { // for every path it is uncertain whether the glob matches
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
