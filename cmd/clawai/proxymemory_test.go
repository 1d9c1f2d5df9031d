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

	"github.com/clawai/clawai/internal/event"
)

// soak says how many times more a long run does (docs/benchmarks.md).
func soak() int {
	if os.Getenv("CLAWAI_SOAK") == "full" {
		return 100
	}
	return 1
}

var vmRSS = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// resident is what the proxy holds of the machine's memory, in KiB.
func (r *running) resident() int {
	r.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		r.t.Fatal(err)
	}
	m := vmRSS.FindSubmatch(status)
	if m == nil {
		r.t.Fatalf("no VmRSS in %s", status)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// comesBack waits until the proxy holds no more than a fifth over what it held at
// first. It is given what five seconds are on a machine that does nothing else.
func (r *running) comesBack(before int) {
	r.t.Helper()
	most := 0
	for late := time.After(patience); ; {
		now := r.resident()
		if most = max(most, now); now <= before*12/10 {
			r.t.Logf("%d KiB at first, %d at the most after it was done, %d now", before, most, now)
			return
		}
		select {
		case <-late:
			r.t.Fatalf("it holds %d KiB, and held %d at first", now, before)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A policy that is saved again and again leaves nothing behind.
func TestReloadsGiveTheirMemoryBack(t *testing.T) {
	rules := func(first string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "[[rule]]\naction = \"deny\"\ntool = %q\n", first)
		for i := range 20_000 {
			fmt.Fprintf(&b, "[[rule]]\naction = \"allow\"\ntool = \"tool_%d\"\nargs.path = \"/srv/%d/**\"\n", i, i)
		}
		return b.String() + allowTools + "# end\n"
	}
	r := prepare(t)
	r.write("policy.toml", rules("x"))
	r.start()
	n := 0
	call := func() {
		n++
		r.call(strconv.Itoa(n), "hello")
		r.next()
	}
	call()
	r.write("policy.toml", rules("y")) // what a reload needs is part of what it holds
	r.recorded(event.Policy, "policy_loaded")
	time.Sleep(3 * time.Second)
	before := r.resident()
	for i := range 8 * soak() {
		r.write("policy.toml", rules("z"+strconv.Itoa(i)))
		for were := i + 1; r.times(event.Policy, "policy_loaded") <= were; {
			call()
		}
	}
	r.comesBack(before)
}

// A crowd of calls in flight is not remembered when it has been answered.
func TestACrowdGivesItsMemoryBack(t *testing.T) {
	r := launchProxy(t)
	time.Sleep(3 * time.Second)
	before := r.resident()
	crowd := 20_000 + 800*soak()
	go func() {
		text := strings.Repeat("x", 500)
		for i := range crowd {
			fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hold","arguments":{"text":%q}}}`+"\n", i+1, text)
		}
		r.call("0", "release")
	}()
	for range crowd + 1 {
		r.next()
	}
	r.comesBack(before)
}

// What readers asked for who hung up before they had it is not kept.
func TestHungUpReadersLeaveNothing(t *testing.T) {
	large := strings.Repeat("x", 8<<20)
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
	hangUp(1)
	time.Sleep(3 * time.Second)
	before := s.resident()
	var all sync.WaitGroup
	for id := range 30 {
		all.Go(func() { hangUp(id + 2) })
	}
	all.Wait()
	s.comesBack(before)
}
