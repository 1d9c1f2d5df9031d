package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

// killed is a proxy that is killed while calls 1, 2, 3 … go through it, some of them at a
// time. Every fifth is denied. The test is the server: it reads and writes the pipes of a
// process that does neither, so that it sees every byte that was ever passed on.
type killed struct {
	*running
	served   chan struct{} // closed when there is nothing more to read
	heard    []int         // ids of calls that were passed on
	torn     bool          // and the beginning of one more
	answered atomic.Int64
	sent     atomic.Int64
}

const (
	atOnce       = 64 // calls that wait for their answers
	eachIsDenied = 5
)

// TestAProxyKilledAnywhere kills proxies, ten after each other over the same record, at any
// instant of their start and of their work: whatever was passed on is on record, the
// chain holds, and nothing is missing but the tail. CLAWAI_SOAK=full kills 10,000.
func TestAProxyKilledAnywhere(t *testing.T) {
	var kills, early, forwarded atomic.Int64
	rounds := slow.Rounds(3, 1000)
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			dir, known := t.TempDir(), map[string]bool{}
			for range 10 {
				k := launchKilled(t, dir)
				k.killSomewhere()
				if begun := k.check(known); !begun {
					early.Add(1)
				}
				kills.Add(1)
				forwarded.Add(int64(len(k.heard)))
				if t.Failed() {
					return
				}
			}
			t.Logf("%d kills until now, %d of them before there was a record; %d calls passed on, all on record", kills.Load(), early.Load(), forwarded.Load())
		})
	}
}

func launchKilled(t *testing.T, dir string) *killed {
	r := &running{t: t, dir: dir, exited: make(chan struct{})}
	r.write("policy.toml", "[[rule]]\naction = \"deny\"\ntool = \"rm\"\n\n"+allowTools)
	r.write("pid", "")
	r.cmd = exec.Command("clawai", "proxy", "--policy", r.path("policy.toml"), "--state", r.path("state"), "--",
		"sh", "-c", `(echo $$ >"$0"); exec sleep 3600`, r.path("pid"))
	r.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "CLAWAI_CONFIG_DIR="+r.dir)
	k := &killed{running: r.start(), served: make(chan struct{})}
	go k.call()
	go k.listen()
	go k.serve()
	return k
}

// call keeps calls in flight until nobody takes them any more.
func (k *killed) call() {
	defer k.in.Close()
	var batch []byte
	for id := 1; ; {
		room := atOnce - int(k.sent.Load()-k.answered.Load())
		if room <= 0 {
			time.Sleep(10 * time.Microsecond)
			select {
			case <-k.exited:
				return
			default:
				continue
			}
		}
		batch = batch[:0]
		for range 1 + rand.IntN(room) {
			tool := "read"
			if id%eachIsDenied == 0 {
				tool = "rm"
			}
			batch = fmt.Appendf(batch, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"path":"/srv/%s"}}}`+"\n",
				id, tool, strings.Repeat("x", rand.IntN(1000)))
			id++
		}
		k.sent.Store(int64(id - 1))
		if _, err := k.in.Write(batch); err != nil {
			return
		}
	}
}

// listen counts the answers, refusals too.
func (k *killed) listen() {
	defer k.unread.Close() // 10,000 pipes are more than a process may have open
	for {
		if _, err := k.out.ReadSlice('\n'); err != nil {
			return
		}
		k.answered.Add(1)
	}
}

// serve answers as the server, and reads what is left when the proxy is no more.
func (k *killed) serve() {
	defer close(k.served)
	in, out := k.pipes()
	if in == nil {
		return
	}
	defer in.Close()
	defer out.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			k.torn = len(line) > 0
			return
		}
		_, after, _ := bytes.Cut(line, []byte(`"id":`))
		digits, _, _ := bytes.Cut(after, []byte(","))
		id, err := strconv.Atoi(string(digits))
		if err != nil {
			k.t.Errorf("the server heard %q", line)
		}
		k.heard = append(k.heard, id)
		_, _ = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`+"\n", id) // to whom, when it is dead
	}
}

// pipes are the server's, opened once more; nil when the proxy died before that.
func (k *killed) pipes() (in, out *os.File) {
	for {
		if pid, whole := strings.CutSuffix(k.read("pid"), "\n"); whole {
			in, err := os.OpenFile("/proc/"+pid+"/fd/0", os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				return nil, nil
			}
			out, err := os.OpenFile("/proc/"+pid+"/fd/1", os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				out = nil // it died between the two; what is in the first is read all the same
			}
			return in, out
		}
		select {
		case <-k.exited:
			return nil, nil
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// killSomewhere kills it while it starts, one time in four, and else at its work.
func (k *killed) killSomewhere() {
	if rand.IntN(4) > 0 {
		for some := rand.Int64N(600); k.answered.Load() < some; {
			select {
			case <-k.exited:
				k.t.Fatalf("it ended by itself: %s", k.read("stderr"))
			case <-time.After(50 * time.Microsecond):
			}
		}
		time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Microsecond))))
	} else {
		time.Sleep(time.Duration(rand.Int64N(int64(40 * time.Millisecond))))
	}
	_ = k.cmd.Process.Kill()
	<-k.exited
	<-k.served
}

// check compares what was heard with what is on record, and says whether this session has
// begun one.
func (k *killed) check(known map[string]bool) bool {
	dir := filepath.Join(k.path("state"), "audit")
	if report, err := audit.Verify(dir, "", audit.Retention{}); err != nil && len(k.heard) > 0 || err == nil && !report.IsIntact() {
		k.t.Errorf("%v: %+v", err, report)
	}
	session := ""
	decided := map[string]int{} // by record
	decisions, outcomes := 0, 0
	for e, err := range audit.Read(dir, audit.Filter{}) {
		if err != nil {
			k.t.Error(err)
			continue
		}
		if known[e.Session] {
			continue
		}
		if session == "" {
			session = e.Session
		} else if session != e.Session {
			k.t.Errorf("two new sessions: %s and %s", session, e.Session)
		}
		switch id, _ := strconv.Atoi(string(e.ID)); e.Kind {
		case event.Decision:
			if decisions++; id != decisions || (e.Decision == "deny") != (id%eachIsDenied == 0) {
				k.t.Errorf("decision %d is of call %d: %s", decisions, id, e.Raw)
			}
			decided[e.Record] = id
		case event.Outcome:
			if outcomes = following(outcomes); decided[e.Ref] != outcomes {
				k.t.Errorf("an outcome of call %d, where that of %d should be", decided[e.Ref], outcomes)
			}
		}
	}
	last := 0
	for _, id := range k.heard {
		if last = following(last); id != last {
			k.t.Errorf("the server heard call %d, where %d should be", id, last)
		}
	}
	if k.torn {
		last = following(last)
	}
	if last > decisions {
		k.t.Errorf("call %d was passed on, and the record ends with %d", last, decisions)
	}
	if answered := int(k.answered.Load()); answered > decisions || answered > outcomes+atOnce+answered/eachIsDenied {
		k.t.Errorf("%d answers, of %d decisions and %d outcomes", answered, decisions, outcomes)
	}
	known[session] = true
	return session != ""
}

// following is the next call after id that is allowed.
func following(id int) int {
	if id++; id%eachIsDenied == 0 {
		id++
	}
	return id
}
