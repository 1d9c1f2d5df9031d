package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// Pack is a list of additional things that the detectors look for. It comes from a file that the
// policy names.
type Pack interface {
	Kind() string // the word for the pack in a rule's find: "pack:tickets"
	Text() []byte // the text of the pack's file
}

// PackFile is one entry of the policy's key packs.
type PackFile struct {
	File string // the path as written, relative to the folder of Pos.File
	Pos  Position
}

// packPrefix begins every kind that comes from a pack.
const packPrefix = "pack:"

const packsForm = `write packs = ["company.toml"]`

// readPacks reads the entries of the key packs.
func (p *parser) readPacks(e toml.Expression) {
	start, end := e.Key[0].Start, e.Key[len(e.Key)-1].End
	switch {
	case len(e.Key) > 1 || !e.Value.IsList():
		p.fail(start, end, "packs must be a list of files", packsForm)
		return
	case p.packed:
		p.fail(start, end, "packs is given twice", "one list names all")
		return
	}
	p.packed = true
	e.Value.EachElement(func(v toml.Value) {
		from, to, _ := v.Span()
		if !v.IsString() || v.Text() == "" || FileName(v.Text()) != v.Text() {
			p.fail(from, to, "an entry of packs is the name of a file", packsForm)
			return
		}
		p.packFiles = append(p.packFiles, PackFile{v.Text(), p.positionOf(from)})
	})
}

// PackFiles returns the entries of the policy's key packs, even if the rest of the policy does not
// load.
func PackFiles(file string, src []byte) []PackFile {
	if !bytes.Contains(src, []byte("packs")) && bytes.IndexByte(src, '\\') < 0 {
		return nil // the text has no key packs: it has neither this word nor a backslash, with which it could write the word in escapes
	}
	p := parser{file: file, doc: toml.New(src)}
	defer p.doc.Close()
	for {
		e, ok := p.doc.NextExpression()
		if !ok || e.Form != toml.Pair {
			return p.packFiles
		}
		if e.Key[0].Name == "packs" {
			p.readPacks(e)
		}
	}
}

// loadPacks reads the packs, and reports a rule's find that names a missing pack.
func (f *fileSource) loadPacks(o Options) (packs []Pack, errs Errors) {
	kinds := FindingKinds()
	for _, x := range f.packFiles {
		fail := func(format string, a ...any) {
			errs = append(errs, &Error{Pos: x.Pos, Text: x.File, Msg: fmt.Sprintf(format, a...)})
		}
		if o.Pack == nil {
			fail("packs cannot be read here")
			continue
		}
		pack, err := o.Pack(x)
		switch {
		case err != nil:
			fail("%v", err)
		case slices.Contains(kinds, pack.Kind()):
			fail("%s is a second pack of the name %q", x.File, strings.TrimPrefix(pack.Kind(), packPrefix))
		default:
			packs, kinds = append(packs, pack), append(kinds, pack.Kind())
		}
	}
	if len(errs) > 0 { // a find may name a pack that did not load, so the finds are not checked
		return nil, errs
	}
	for i := range f.rules {
		r := &f.rules[i]
		for _, word := range r.findWords() {
			if strings.HasPrefix(word, packPrefix) && !slices.Contains(kinds, word) {
				errs = append(errs, &Error{Pos: r.findCondition().pos, Text: policytext.Quote(word), Msg: fmt.Sprintf("no pack of this policy is called %q", strings.TrimPrefix(word, packPrefix)),
					Hint: suggestWord(word, kinds[len(findKinds):], `name its file above every rule: packs = ["FILE"]`)})
			}
		}
	}
	return packs, errs
}

// findWords returns the words of the rule's find.
func (r *ruleSource) findWords() []string {
	if f := r.findCondition(); f != nil {
		return f.words
	}
	return nil
}

// IsKind reports whether a rule's find may have the word: a kind of FindingKinds, or a word of the
// form of a pack's kind.
func IsKind(word string) bool { return slices.Contains(findKinds, word) || isPackKind(word) }

// isPackKind reports whether a word has the form of a pack's kind.
func isPackKind(word string) bool {
	return strings.HasPrefix(word, packPrefix) && len(word) > len(packPrefix)
}

// Packs returns the packs of the policy and of the layers above it.
func (p *Policy) Packs() []Pack {
	all := p.packs
	for _, layer := range p.options.Above {
		all = append(slices.Clip(all), layer.packs...)
	}
	return all
}

// KindsOn returns the words, except "*", that the key find accepts in rules with this On.
func (p *Policy) KindsOn(on On) []string {
	all := slices.DeleteFunc(FindingKinds(), func(kind string) bool {
		where := onlyOn[kind]
		return where != nil && !slices.Contains(where, on)
	})
	for _, pack := range p.Packs() {
		all = append(all, pack.Kind())
	}
	return all
}
