//go:build linux && !race

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

var rssAnon = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

// resident is what the proxy holds of the machine's memory for itself alone, in KiB: its
// code, which it gives back and gets again, is the file's.
func (r *running) resident() int {
	r.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		r.t.Fatal(err)
	}
	m := rssAnon.FindSubmatch(status)
	if m == nil {
		r.t.Fatalf("no RssAnon in %s", status)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// comesBack waits until the proxy holds no more than a third over what it held at
// first. It is given what five seconds are on a machine that does nothing else, and
// what Go's runtime keeps for good to administer a heap as large as it once was: a
// fiftieth of that, when its objects are small.
func (r *running) comesBack(before int) {
	r.t.Helper()
	most, since := 0, time.Now()
	for late := time.After(patience); ; {
		now := r.resident()
		if most = max(most, now); now <= before*4/3+most/50 {
			r.t.Logf("%d KiB at first, %d at the most after it was done, %d now, after %v", before, most, now, time.Since(since).Round(time.Millisecond))
			return
		}
		select {
		case <-late:
			r.t.Fatalf("it holds %d KiB, held %d at first and %d at the most", now, before, most)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A policy that is saved again and again leaves nothing behind. It is looked at after
// every thousandth time too, so that a long run shows what grows.
func TestReloadsGiveTheirMemoryBack(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	rules := func(shut string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "[[rule]]\naction = \"deny\"\ntool = %q\n", shut)
		for i := range 20_000 {
			fmt.Fprintf(&b, "[[rule]]\naction = \"allow\"\ntool = \"tool_%d\"\nargs.path = \"/srv/%d/**\"\n", i, i)
		}
		return b.String() + allowTools + "# end\n"
	}
	r := prepare(t)
	r.write("policy.toml", rules("x"))
	r.start()
	n := 0
	reload := func(shut string) { // and call until it is in force
		t.Helper()
		r.write("policy.toml", rules(shut))
		for late := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			n++
			r.call(strconv.Itoa(n), shut)
			if strings.Contains(r.next(), `"decision":"deny"`) {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("%s is not in force (stderr %s)", shut, r.read("stderr"))
			}
		}
	}
	r.call("0", "x") // the session stands, so that what follows is a reload
	r.next()
	reload("y")
	time.Sleep(3 * time.Second)
	before := r.resident()
	for i := range slow.Rounds(8, 10_000) {
		reload("z" + strconv.Itoa(i))
		if i%1000 == 999 {
			t.Logf("%d reloads, %d calls", i+1, n)
			r.comesBack(before)
		}
	}
	r.comesBack(before)
}

// A crowd of calls in flight is not remembered when it has been answered.
func TestACrowdGivesItsMemoryBack(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	r := launchProxy(t)
	crowd := func(n int) {
		go func() {
			text := strings.Repeat("x", 500)
			for i := range n {
				fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hold","arguments":{"text":%q}}}`+"\n", i+1, text)
			}
			r.call("0", "release")
		}()
		for range n + 1 {
			r.next()
		}
	}
	time.Sleep(2 * time.Second) // what the start alone needed is given back by then
	crowd(2000)                 // a proxy that has worked: its code is in memory, its tables have been made
	time.Sleep(4 * time.Second)
	before := r.resident()
	crowd(slow.Rounds(20_000, 100_000))
	r.comesBack(before)
}

// What readers asked for who hung up before they had it is not kept.
func TestHungUpReadersLeaveNothing(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	large := strings.Repeat("x", 3<<20)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct{ ID int }
		_ = json.NewDecoder(r.Body).Decode(&call)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`, call.ID, large)
	}))
	defer back.Close()
	s := serve(t, prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "one="+back.URL), 1)
	hangUp := func(id int) {
		resp, err := ownClient(t).Post(s.at["one"], "application/json", strings.NewReader(callOf(id, "large")))
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
	}
	crowd := func(first, n int) {
		var all sync.WaitGroup
		for id := range n {
			all.Go(func() { hangUp(first + id) })
		}
		all.Wait()
	}
	crowd(1, 8) // a proxy that has worked: its code is in memory, its buffers have been made
	time.Sleep(3 * time.Second)
	before := s.resident()
	crowd(9, 30)
	s.comesBack(before + len(large)>>10) // the collector may have left one of the thirty where it was
}
