package flow

import (
	"bytes"
	"crypto/aes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/policy"
)

// written is the list of files into which sessions with labels wrote. A session that reads such a
// file gets the labels too. All sessions of a state folder share the list, and lines are only added
// to it. It contains keyed hashes and the names of sources, but no path and no text:
//
//	k 000102030405060708090a0b0c0d0e0f
//
//	w untrusted 1795430000 PLACE FOLDER,FOLDER MARK,MARK;MARK,MARK "web fetch"
//
//	f 1795430000 PLACE
//
// The first k line has the key. A w line has one label of a file: the file's place, the folders
// around it, and a sketch of each long text that was written. An f line forgets a file.
//
// The list is opened anew for each use, because the owner may replace it.
type written struct {
	path string

	mu     sync.Mutex // guards the fields below
	info   fs.FileInfo
	read   int64
	key    string
	hash   hasher
	places map[mark]*place
	index  map[mark]struct{} // the marks of all sketches; nil before first use
	full   bool              // there were too many files, so every file counts as written by a session with labels
	harmed bool              // others have changed or damaged the list, so every file has every label
}

// place is a file into which a session with labels wrote.
type place struct {
	origins  map[string]origin // the origin of each label, by the kind of label
	folders  []mark
	sketches [][]mark
}

// origin is the source of a file's label, and the time at which the label was added.
type origin struct {
	source string
	at     time.Time
}

const (
	writtenName = "written"
	writtenTime = 30 * 24 * time.Hour
	maxWritten  = 1 << 20 // size of the list in bytes; shortenList shortens a longer list
)

// The kinds of marks in the list.
const (
	atPlace  = 'n'
	atFolder = 'd'
	ofText   = 'c'
)

// anyPlace stands for all files that were removed from the list because it was too long.
const anyPlace mark = 0

// The sources of labels for a file without a line in the list.
const (
	manyFiles   = "one of more files than the list of written files holds"
	harmedFiles = "a list of written files that is not as it was written"
)

func newWritten(dir string) *written {
	return &written{path: filepath.Join(dir, writtenName), places: map[mark]*place{}}
}

// refreshList reads the lines that were added to the list since it was last called. The caller
// holds the lock.
func (w *written) refreshList() {
	info, err := os.Lstat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.forgetAll()
		return
	case err != nil:
		w.harmed = true
		return
	case w.info != nil && os.SameFile(info, w.info) && info.Size() == w.read:
		return
	}
	f, err := os.OpenFile(w.path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		w.harmed = true
		return
	}
	defer f.Close()
	if err = checkFile(f); err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		w.harmed = true
		return
	}
	if w.info == nil || !os.SameFile(info, w.info) || info.Size() < w.read {
		w.forgetAll()
	}
	w.info = info
	got, err := io.ReadAll(io.NewSectionReader(f, w.read, 2*maxWritten))
	end := bytes.LastIndexByte(got, '\n') + 1
	if w.read += int64(end); err != nil || w.read >= 2*maxWritten {
		w.harmed = true
		return
	}
	for line := range strings.Lines(string(got[:end])) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !w.parseLine(line) {
			w.harmed = true
		}
	}
	w.index = nil
}

// exists reports whether the file of the list exists.
func (w *written) exists() bool {
	_, err := os.Lstat(w.path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (w *written) forgetAll() {
	w.info, w.read, w.key, w.hash, w.index, w.full, w.harmed = nil, 0, "", hasher{}, nil, false, false
	clear(w.places)
}

func (w *written) parseLine(line string) bool {
	parts := strings.SplitN(line, " ", 7)
	switch {
	case parts[0] == "k" && len(parts) == 2:
		key, err := hex.DecodeString(parts[1])
		if err != nil || len(key) != 16 {
			return false
		}
		if w.key == "" { // another process may have begun the list at the same moment
			w.key = parts[1]
			w.hash.block, _ = aes.NewCipher(key) // no error: a key of 16 bytes is always valid
		}
		return true
	case parts[0] == "f" && len(parts) == 3 && w.key != "":
		at, known := parseMark(parts[2], atPlace)
		delete(w.places, at)
		return known
	case parts[0] != "w" || len(parts) != 7 || w.key == "":
		return false
	}
	seconds, err := strconv.ParseInt(parts[2], 10, 64)
	source, bad := strconv.Unquote(parts[6])
	at, known := parseMark(parts[3], atPlace)
	if parts[3] == "*" {
		at, known, w.full = anyPlace, true, true
	}
	if _, kind := policy.SeenOf(parts[1:2]); err != nil || bad != nil || !known || !kind {
		return false
	}
	one := w.places[at]
	if one == nil {
		one = &place{origins: map[string]origin{}}
		w.places[at] = one
	}
	one.origins[parts[1]] = origin{source, time.Unix(seconds, 0)}
	if folders, known := parseMarks(parts[4], atFolder); !known {
		return false
	} else if len(folders) > 0 {
		one.folders = folders
	}
	if parts[5] == "-" {
		return true
	}
	for sketch := range strings.SplitSeq(parts[5], ";") {
		marks, known := parseMarks(sketch, ofText)
		if !known {
			return false
		}
		one.addSketch(marks)
	}
	return true
}

// maxSketches is the largest number of sketches that are kept for one file. The newest are kept.
const maxSketches = 16

func (p *place) addSketch(marks []mark) {
	if slices.ContainsFunc(p.sketches, func(s []mark) bool { return slices.Equal(s, marks) }) {
		return
	}
	if p.sketches = append(p.sketches, marks); len(p.sketches) > maxSketches {
		p.sketches = p.sketches[1:]
	}
}

// In a line, a mark is written as the seven bytes of its hash in hexadecimal.

func writeMark(m mark) string {
	if m == anyPlace {
		return "*"
	}
	return fmt.Sprintf("%014x", uint64(m>>8))
}

func writeMarkList(all []mark) string {
	if len(all) == 0 {
		return "-"
	}
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = writeMark(m)
	}
	return strings.Join(texts, ",")
}

func parseMark(text string, word byte) (m mark, known bool) {
	n, err := strconv.ParseUint(text, 16, 56)
	return mark(n<<8 | uint64(word)), err == nil && len(text) == 14
}

func parseMarks(text string, word byte) (all []mark, known bool) {
	if text == "-" {
		return nil, true
	}
	for one := range strings.SplitSeq(text, ",") {
		m, known := parseMark(one, word)
		if !known {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}

// lines returns the lines for a place: one for each of its labels.
func (p *place) lines(at mark) (all []string) {
	folders, sketches := writeMarkList(p.folders), "-"
	if len(p.sketches) > 0 {
		var texts []string
		for _, sketch := range p.sketches {
			texts = append(texts, writeMarkList(sketch))
		}
		sketches = strings.Join(texts, ";")
	}
	for _, kind := range policy.SeenWords() {
		if from, has := p.origins[kind]; has {
			all = append(all, fmt.Sprintf("w %s %d %s %s %s %q", kind, from.at.Unix(), writeMark(at), folders, sketches, from.source))
			folders, sketches = "-", "-"
		}
	}
	return all
}

// openList opens the list for a new line. If there is no list, it begins one. closeList closes the
// list. The caller holds the lock.
func (w *written) openList() (j *journal, closeList func(), err error) {
	if err := makeFolder(filepath.Dir(w.path)); err != nil {
		return nil, nil, err
	}
	unlock, err := lockList(w.path)
	if err != nil {
		return nil, nil, err
	}
	j, err = openJournal(filepath.Dir(w.path), filepath.Base(w.path))
	if err != nil {
		unlock()
		return nil, nil, err
	}
	closeList = func() {
		j.close()
		unlock()
	}
	if w.refreshList(); w.key == "" && !w.harmed {
		var key [16]byte
		_, _ = rand.Read(key[:]) // crypto/rand.Read never fails
		err = j.writeLines("k " + hex.EncodeToString(key[:]))
		w.refreshList()
	}
	if err == nil && w.harmed {
		err = fmt.Errorf("%s is not as it was written; to start over, remove it", w.path)
	}
	if err != nil {
		closeList()
		return nil, nil, err
	}
	return j, closeList, nil
}

// keepFiles adds labels to files into which a call writes.
func (w *written) keepFiles(names []placeName, texts []string, seen []Seen) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	j, closeList, err := w.openList()
	if err != nil {
		return err
	}
	defer closeList()
	now := time.Now()
	var sketches [][]mark
	for _, text := range texts {
		if sketch := w.hash.sketchText(text); sketch != nil {
			sketches = append(sketches, sketch)
		}
	}
	var lines []string
	for _, name := range names {
		at := w.hash.hashMark(atPlace, []byte(name))
		one := &place{origins: map[string]origin{}, sketches: sketches}
		known := w.places[at]
		for _, s := range seen {
			if _, has := one.origins[s.Kind]; !has { // the newest label comes first; keep only this one
				one.origins[s.Kind] = origin{s.Source, now}
			}
		}
		if known.covers(one, now) {
			continue
		}
		for _, folder := range name.foldersAround() {
			one.folders = append(one.folders, w.hash.hashMark(atFolder, []byte(folder)))
		}
		lines = append(lines, one.lines(at)...)
	}
	if err := j.writeLines(lines...); err != nil {
		return err
	}
	if w.refreshList(); w.read > maxWritten {
		w.shortenList(j.f)
	}
	return nil
}

// covers reports whether place p already has all labels and sketches of the place in the parameter
// other. It returns false if one of these labels of p is more than a day old.
func (p *place) covers(other *place, now time.Time) bool {
	if p == nil {
		return false
	}
	for kind := range other.origins {
		if from, has := p.origins[kind]; !has || now.Sub(from.at) > 24*time.Hour {
			return false
		}
	}
	for _, sketch := range other.sketches {
		if !slices.ContainsFunc(p.sketches, func(s []mark) bool { return slices.Equal(s, sketch) }) {
			return false
		}
	}
	return true
}

// shortenList writes the list anew, with one entry for each file and without labels that are too
// old. If the list is still long, it leaves out the sketches. If that is not enough, it replaces
// all files by anyPlace, and then every file counts as written by a session with labels. If another
// process uses the list, shortenList does nothing, and a later call shortens the list.
func (w *written) shortenList(f *os.File) {
	if !lockIdle(f) {
		return
	}
	w.dropOld(time.Now())
	text := w.render()
	if len(text) > maxWritten/2 {
		for _, p := range w.places {
			p.sketches = nil
		}
		text = w.render()
	}
	if len(text) > maxWritten/2 {
		any := &place{origins: map[string]origin{}}
		for _, p := range w.places {
			for kind := range p.origins {
				any.origins[kind] = origin{manyFiles, time.Now()}
			}
		}
		w.places = map[mark]*place{anyPlace: any}
		text = w.render()
	}
	if atomicfile.Write(w.path, text, atomicfile.Options{}) == nil {
		w.forgetAll()
		w.refreshList()
	}
}

func (w *written) render() []byte {
	text := []byte("k " + w.key + "\n")
	for at, p := range w.places {
		for _, line := range p.lines(at) {
			text = append(text, line+"\n"...)
		}
	}
	return text
}

// dropOld removes labels that are older than writtenTime.
func (w *written) dropOld(now time.Time) {
	for at, p := range w.places {
		for kind, from := range p.origins {
			if now.Sub(from.at) > writtenTime {
				delete(p.origins, kind)
			}
		}
		if len(p.origins) == 0 {
			delete(w.places, at)
		}
	}
}

// reading holds the files that a call may read.
type reading struct {
	files   []placeName
	folders []placeName // folders; the call may read every file in them, at any depth
	onDisk  []string    // paths of files on this machine; their content can be compared
	message string      // a message that contains the texts that were read
}

// findLabels returns the labels of the files that a call reads. It also returns the labels of a
// file if the call reads a copy of its content.
func (w *written) findLabels(r *reading) (all []Seen) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refreshList(); w.harmed {
		for _, kind := range policy.SeenWords() {
			all = append(all, Seen{Kind: kind, Source: harmedFiles})
		}
		return all
	}
	if len(w.places) == 0 {
		return nil
	}
	now := time.Now()
	add := func(p *place) {
		if p == nil {
			return
		}
		for _, kind := range policy.SeenWords() {
			if from, has := p.origins[kind]; has && now.Sub(from.at) <= writtenTime {
				all = append(all, Seen{kind, from.source, from.at})
			}
		}
	}
	if w.full {
		add(w.places[anyPlace])
	}
	for _, name := range r.files {
		add(w.places[w.hash.hashMark(atPlace, []byte(name))])
	}
	for _, name := range r.folders {
		m := w.hash.hashMark(atFolder, []byte(name))
		for _, p := range w.places {
			if slices.Contains(p.folders, m) {
				add(p)
			}
		}
	}
	if w.makeIndex(); len(w.index) > 0 {
		texts := readCopies(r.onDisk)
		visitTexts(r.message, func(text string) { texts = append(texts, text) })
		w.findCopies(texts, add)
	}
	return all
}

// makeIndex collects the marks of all sketches.
func (w *written) makeIndex() {
	if w.index != nil {
		return
	}
	w.index = map[mark]struct{}{}
	for _, p := range w.places {
		for _, sketch := range p.sketches {
			for _, m := range sketch {
				w.index[m] = struct{}{}
			}
		}
	}
}

// findCopies visits the files whose copy is in the texts. A copy has more than half of the marks in
// a sketch of the file.
func (w *written) findCopies(texts []string, visit func(*place)) {
	hits := map[mark]bool{}
	for _, text := range texts {
		visitRuns(text, func(run uint64) {
			if m := w.hash.hashRun(ofText, run); !hits[m] {
				if _, known := w.index[m]; known {
					hits[m] = true
				}
			}
		})
	}
	if len(hits) == 0 {
		return
	}
	for _, p := range w.places {
		if slices.ContainsFunc(p.sketches, func(sketch []mark) bool {
			n := 0
			for _, m := range sketch {
				if hits[m] {
					n++
				}
			}
			return 2*n > len(sketch)
		}) {
			visit(p)
		}
	}
}

// sketchSize is the number of marks in the sketch of a text. A text with fewer runs (about a
// hundred letters) has no sketch, because many files could contain such a short text.
const sketchSize = 16

// sketchText returns the smallest marks of a text's runs; nil for a short text. A copy of the text
// has the same marks.
func (h *hasher) sketchText(text string) []mark {
	var least []mark
	visitRuns(text, func(run uint64) {
		m := h.hashRun(ofText, run)
		if len(least) == sketchSize && m >= least[sketchSize-1] {
			return
		}
		i, known := slices.BinarySearch(least, m)
		if known {
			return
		}
		if least = slices.Insert(least, i, m); len(least) > sketchSize {
			least = least[:sketchSize]
		}
	})
	if len(least) < sketchSize {
		return nil
	}
	return least
}

// ForgetFile ends the labels of a file. The result had is true if the file had labels.
func ForgetFile(state, file string) (had bool, err error) {
	w := newWritten(dirOf(state))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refreshList(); w.info == nil {
		return false, nil
	}
	j, closeList, err := w.openList()
	if err != nil {
		return false, err
	}
	defer closeList()
	leads, known := locatePlace("", file)
	at := w.hash.hashMark(atPlace, []byte(foldPlace(leads)))
	if _, had = w.places[at]; !known || !had {
		return false, nil
	}
	return true, j.writeLines(fmt.Sprintf("f %d %s", time.Now().Unix(), writeMark(at)))
}
