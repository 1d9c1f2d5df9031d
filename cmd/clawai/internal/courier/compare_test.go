package courier

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the tests change the database as an attacker would

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/site"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/checkpoint"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/slow"
)

// pair is a real centre that serves, and a laptop that is enrolled there.
type pair struct {
	*testing.T
	dir     string // of the centre
	folders config.Folders
	centre  *centre.Centre
	public  string // key of checkpoints
	address string
	end     func()
}

func (p *pair) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// newPair makes a centre that signs checkpoints, and a laptop with records, which it has shipped and the
// centre has signed at three times.
func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{T: t, dir: t.TempDir(), folders: newFolders(t)}
	_, bundleKey, err := bundle.NewKey("team.example")
	p.must(err)
	p.must(os.WriteFile(filepath.Join(p.dir, centre.SettingsFile), fmt.Appendf(nil, "bundle_keys = [%q]\n", bundleKey), 0o600))
	secret, public, err := bundle.NewKey("centre.example")
	p.must(err)
	p.public = public
	p.must(os.WriteFile(filepath.Join(p.dir, centre.CheckpointKeyFile), []byte(secret+"\n"), 0o600))
	p.serve()
	code, err := p.centre.BeginEnrolment(t.Context(), enrolment.AskEnrolment{Name: "laptop", OS: "linux", Version: "1"}, "here")
	p.must(err)
	_, err = p.centre.DecideWish(t.Context(), code.UserCode, true, principal.Principal{Issuer: principal.Local, Subject: "admin", Name: "admin"})
	p.must(err)
	g, refusal, err := p.centre.PollToken(t.Context(), code.DeviceCode)
	if p.must(err); refusal != nil || g.CheckpointKey != public {
		t.Fatalf("%+v, %+v", g, refusal)
	}
	p.must(enrolment.WriteEnrolment(p.folders.State, enrolment.Enrolment{URL: p.address, Laptop: g.Laptop, Token: g.Token, BundleKeys: g.BundleKeys, Offline: g.Offline, Since: time.Now().Add(-time.Hour).UTC(), CheckpointKey: g.CheckpointKey}))
	for range 3 {
		p.record(8)
		p.ship()
		p.must(p.centre.MakeCheckpoint(t.Context()))
	}
	return p
}

// serve opens the centre and serves it.
func (p *pair) serve() {
	p.Helper()
	var err error
	p.centre, err = centre.Open(context.Background(), p.dir)
	p.must(err)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	p.must(err)
	s, err := site.New(p.centre, l)
	p.must(err)
	s.Report = func(err error) { p.Error(err) }
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ctx)
	}()
	ended := false
	p.end = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		<-done
		_ = p.centre.Close()
	}
	p.Cleanup(p.end)
	if e, err := enrolment.ReadEnrolment(p.folders.State); err == nil {
		e.URL = s.Address()
		p.must(enrolment.WriteEnrolment(p.folders.State, e))
	}
	p.address = s.Address()
}

// record records calls of a new session, in several segments.
func (p *pair) record(calls int) {
	p.Helper()
	log, err := audit.Open(base.RecordDir(p.folders.State), audit.Options{MaxBytes: 2000})
	p.must(err)
	for i := range calls {
		p.must(log.Record(&event.Event{
			Kind: event.Decision, Time: time.Now(), Server: "files", Direction: "client", Method: "tools/call", Subject: "tool", Names: []string{"read_file"},
			Args: fmt.Appendf(nil, `{"path":"/srv/%d"}`, i), Policy: "allow", Decision: "allow", Stage: "policy", Code: "rule",
		}))
	}
	p.must(log.Close())
}

func (p *pair) ship() {
	p.Helper()
	c, err := NewCourier(p.folders)
	p.must(err)
	defer c.Close()
	for more := true; more; {
		more, err = c.Ship(p.Context())
		p.must(err)
	}
}

// compare returns what the laptop finds.
func (p *pair) compare() Comparison {
	p.Helper()
	c, err := NewCourier(p.folders)
	p.must(err)
	defer c.Close()
	found, err := c.Compare(p.Context(), "")
	p.must(err)
	return found
}

// verify returns what the centre finds.
func (p *pair) verify() centre.Verification {
	p.Helper()
	src, err := os.ReadFile(filepath.Join(p.dir, centre.CheckpointsFile))
	p.must(err)
	found, err := p.centre.Verify(p.Context(), bytes.NewReader(src), p.public)
	p.must(err)
	return found
}

// copyPair returns a pair with the same files, which does not serve yet.
func (p *pair) copyPair(t *testing.T) *pair {
	t.Helper()
	is := &pair{T: t, dir: t.TempDir(), folders: newFolders(t), public: p.public}
	copyFolder(t, p.dir, is.dir)
	copyFolder(t, p.folders.State, is.folders.State)
	return is
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, _ := filepath.Rel(from, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rest), 0o700)
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rest), src, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// segments returns the paths of the segments here, in the order of their names.
func (p *pair) segments() []string {
	p.Helper()
	all, err := filepath.Glob(filepath.Join(base.RecordDir(p.folders.State), "*-*.ndjson"))
	if p.must(err); len(all) < 6 {
		p.Fatalf("%d segments", len(all))
	}
	return all
}

// rewrite replaces a file, as its owner can.
func (p *pair) rewrite(path string, change func([]byte) []byte) {
	p.Helper()
	info, err := os.Stat(path)
	p.must(err)
	src, err := os.ReadFile(path)
	p.must(err)
	p.must(os.Remove(path))
	p.must(os.WriteFile(path, change(src), info.Mode()))
}

// sql changes the database behind the centre's back.
func (p *pair) sql(statements ...string) {
	p.Helper()
	db, err := sql.Open("sqlite", filepath.Join(p.dir, centre.DatabaseFile))
	p.must(err)
	defer db.Close()
	for _, s := range statements {
		result, err := db.ExecContext(p.Context(), s)
		p.must(err)
		if n, _ := result.RowsAffected(); n == 0 {
			p.Fatalf("%s changes nothing", s)
		}
	}
}

// checkpoints changes the lines of the file of checkpoints.
func (p *pair) checkpoints(change func(lines [][]byte) [][]byte) {
	p.Helper()
	p.rewrite(filepath.Join(p.dir, centre.CheckpointsFile), func(src []byte) []byte {
		lines := bytes.SplitAfter(src, []byte("\n"))
		return bytes.Join(change(lines[:len(lines)-1]), nil)
	})
}

func cutLine(src []byte) []byte {
	lines := bytes.SplitAfter(src, []byte("\n"))
	return bytes.Join(lines[:len(lines)-2], nil)
}

const (
	firstOf  = "(SELECT min(name) FROM segment)"
	newestOf = "(SELECT max(size) FROM checkpoint)"
)

// forks changes the database as somebody does who wants other bytes to look as if they had always been there,
// and lets the centre sign that with its key.
func forks(p *pair) {
	p.sql("UPDATE part SET content = CAST(replace(CAST(content AS TEXT), 'read_file', 'fetch_url') AS BLOB) WHERE segment = "+firstOf,
		"UPDATE segment SET sum = '', logged = -1", "DELETE FROM head", "DELETE FROM tree", "DELETE FROM checkpoint")
	p.must(os.Remove(filepath.Join(p.dir, centre.CheckpointsFile)))
	c, err := centre.Open(p.Context(), p.dir)
	p.must(err)
	p.must(c.MakeCheckpoint(p.Context()))
	p.must(c.Close())
}

// foreignNote returns a checkpoint that the key of another centre has signed.
func foreignNote(p *pair, size int64) string {
	p.Helper()
	secret, _, err := bundle.NewKey("other.example")
	p.must(err)
	note, err := checkpoint.Sign(checkpoint.Checkpoint{Size: size, Made: time.Now()}, secret)
	p.must(err)
	return string(note)
}

// Each way to change, drop, insert or fork segments and checkpoints, here and in the database, is found by
// the one side or the other. What no side finds stands in docs/threat-model.md.
func TestEachChangeOfTheRecordIsFound(t *testing.T) {
	slow.Test(t)
	whole := newPair(t)
	if r := whole.compare(); len(r.Findings)+len(r.Notes) > 0 || r.Segments < 6 || r.Proved != r.Segments || r.Checkpoint == nil {
		t.Fatalf("%+v", r)
	}
	if v := whole.verify(); len(v.Findings)+len(v.Notes) > 0 || v.Checkpoints != 3 || v.Segments < 6 || v.Heads < 6 {
		t.Fatalf("%+v", v)
	}
	whole.end()
	for name, c := range map[string]struct {
		change         func(p *pair)
		centre, laptop string // what each side finds; "": nothing
	}{
		"nothing": {func(*pair) {}, "", ""},

		// On the laptop.
		"a byte here": {func(p *pair) {
			p.rewrite(p.segments()[1], func(src []byte) []byte { return bytes.Replace(src, []byte("read_file"), []byte("read_filf"), 1) })
		}, "", "changed or rewritten"},
		"a segment cut here":        {func(p *pair) { p.rewrite(p.segments()[1], cutLine) }, "", "was cut here"},
		"the last segment cut here": {func(p *pair) { all := p.segments(); p.rewrite(all[len(all)-1], cutLine) }, "", "was cut here"},
		"a segment lengthened here": {func(p *pair) {
			p.rewrite(p.segments()[1], func(src []byte) []byte { return append(src, src[:bytes.IndexByte(src, '\n')+1]...) })
		}, "", "was lengthened here"},
		"a segment dropped here": {func(p *pair) { p.must(os.Remove(p.segments()[1])) }, "", "was dropped here"},
		"two segments swapped here": {func(p *pair) {
			all := p.segments()
			p.must(os.Rename(all[1], all[1]+"x"))
			p.must(os.Rename(all[2], all[1]))
			p.must(os.Rename(all[1]+"x", all[2]))
		}, "", "changed or rewritten|cut here"},
		"all rewritten here": {func(p *pair) {
			p.must(os.RemoveAll(base.RecordDir(p.folders.State)))
			p.record(8)
		}, "", "the ledger here was rewritten"},

		// In the database.
		"a byte in the database": {func(p *pair) {
			p.sql("UPDATE part SET content = CAST(replace(CAST(content AS TEXT), 'read_file', 'fetch_url') AS BLOB) WHERE segment = " + firstOf)
		}, "were changed", ""}, // the centre tells laptops the digest that it computed as the bytes came
		"a byte in the database, and its sum": {func(p *pair) {
			p.sql("UPDATE part SET content = CAST(replace(CAST(content AS TEXT), 'read_file', 'fetch_url') AS BLOB) WHERE segment = "+firstOf, "UPDATE segment SET sum = '' WHERE name = "+firstOf)
		}, "were changed", "changed or rewritten"},
		"a segment cut in the database": {func(p *pair) {
			p.sql("UPDATE segment SET size = size - 10, sum = '', complete = 0 WHERE name = " + firstOf)
		}, "it was cut", "was cut there"},
		"bytes cut in the database": {func(p *pair) { p.sql("DELETE FROM part WHERE segment = " + firstOf) }, "they are gone", ""},
		"a segment lengthened in the database": {func(p *pair) {
			p.sql("INSERT INTO part (org, laptop, segment, begins, size, content) SELECT org, laptop, name, size, 2, CAST('{}' AS BLOB) FROM segment WHERE name = "+firstOf, "UPDATE segment SET size = size + 2, sum = '' WHERE name = "+firstOf)
		}, "lengthened", "lengthened there"},
		"a segment dropped from the database": {func(p *pair) {
			p.sql("DELETE FROM part WHERE segment = "+firstOf, "DELETE FROM segment WHERE name = "+firstOf)
		}, "was dropped", "holds nothing now: it was dropped there"},
		"a laptop dropped from the database": {func(p *pair) { p.sql("DELETE FROM segment") }, "was dropped", "was dropped there"},
		"a segment inserted into the database": {func(p *pair) {
			p.sql("INSERT INTO segment (org, laptop, name, session, size, complete, arrival, changed) SELECT org, laptop, '20200101T000000.000000001Z-k3f9x2m7qa.ndjson', 'k3f9x2m7qa', 0, 1, '{}', 1 FROM segment LIMIT 1")
		}, "", "was inserted there"},
		"a head changed": {func(p *pair) { p.sql("UPDATE head SET size = size - 1 WHERE number = 1") }, "heads 0 to .* were changed", "cannot prove"},
		"a head dropped": {func(p *pair) { p.sql("DELETE FROM head WHERE number = 1") }, "head 1 is not in the database", ""},
		"heads swapped": {func(p *pair) {
			p.sql("UPDATE head SET number = 900 WHERE number = 0", "UPDATE head SET number = 0 WHERE number = 1", "UPDATE head SET number = 1 WHERE number = 900")
		}, "were changed", "cannot prove"},
		"heads cut": {func(p *pair) { p.sql("DELETE FROM head WHERE number = (SELECT max(number) FROM head)") }, "its tree was cut", ""},
		"a head inserted": {func(p *pair) {
			p.sql("UPDATE head SET number = number + 1001", "UPDATE head SET number = number - 1000", "INSERT INTO head SELECT org, 0, laptop, segment, size, digest, complete FROM head WHERE number = 1")
		}, "were changed", "cannot prove"},
		"a checkpoint changed": {func(p *pair) {
			p.sql("UPDATE checkpoint SET note = replace(note, 'time 2', 'time 3') WHERE size = " + newestOf)
		}, "in the database cannot be used", "cannot be used"},
		"a checkpoint dropped":          {func(p *pair) { p.sql("DELETE FROM checkpoint WHERE size = (SELECT min(size) FROM checkpoint)") }, "not in the database: it was dropped there", ""},
		"the newest checkpoint dropped": {func(p *pair) { p.sql("DELETE FROM checkpoint WHERE size = " + newestOf) }, "not in the database: it was dropped there", "checkpoints were cut"},
		"all checkpoints dropped":       {func(p *pair) { p.sql("DELETE FROM checkpoint") }, "it was dropped there", "its checkpoints were dropped"},
		"a checkpoint inserted": {func(p *pair) {
			p.sql("INSERT INTO checkpoint SELECT org, 1, made, note FROM checkpoint WHERE size = " + newestOf)
		}, "is one of", ""},
		"a checkpoint by another key in place of the newest": {func(p *pair) {
			p.sql("UPDATE checkpoint SET note = '" + foreignNote(p, 3) + "' WHERE size = " + newestOf)
		}, "not in the database|cannot be used", "its checkpoints were dropped"},
		"a checkpoint by another key behind the newest": {func(p *pair) {
			p.sql("INSERT INTO checkpoint SELECT org, 900, made, '" + foreignNote(p, 900) + "' FROM checkpoint WHERE size = " + newestOf)
			p.serve()
			if err := p.centre.MakeCheckpoint(p.Context()); err == nil || !strings.Contains(err.Error(), "is by another key") {
				p.Errorf("%v", err)
			}
			p.end()
		}, "", "its checkpoints were dropped"},
		"another database": {forks, "", "were forked or rewritten"},
		"a line changed in the file": {func(p *pair) {
			p.checkpoints(func(l [][]byte) [][]byte { l[1] = bytes.Replace(l[1], []byte("time 2"), []byte("time 3"), 1); return l })
		}, "line 2 of the file: the checkpoint cannot be used", ""},
		"a line dropped from the file": {func(p *pair) { p.checkpoints(func(l [][]byte) [][]byte { return append(l[:1:1], l[2]) }) }, "not in the file", ""},
		"lines swapped in the file":    {func(p *pair) { p.checkpoints(func(l [][]byte) [][]byte { return [][]byte{l[1], l[0], l[2]} }) }, "forked or mixed", ""},
		"something else inserted in the file": {func(p *pair) {
			p.checkpoints(func(l [][]byte) [][]byte { return append([][]byte{[]byte("nothing\n")}, l...) })
		}, "line 1 of the file is no checkpoint", ""},
		"a line of the file that a crash left": {func(p *pair) {
			p.checkpoints(func(l [][]byte) [][]byte { return [][]byte{l[0], append(l[1][:20:20], '\n'), l[1], l[2]} })
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := whole.copyPair(t)
			c.change(p)
			p.serve()
			v := p.verify()
			wantsFinding(t, "the centre", v.Findings, c.centre)
			var here []string
			for _, f := range p.compare().Findings {
				here = append(here, f.File+": "+f.What)
			}
			wantsFinding(t, "the laptop", here, c.laptop)
		})
	}
}

func wantsFinding(t *testing.T, who string, found []string, want string) {
	t.Helper()
	if want == "" && len(found) > 0 || want != "" && !regexp.MustCompile(want).MatchString(strings.Join(found, "\n")) {
		t.Errorf("%s finds %q, want %q", who, found, want)
	}
}

// What is not wrong is no finding: records that are on their way, segments that the retention removed, and
// a centre that signs nothing.
func TestComparisonOfWhatIsOnItsWay(t *testing.T) {
	p := newPair(t)
	p.record(3)
	r := p.compare()
	if len(r.Findings) > 0 || len(r.Notes) == 0 || !strings.Contains(r.Notes[0].What, "does not have it yet") {
		t.Errorf("not shipped: %+v", r)
	}
	p.ship()
	if r = p.compare(); len(r.Findings) > 0 || len(r.Notes) == 0 || !strings.Contains(r.Notes[0].What, "no checkpoint has it yet") {
		t.Errorf("not signed: %+v", r)
	}
	p.must(p.centre.MakeCheckpoint(t.Context()))
	if r = p.compare(); len(r.Findings)+len(r.Notes) > 0 {
		t.Errorf("%+v", r)
	}
	p.end()
	p.must(os.Remove(filepath.Join(p.dir, centre.CheckpointKeyFile)))
	p.serve()
	if err := p.centre.MakeCheckpoint(t.Context()); err == nil {
		t.Error("a checkpoint was signed without a key")
	}
	if r = p.compare(); len(r.Findings) > 0 || r.Checkpoint == nil {
		t.Errorf("%+v", r)
	}
}

// A centre signs nothing over a database that is not the one that the file of checkpoints tells of.
func TestNothingIsSignedOverAnotherDatabase(t *testing.T) {
	p := newPair(t)
	p.record(3)
	p.ship()
	p.end()
	p.sql("UPDATE tree SET hash = zeroblob(32)")
	p.serve()
	if err := p.centre.MakeCheckpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "is not the one that") {
		t.Errorf("%v", err)
	}
}

// Whatever answers at the centre's address, the comparison ends, and keeps little of it.
func TestCentreThatListsAnything(t *testing.T) {
	p := newPair(t)
	p.end()
	held := func(n int) checkpoint.Held {
		return checkpoint.Held{Head: checkpoint.Head{Segment: fmt.Sprintf("%09d.ndjson", n), Size: 1, Digest: strings.Repeat("a", 64)}}
	}
	pages := func(each int, change func(*checkpoint.Held)) func(asked int) any {
		return func(asked int) any {
			page := checkpoint.Heads{More: true, Findings: []string{}}
			for i := range each {
				h := held(asked*each + i)
				if change != nil {
					change(&h)
				}
				page.Held = append(page.Held, h)
			}
			return page
		}
	}
	for name, c := range map[string]struct {
		answer func(asked int) any
		want   string
	}{
		"pages without end":     {pages(1, nil), "does not end"},
		"a page that is large":  {pages(checkpoint.MostHeld+1, nil), "a page has 201 segments"},
		"a page without any":    {pages(0, nil), "a page has 0 segments"},
		"the same page again":   {func(int) any { return checkpoint.Heads{More: true, Held: []checkpoint.Held{held(1)}} }, "stands behind"},
		"a size below 0":        {pages(1, func(h *checkpoint.Held) { h.Size = -1 }), "of -1 bytes"},
		"a digest that is long": {pages(1, func(h *checkpoint.Held) { h.Digest += "a" }), "is this its address"},
		"a proof of too much":   {pages(1, func(h *checkpoint.Held) { h.Leaf = &checkpoint.Leaf{} }), "is this its address"},
		"a name that is long":   {pages(1, func(h *checkpoint.Held) { h.Segment += strings.Repeat("a", 1000) }), "is this its address"},
		"many findings":         {func(int) any { return checkpoint.Heads{Findings: make([]string, checkpoint.MostFindings+1)} }, "and 51 findings"},
		"findings on each page": {func(asked int) any {
			return checkpoint.Heads{Held: []checkpoint.Held{held(asked)}, More: true, Findings: []string{"x"}}
		}, "and 1 findings"},
		"many segments that are not here": {func(asked int) any {
			page := pages(checkpoint.MostHeld, nil)(asked).(checkpoint.Heads)
			page.More = asked < 20
			return page
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var out any = checkpoint.Newest{}
				if r.URL.Path == checkpoint.HeadsPath {
					asked++
					out = c.answer(asked)
				}
				_ = json.NewEncoder(w).Encode(out)
			}))
			defer s.Close()
			e, err := enrolment.ReadEnrolment(p.folders.State)
			p.must(err)
			e.URL = s.URL
			p.must(enrolment.WriteEnrolment(p.folders.State, e))
			is, err := NewCourier(p.folders)
			p.must(err)
			defer is.Close()
			found, err := is.Compare(t.Context(), "")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.want == "" && (len(found.Findings) != mostListed+1 || !strings.Contains(found.Findings[mostListed].What, "there are more")) {
				t.Errorf("%d findings are listed", len(found.Findings))
			}
		})
	}
}

// A checkpoint that the laptop kept and cannot read is found until its owner removes it, and not once.
func TestKeptCheckpointThatIsDamagedStaysFound(t *testing.T) {
	p := newPair(t)
	p.compare()
	kept := SeenFile(p.folders.State)
	p.must(os.WriteFile(kept, []byte("damaged\n"), 0o600))
	for range 2 {
		if r := p.compare(); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].What, kept) || r.Proved == 0 {
			t.Errorf("%+v", r)
		}
	}
	p.must(os.Remove(kept))
	if r := p.compare(); len(r.Findings) > 0 {
		t.Errorf("%+v", r)
	}
}

// A centre that was put back from a copy gets again what the copy had not, once the laptop forgets what it
// was told, as docs/gateway.md says.
func TestRestoredCentreGetsWhatItLost(t *testing.T) {
	p := newPair(t)
	p.end()
	kept := t.TempDir()
	copyFolder(t, p.dir, kept)
	p.serve()
	p.record(3)
	p.ship()
	p.must(p.centre.MakeCheckpoint(t.Context()))
	if r := p.compare(); len(r.Findings) > 0 {
		t.Fatalf("%+v", r)
	}
	p.end()
	p.must(os.RemoveAll(p.dir))
	copyFolder(t, kept, p.dir)
	p.must(os.Remove(filepath.Join(p.dir, centre.CheckpointsFile)))
	p.serve()
	p.ship()
	if r := p.compare(); !strings.Contains(fmt.Sprint(r.Findings), "holds nothing now") {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"checkpoint.note", "shipped.json"} {
		p.must(os.Remove(filepath.Join(enrolment.Folder(p.folders.State), name)))
	}
	p.ship()
	p.must(p.centre.MakeCheckpoint(t.Context()))
	if r := p.compare(); len(r.Findings)+len(r.Notes) > 0 || r.Segments != len(p.segments()) {
		t.Errorf("%+v", r)
	}
}
