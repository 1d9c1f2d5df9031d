package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/slow"
)

// load is what laptops and approvers do with a centre whose processes are killed, and what the centre has
// acknowledged to them.
type load struct {
	*team
	over     atomic.Bool
	acks     atomic.Int64
	counts   counter
	segments []*shipped
	asked    []*call
	mu       sync.Mutex
}

// shipped is a segment of a laptop's record.
type shipped struct {
	laptop, name string
	text         []byte
	calls        int
	held         int64 // so many bytes were acknowledged
	complete     bool
}

// call is a call that waits for an approver.
type call struct {
	laptop, digest, id string
	by                 string      // who has allowed it
	answered           atomic.Bool // that was acknowledged
	uses               int         // that were acknowledged
}

// acknowledge counts an answer that must hold whatever is killed afterwards.
func (l *load) acknowledge(what string) {
	l.acks.Add(1)
	l.counts.add(what)
}

// anywhere returns one of the processes.
func (l *load) anywhere() *replica {
	return l.replicas[rand.IntN(len(l.replicas))] //nolint:gosec // which does not matter
}

// pause waits after an answer that did not come: a process starts again.
func pause() { time.Sleep(20 * time.Millisecond) }

const callsOfSegment = 40

// ship ships records of a laptop, segment after segment, until the load is over.
func (l *load) ship(t *testing.T, grant enrolment.Grant) {
	for !l.over.Load() && !t.Failed() {
		name, text := recordCalls(t, callsOfSegment)
		s := &shipped{laptop: grant.Laptop, name: name, text: text, calls: callsOfSegment}
		l.mu.Lock()
		l.segments = append(l.segments, s)
		l.mu.Unlock()
		for !s.complete && !t.Failed() {
			if !l.shipPart(s, grant.Token) {
				pause()
			}
		}
	}
}

// shipPart asks what is held and ships some bytes behind that. It reports whether these were acknowledged.
func (l *load) shipPart(s *shipped, token string) bool {
	session, _ := audit.SplitSegmentName(s.name)
	path := enrolment.RecordsPath + session + "/" + s.name
	var held enrolment.Held
	status, answer := l.send(l.anywhere(), "GET", path, token, nil, nil)
	if status != http.StatusOK || json.Unmarshal(answer, &held) != nil {
		return false
	}
	if held.Size < s.held || held.Size > int64(len(s.text)) {
		l.t.Errorf("%s: %d bytes are held of %d, and %d were acknowledged", s.name, held.Size, len(s.text), s.held)
	}
	end := min(held.Size+int64(500+rand.IntN(4000)), int64(len(s.text))) //nolint:gosec // how much does not matter
	query := fmt.Sprintf("?at=%d", held.Size)
	if end == int64(len(s.text)) {
		query += "&complete=1"
	}
	status, answer = l.send(l.anywhere(), "PUT", path+query, token, nil, s.text[held.Size:end])
	if status != http.StatusOK || json.Unmarshal(answer, &held) != nil {
		return false
	}
	s.held, s.complete = held.Size, held.Complete
	l.acknowledge("parts")
	return true
}

// ask lets a laptop ask about calls, one after the other, each answered at one process and waited for and used
// at others, until the load is over.
func (l *load) ask(t *testing.T, worker int, grant enrolment.Grant, name string, p person) {
	for n := 0; !l.over.Load() && !t.Failed(); n++ {
		asked := newAsk(worker*1000000 + n)
		c := &call{laptop: grant.Laptop, digest: asked.Digest, by: name}
		l.mu.Lock()
		l.asked = append(l.asked, c)
		l.mu.Unlock()
		l.put(c, grant.Token, asked)
		l.put(c, grant.Token, asked) // a retry is the same question
		var both sync.WaitGroup
		both.Go(func() { l.allow(c, p) })
		both.Go(func() { l.await(c, grant.Token) })
		both.Wait()
		l.use(c, grant.Token)
	}
}

// put asks until that is acknowledged.
func (l *load) put(c *call, token string, asked enrolment.AskQuestion) {
	for !l.t.Failed() {
		status, q := l.call(l.anywhere(), token, "POST", "", asked)
		if status != http.StatusOK {
			pause()
			continue
		}
		if c.id != "" && c.id != q.ID {
			l.t.Errorf("question %s was acknowledged, and the same call is now %s", c.id, q.ID)
		}
		c.id = q.ID
		l.acknowledge("questions")
		return
	}
}

// allow answers until that is acknowledged, or was before an acknowledgement was lost.
func (l *load) allow(c *call, p person) {
	for !l.t.Failed() {
		switch status := l.answer(l.anywhere(), p, c.id, c.digest, true); status {
		case http.StatusSeeOther:
			c.answered.Store(true)
			l.acknowledge("answers")
			return
		case http.StatusConflict:
			return
		case 0, http.StatusServiceUnavailable:
			pause()
		default:
			l.t.Errorf("an answer: %d", status)
		}
	}
}

// await waits until the call is approved. An answer that was acknowledged before it looks must be there.
func (l *load) await(c *call, token string) {
	for !l.t.Failed() {
		answered := c.answered.Load()
		status, q := l.call(l.anywhere(), token, "GET", "/"+c.id+"?wait=5", nil)
		switch {
		case status == 0 || status == http.StatusServiceUnavailable:
			pause()
		case status != http.StatusOK || q.State != enrolment.QuestionPending && q.State != enrolment.QuestionApproved, q.State == enrolment.QuestionPending && answered:
			l.t.Errorf("who waits is told %d, %+v; an answer was acknowledged: %t", status, q, answered)
		case q.State == enrolment.QuestionApproved:
			return
		}
	}
}

// use uses the approval at several processes at once, until one says that it is used up.
func (l *load) use(c *call, token string) {
	var uses atomic.Int64
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for !l.t.Failed() {
				switch status, _ := l.call(l.anywhere(), token, "POST", "/"+c.id+"/use", nil); status {
				case http.StatusOK:
					uses.Add(1)
					l.acknowledge("uses")
				case http.StatusConflict:
					return
				case 0, http.StatusServiceUnavailable:
					pause()
				default:
					l.t.Errorf("a use: %d", status)
				}
			}
		})
	}
	all.Wait()
	c.uses = int(uses.Load())
}

// killSome kills a process of the centre, the whole server of PostgreSQL, or both, and starts them again.
func (l *load) killSome(t *testing.T) {
	r := l.anywhere()
	what := rand.IntN(3) //nolint:gosec // which does not matter
	if what != 1 {
		l.server.Kill(t)
	}
	if what != 0 {
		r.kill()
	}
	l.counts.add([]string{"kills of PostgreSQL", "kills of a centre", "kills of both"}[what])
	if what != 1 {
		l.server.Restart(t)
	}
	if what == 0 {
		return
	}
	var err error
	for range 20 { // PostgreSQL may still be reading what it wrote
		if err = r.start(); err == nil {
			return
		}
		pause()
	}
	t.Fatal(err)
}

// However often the server of PostgreSQL and the centre's processes are killed while laptops ship and ask, and
// people answer: what was acknowledged is there, and nothing is there twice.
func TestKillsUnderLoad(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	kills := slow.Rounds(5, 100)
	// The server's administrator has it say that something is kept before it is on the disk.
	l := &load{team: newTeam(t, 2, "[checkpoints]\nseconds = 1\n", "synchronous_commit=off", "wal_writer_delay=10s")}
	l.shareCheckpointKey(t)
	var all sync.WaitGroup
	for i := range 2 {
		grant := l.enrol()
		all.Go(func() { l.ship(t, grant) })
		for j := range 2 {
			name := fmt.Sprint("person", i, j)
			p := l.signIn(name)
			all.Go(func() { l.ask(t, 2*i+j, grant, name, p) })
		}
	}
	for range kills {
		for before := l.acks.Load(); l.acks.Load() < before+30 && !t.Failed(); {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) //nolint:gosec // when does not matter
		if t.Failed() {
			break
		}
		l.killSome(t)
	}
	l.over.Store(true)
	all.Wait()
	if t.Failed() {
		return
	}
	l.checkRecords(t)
	l.checkQuestions(t)
	l.checkCheckpoints(t)
	t.Logf("%v, %d segments, %d calls", l.counts.of, len(l.segments), len(l.asked))
}

// runCommand runs a command of the program on the folder of a centre.
func runCommand(t *testing.T, r *replica, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "--dir", r.dir)...)
	cmd.Env = append(os.Environ(), "CLAWAI_TEST_PLAY=gateway")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// shareCheckpointKey has all centres sign checkpoints by one key.
func (l *load) shareCheckpointKey(t *testing.T) {
	first := l.replicas[0]
	runCommand(t, first, "checkpoint-key", "centre.example")
	for _, r := range l.replicas[1:] {
		for _, name := range []string{centre.CheckpointKeyFile, centre.CheckpointKeyFile + ".pub"} {
			src, err := os.ReadFile(filepath.Join(first.dir, name))
			l.must(err)
			l.must(os.WriteFile(filepath.Join(r.dir, name), src, 0o600))
		}
	}
}

// checkCheckpoints verifies what the centres have signed, by the file of each.
func (l *load) checkCheckpoints(t *testing.T) {
	for _, r := range l.replicas {
		t.Log(runCommand(t, r, "verify", "--key", filepath.Join(r.dir, centre.CheckpointKeyFile+".pub")))
	}
}

// checkRecords compares each segment, and the index of its records, with what was shipped.
func (l *load) checkRecords(t *testing.T) {
	for _, s := range l.segments {
		kept, err := l.centre.Store.ReadSegment(t.Context(), s.laptop, s.name, 0, len(s.text)+1)
		if err != nil || !bytes.Equal(kept, s.text) {
			t.Errorf("%s: %d bytes are kept of %d: %v", s.name, len(kept), len(s.text), err)
		}
		session, _ := audit.SplitSegmentName(s.name)
		records, err := l.centre.Store.ListRecords(t.Context(), store.Query{Laptop: s.laptop, Session: session, Most: 10 * s.calls})
		seen := map[uint64]bool{}
		for _, r := range records {
			seen[r.Seq] = true
		}
		if err != nil || len(records) != s.calls || len(seen) != s.calls {
			t.Errorf("%s: %d records with %d numbers of %d: %v", s.name, len(records), len(seen), s.calls, err)
		}
	}
	if found, err := l.centre.Store.ListFindings(t.Context(), "", "", 10); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// checkQuestions compares what is kept of each call with what was acknowledged.
func (l *load) checkQuestions(t *testing.T) {
	kept, err := l.centre.Store.ListQuestions(t.Context(), time.Now().Add(-24*time.Hour), 1000000)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != len(l.asked) {
		t.Errorf("%d questions are kept of %d calls", len(kept), len(l.asked))
	}
	of := map[string]*store.Question{}
	for i := range kept {
		of[kept[i].ID] = &kept[i]
	}
	lost := 0 // uses whose acknowledgement was lost: the call was denied, and nothing ran twice
	for _, c := range l.asked {
		q := of[c.id]
		if q == nil || q.Laptop != c.laptop || q.Asked.Digest != c.digest {
			t.Errorf("question %s was acknowledged and is not there: %+v", c.id, q)
			continue
		}
		if len(q.Votes) != 1 || q.Votes[0].By.Name != c.by || !q.Votes[0].Allow || q.State != enrolment.QuestionUsed {
			t.Errorf("question %s, whose approval was used up: %s, %+v", c.id, q.State, q.Votes)
		}
		if c.uses > 1 {
			t.Errorf("the approval of question %s was used %d times", c.id, c.uses)
		}
		if c.uses == 0 {
			lost++
		}
	}
	t.Logf("%d uses were not acknowledged", lost)
}
