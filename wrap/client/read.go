package client

import (
	"bytes"
	"fmt"
)

// Read returns the servers of a file. The error is an *EditError: the file cannot be read exactly,
// or a key on the path to the servers appears twice. If only one server has a problem, the problem
// is in Entry.Problem. A file without content has no servers.
func Read(r Row, src []byte) ([]Entry, error) {
	file, err := openFile(r, src)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(file.slots))
	for _, s := range file.slots {
		entries = append(entries, file.readEntry(s))
	}
	return entries, nil
}

// file is the content of a client's file, with the places of its servers.
type file struct {
	row   Row
	src   []byte
	slots []slot

	counted, line int // the last offset whose line was counted, and this line, from 1
}

func openFile(r Row, src []byte) (*file, error) {
	root, err := parseFile(r, src)
	if err != nil {
		return nil, err
	}
	slots, err := locateServers(r, src, root)
	if err != nil {
		return nil, err
	}
	return &file{row: r, src: src, slots: slots}, nil
}

func (f *file) readEntry(s slot) Entry {
	e := Entry{Name: s.name, KeyPath: s.path}
	e.Line, e.Column = f.countPosition(s.at)
	sh := readShape(f.row, s)
	e.Kind, e.Why, e.Unclear, e.NamesClawai = sh.kind, sh.why, sh.unclear, f.row.namesClawai(s.value)
	if sh.kind == Other {
		return e
	}
	f.fillEntry(&e, sh)
	f.fillSandbox(&e, s, sh)
	if e.Env = sh.env; sh.mixed != nil && e.Wrapped != nil {
		e.Wrapped.Differs = append(e.Wrapped.Differs, f.faultError(sh.mixed).Error())
	}
	if p := f.findProblem(s, sh); p != nil {
		e.Problem = f.faultError(p)
	}
	return e
}

// faultError turns a fault into an EditError.
func (f *file) faultError(p *fault) *EditError {
	line, column := f.countPosition(p.at)
	return &EditError{Line: line, Column: column, What: p.what, Next: p.next}
}

// countPosition returns the line and the column of an offset. It counts from the last counted
// offset, because a file may have thousands of entries.
func (f *file) countPosition(at int) (line, column int) {
	if at < f.counted || f.line == 0 {
		f.counted, f.line = 0, 1
	}
	f.line += bytes.Count(f.src[f.counted:at], []byte{'\n'})
	f.counted = at
	_, column = textPosition(f.src[lineStart(f.src, at):], at-lineStart(f.src, at))
	return f.line, column
}

// fillSandbox sets Sandbox of an entry. It also notes how the wrapper differs from the client's
// sandbox.
func (f *file) fillSandbox(e *Entry, s slot, sh shape) {
	v, wrapped := readInvocation(sh.words)
	if wrapped {
		e.Sandbox = v.cage
	} else if sh.sandbox.on && sh.sandbox.fault == nil {
		e.Sandbox = sh.sandbox.words
	}
	if !wrapped || e.Wrapped == nil {
		return
	}
	if p := sh.checkSandbox(f.row, s.name, s.at, v.cage); p != nil {
		e.Wrapped.Differs = append(e.Wrapped.Differs, f.faultError(p).Error())
	} else if text := sh.carriedDiffers(f.row, v.cage); text != "" {
		e.Wrapped.Differs = append(e.Wrapped.Differs, text)
	}
}

// fillEntry sets the wrapper of an entry, and its command or address, if they can be read.
func (f *file) fillEntry(e *Entry, sh shape) {
	words := nodeTexts(sh.words)
	if v, ok := readInvocation(sh.words); ok {
		e.Wrapped = &Wrapper{Path: words[0], Server: v.server, Observe: v.isObserving(), Differs: v.findDifferences(words, e.Name)}
		words = words[v.inner:]
	} else if hub, found := readHub(sh.words); found {
		e.Wrapped = &hub
	}
	if r := sh.remote; r != nil {
		e.URL, e.SignsIn = r.remoteAddress(), r.signsIn()
		if r.redirected != nil {
			e.Wrapped = &Wrapper{ProxyURL: r.redirected.proxyURL, Server: r.redirected.server, Differs: r.redirected.findDifferences(r.url.value.text, e.Name)}
		}
		return
	}
	if len(words) > 0 {
		e.Command, e.Args = words[0], words[1:]
	}
}

// findProblem returns the reason why an entry cannot be wrapped or unwrapped; nil if it can.
func (f *file) findProblem(s slot, sh shape) *fault {
	if sh.problem != nil {
		return sh.problem
	}
	v, wrapped := readInvocation(sh.words)
	if sh.kind == Remote && sh.remote.redirected == nil {
		return sh.remote.kept
	}
	if sh.kind == Remote {
		return nil
	}
	if !wrapped {
		if p := sh.checkSandbox(f.row, s.name, s.at, nil); p != nil {
			return p
		}
		return sh.checkFit(f.row, s.name)
	}
	if v.inner == len(sh.words) {
		return &fault{sh.words[v.inner-1].start, "write the server's command after it",
			fmt.Sprintf("nothing comes after the -- of %q", s.name)}
	}
	return nil
}

// openTarget reads a file and finds an entry with findTarget.
func openTarget(r Row, src []byte, e Entry) (f *file, s slot, sh shape, err error) {
	if f, err = openFile(r, src); err == nil {
		s, sh, err = f.findTarget(e)
	}
	return f, s, sh, err
}

// openSlot reads a file and finds an entry with findSlot.
func openSlot(r Row, src []byte, e Entry) (f *file, s slot, sh shape, err error) {
	if f, err = openFile(r, src); err == nil {
		s, sh, err = f.findSlot(e)
	}
	return f, s, sh, err
}

// findTarget returns the slot and the shape of an entry. It returns an error if the entry cannot be
// wrapped or unwrapped.
func (f *file) findTarget(e Entry) (slot, shape, error) {
	s, sh, err := f.findSlot(e)
	if err != nil {
		return s, sh, err
	}
	if p := f.findProblem(s, sh); p != nil {
		return s, sh, newEditError(f.src, p.at, p.next, "%s", p.what)
	}
	return s, sh, nil
}

// findSlot returns the slot and the shape of an entry. It returns an error if the entry cannot be
// edited at all. An entry that can be redirected, but cannot become a process, is no error.
func (f *file) findSlot(e Entry) (slot, shape, error) {
	if f.row.ReadOnly {
		return slot{}, shape{}, newEditError(f.src, 0, "edit the file by hand", "files of %s are not edited", f.row.Name)
	}
	key := pathKey(e.KeyPath)
	for _, s := range f.slots {
		if pathKey(s.path) != key {
			continue
		}
		sh := readShape(f.row, s)
		if sh.kind == Other {
			return s, sh, newEditError(f.src, s.at, "", "%q cannot be covered: %s", s.name, sh.why)
		}
		if p := sh.problem; p != nil {
			return s, sh, newEditError(f.src, p.at, p.next, "%s", p.what)
		}
		return s, sh, nil
	}
	return slot{}, shape{}, newEditError(f.src, 0, "read the file again", "the server %q is no longer in the file", e.Name)
}
