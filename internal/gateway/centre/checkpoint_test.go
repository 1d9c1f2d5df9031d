package centre

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/checkpoint"
)

// signing is a centre that signs checkpoints, with a laptop.
type signing struct {
	*testing.T
	*Centre
	dir, secret, public string
	laptop              store.Laptop
	segments            int
}

func newSigning(t *testing.T, more string) *signing {
	t.Helper()
	s := &signing{T: t, dir: t.TempDir()}
	var err error
	s.secret, s.public, err = bundle.NewKey("centre.example")
	s.must(err)
	s.must(os.WriteFile(filepath.Join(s.dir, CheckpointKeyFile), []byte(s.secret), 0o600))
	s.must(os.WriteFile(filepath.Join(s.dir, SettingsFile), []byte(more), 0o600))
	s.open()
	s.must(s.Store.AddEnrolment(t.Context(), store.Enrolment{DeviceHash: "d", UserHash: "u", Created: time.Now(), Expires: time.Now().Add(time.Hour)}, 10))
	s.must(s.Store.DecideEnrolment(t.Context(), "u", store.Allowed, principal.Principal{Issuer: principal.Local, Subject: "ana"}))
	id, err := s.Store.AddLaptop(t.Context(), "d", store.Laptop{ID: "laptop1", Enrolled: time.Now()}, "h")
	s.must(err)
	s.laptop, _, err = s.Store.FindLaptop(t.Context(), id)
	s.must(err)
	return s
}

func (s *signing) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *signing) open() {
	s.Helper()
	c, err := Open(context.Background(), s.dir)
	s.must(err)
	s.Cleanup(func() { _ = c.Close() })
	s.Centre = c
}

// ship takes a new segment. What is in it does not matter here.
func (s *signing) ship() {
	s.Helper()
	s.segments++
	session := fmt.Sprintf("k3f9x2m%03d", s.segments)
	_, err := s.TakePart(s.Context(), s.laptop, Part{Laptop: "laptop1", Session: session, Segment: "20261130T100203.123456789Z-" + session + ".ndjson", Text: []byte("text\n"), Complete: true})
	s.must(err)
}

func (s *signing) file() string { return filepath.Join(s.dir, CheckpointsFile) }

// verified returns what Verify finds.
func (s *signing) verified() Verification {
	s.Helper()
	src, err := os.ReadFile(s.file())
	s.must(err)
	v, err := s.Verify(s.Context(), bytes.NewReader(src), s.public)
	s.must(err)
	return v
}

// witness keeps the newest checkpoint that provably continues the one before it (C2SP tlog-witness).
type witness struct {
	public string
	seen   checkpoint.Checkpoint
	fails  bool
	asked  int
}

func (w *witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.asked++
	src, _ := io.ReadAll(r.Body)
	head, note, _ := strings.Cut(string(src), "\n\n")
	lines := strings.Split(head, "\n")
	old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
	is, err2 := checkpoint.Read([]byte(note), w.public)
	switch {
	case w.fails || r.URL.Path != "/log/add-checkpoint" || err != nil || err2 != nil || old > is.Size:
		out.WriteHeader(http.StatusBadRequest)
		return
	case old != w.seen.Size:
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(http.StatusConflict)
		fmt.Fprintln(out, w.seen.Size)
		return
	}
	var proof tlog.TreeProof
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			out.WriteHeader(http.StatusBadRequest)
			return
		}
		proof = append(proof, h)
	}
	if old > 0 && old < is.Size && checkpoint.CheckGrowth(w.seen, is, proof) != nil {
		out.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	w.seen = is
	fmt.Fprintln(out, "— witness.example AAAA")
}

// Each checkpoint comes to the file and to the witness, also those that were made while one of them could
// not be reached, or before the centre was started again.
func TestCheckpointsComeToFileAndWitness(t *testing.T) {
	w := &witness{}
	server := httptest.NewServer(w)
	defer server.Close()
	s := newSigning(t, "[checkpoints]\nwitness = \""+server.URL+"/log\"\n")
	w.public = s.public
	must := func(size int64) {
		t.Helper()
		if err := s.MakeCheckpoint(t.Context()); err != nil || w.seen.Size != size {
			t.Fatalf("%d heads at the witness, want %d: %v", w.seen.Size, size, err)
		}
		if v := s.verified(); len(v.Findings)+len(v.Notes) > 0 || v.Heads != size {
			t.Fatalf("%+v", v)
		}
	}
	s.must(s.MakeCheckpoint(t.Context())) // nothing has come
	for n := range int64(3) {
		s.ship()
		must(n + 1)
	}
	asked := w.asked
	must(3)
	if w.asked != asked {
		t.Error("the witness was asked again for what it has")
	}
	w.fails = true
	s.ship()
	if err := s.MakeCheckpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "the witness") {
		t.Errorf("%v", err)
	}
	if v := s.verified(); len(v.Findings) > 0 || v.Checkpoints != 4 {
		t.Errorf("the file waits for the witness: %+v", v)
	}
	w.fails = false
	must(4)
	s.must(s.Close())
	s.open() // it does not know any more what the witness has
	s.ship()
	must(5)

	// The database is put back from a copy, and the file with it: only the witness knows.
	w.seen.Size = 900
	s.ship()
	if err := s.MakeCheckpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "it has seen 900 heads, and the database has 6") {
		t.Errorf("%v", err)
	}
}

// However a crash or a full disk leaves the file, the centre goes on behind it, and all is there.
func TestFileOfCheckpointsIsMended(t *testing.T) {
	s := newSigning(t, "")
	s.ship()
	s.must(s.MakeCheckpoint(t.Context()))
	s.ship()
	s.must(s.MakeCheckpoint(t.Context()))
	whole, err := os.ReadFile(s.file())
	s.must(err)
	first := bytes.IndexByte(whole, '\n') + 1
	for _, end := range []int{0, first, first + 1, first + 50, len(whole) - 1} {
		s.must(os.WriteFile(s.file(), whole[:end], 0o600))
		s.must(s.MakeCheckpoint(t.Context()))
		if v := s.verified(); len(v.Findings) > 0 || v.Checkpoints != 2 {
			t.Errorf("cut at %d: %+v", end, v)
		}
	}
	s.must(os.Remove(s.file()))
	s.must(s.MakeCheckpoint(t.Context()))
	if v := s.verified(); len(v.Findings) > 0 || v.Checkpoints != 2 {
		t.Errorf("removed: %+v", v)
	}
	s.must(os.WriteFile(s.file(), []byte("my diary\n"), 0o600))
	if err := s.MakeCheckpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "has no checkpoint in it") {
		t.Errorf("%v", err)
	}
	if src, _ := os.ReadFile(s.file()); string(src) != "my diary\n" {
		t.Errorf("a foreign file was changed: %q", src)
	}
}

// After the key was replaced as docs/gateway.md says, the centre signs by the new one as soon as something
// comes, and both files verify, each with its key.
func TestCheckpointKeyIsReplaced(t *testing.T) {
	s := newSigning(t, "")
	for range 3 {
		s.ship()
		s.must(s.MakeCheckpoint(t.Context()))
	}
	old, err := os.ReadFile(s.file())
	s.must(err)
	before := s.public
	s.must(os.Remove(s.file()))
	secret, public, err := bundle.NewKey("centre2.example")
	s.must(err)
	s.must(os.WriteFile(filepath.Join(s.dir, CheckpointKeyFile), []byte(secret), 0o600))
	for range 2 { // nothing comes meanwhile
		s.must(s.MakeCheckpoint(t.Context()))
	}
	if n, err := s.NewestCheckpoint(t.Context(), 0); err != nil || n.Note != "" {
		t.Errorf("a laptop with the new key is given one of the old key: %+v, %v", n, err)
	}
	for range 2 {
		s.ship()
		s.must(s.MakeCheckpoint(t.Context()))
	}
	n, err := s.NewestCheckpoint(t.Context(), 4)
	s.must(err)
	if is, err := checkpoint.Read([]byte(n.Note), public); err != nil || is.Size != 5 {
		t.Errorf("%+v, %v", is, err)
	}
	s.public = public
	if v := s.verified(); len(v.Findings) > 0 || v.Checkpoints != 2 || v.Heads != 5 || len(v.Notes) != 1 {
		t.Errorf("the new file: %+v", v)
	}
	if v, err := s.Verify(t.Context(), bytes.NewReader(old), before); err != nil || len(v.Findings) > 0 || v.Checkpoints != 3 {
		t.Errorf("the old file: %+v, %v", v, err)
	}
}

// growing is a store in which a segment grows, and is signed, whenever heads are read.
type growing struct {
	store.Store
	grow func()
}

func (g growing) ListSegmentHeads(ctx context.Context, laptop, segment string) ([]store.Head, error) {
	g.grow()
	return g.Store.ListSegmentHeads(ctx, laptop, segment)
}

// What comes and is signed while the database is read is no finding.
func TestVerifyWhileRecordsCome(t *testing.T) {
	s := newSigning(t, "")
	for range 3 {
		s.ship()
	}
	part := Part{Laptop: "laptop1", Session: "k3f9x2m900", Segment: "20261130T100204.123456789Z-k3f9x2m900.ndjson", Text: []byte("text\n")}
	grow := func() {
		held, err := s.TakePart(s.Context(), s.laptop, part)
		s.must(err)
		s.must(s.MakeCheckpoint(t.Context()))
		part.At = held.Size
	}
	grow()
	first := s.Store
	defer func() { s.Store = first }()
	s.Store = growing{first, grow}
	if v := s.verified(); len(v.Findings) > 0 || v.Segments != 4 {
		t.Errorf("%+v", v)
	}
	s.Store = growing{first, func() { part.Complete = true; grow(); s.Store = first }}
	if v := s.verified(); len(v.Findings) > 0 {
		t.Errorf("the segment ends meanwhile: %+v", v)
	}
}

// Every beginning of a line can be left by a centre that was ended or has a full disk, several times in a row.
func TestLinesThatAreNotWhole(t *testing.T) {
	s := newSigning(t, "")
	for range 3 {
		s.ship()
		s.must(s.MakeCheckpoint(t.Context()))
	}
	src, err := os.ReadFile(s.file())
	s.must(err)
	lines := strings.SplitAfter(string(src), "\n")
	half := lines[1][:60] + "\n"
	for text, want := range map[string]string{
		lines[0] + half + lines[1] + lines[2]:                                "",
		lines[0] + half + lines[1][:3] + "\n\n" + half + lines[1] + lines[2]: "",
		lines[0] + lines[1] + lines[2][:60]:                                  "",
		lines[0] + lines[1] + lines[2][:60] + "\n" + lines[2][:30]:           "",
		lines[0] + lines[1] + "my diary\n":                                   "line 3 of the file, at its end, is no checkpoint",
		lines[0] + half + "my diary\n" + lines[1] + lines[2]:                 "line 3 of the file is no checkpoint",
		lines[0] + half + lines[2]:                                           "line 2 of the file is no checkpoint",
		strings.Repeat("{\n", 3*mostBroken) + lines[0] + lines[1] + lines[2]: "line 1 of the file is no checkpoint",
	} {
		s.must(os.WriteFile(s.file(), []byte(text), 0o600))
		v := s.verified()
		if all := strings.Join(v.Findings, "\n"); (all == "") != (want == "") || !strings.Contains(all, want) {
			t.Errorf("%q: %+v, want %q", text, v, want)
		}
		if strings.HasPrefix(text, lines[0]) && v.Checkpoints+len(v.Notes) < 3 && want == "" {
			t.Errorf("%q: the end that is missing is not named: %+v", text, v)
		}
	}
}

// A segment that came before the centre kept the state of its sum has the same head.
func TestHeadOfAnOlderSegment(t *testing.T) {
	s := newSigning(t, "")
	s.ship()
	all, err := s.Store.ListUnlogged(t.Context(), 10)
	s.must(err)
	want, err := s.headOf(t.Context(), &all[0])
	s.must(err)
	for _, sum := range []string{"", "AAAA", "no base64"} {
		all[0].Sum = sum
		if got, err := s.headOf(t.Context(), &all[0]); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", sum, got, err, want)
		}
	}
	all[0].Sum, all[0].Size = "", 900
	if got, err := s.headOf(t.Context(), &all[0]); err == nil {
		t.Errorf("bytes that are missing: %+v", got)
	}
}

func TestSettingsOfCheckpoints(t *testing.T) {
	for text, part := range map[string]string{
		"seconds = 0":                               "seconds: 0; it is 1 to 86400",
		"key = \"\"":                                "key and file name files",
		"witness = \"ftp://w.example\"":             "is not an address",
		"witness = \"https://u:p@w.example\"":       "is not an address",
		"witness = \"https://w.example/log?a=b\"":   "is not an address",
		"withness = \"https://w.example\"":          "unknown: ",
		"seconds = 5\nfile = \"/elsewhere/x.json\"": "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, SettingsFile), []byte("[checkpoints]\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSettings(dir); (err == nil) != (part == "") || err != nil && !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q", text, err, part)
		}
	}
}

// Whatever stands in the file, only signed checkpoints count, each larger than the one before it.
func FuzzReadSigned(f *testing.F) {
	secret, public, err := bundle.NewKey("centre.example")
	if err != nil {
		f.Fatal(err)
	}
	line := func(size int64) string {
		note, err := checkpoint.Sign(checkpoint.Checkpoint{Size: size, Made: time.Unix(1e9, 0)}, secret)
		if err != nil {
			f.Fatal(err)
		}
		src, _ := json.Marshal(signedLine{size, string(note)})
		return string(src)
	}
	f.Add("", "")
	f.Add("{", "\n\n")
	f.Add(line(1)+"\n"+line(3), line(2))
	f.Fuzz(func(t *testing.T, before, after string) {
		v := &verifier{public: public, notes: map[int64]string{}}
		if err := v.readFile(strings.NewReader(before + "\n" + line(5) + "\n" + after)); err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for _, c := range v.signed {
			if _, err := checkpoint.Read([]byte(v.notes[c.Size]), public); err != nil || c.Size <= last {
				t.Errorf("%+v after %d, %v", c, last, err)
			}
			last = c.Size
		}
		if len(v.Findings) == 0 && v.notes[5] == "" {
			t.Error("a whole checkpoint was lost, and nothing is found")
		}
	})
}
