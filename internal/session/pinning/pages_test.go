package pinning

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// What pages list counts before the state has it, and is in it once the list ends or the
// session does.
func TestPagesThatAreNotWrittenYet(t *testing.T) {
	for _, whole := range []bool{true, false} {
		dir := state(t)
		s := client(t, dir, "")
		const pages = 13
		for i := range pages {
			name := fmt.Sprintf("tool_%d", i)
			if got := page(t, s, policy.PinFirst, Page{Further: i > 0, Last: whole && i == pages-1}, tool(name, "x", "")); got != "same" {
				t.Fatalf("page %d: %s", i, got)
			}
			if why := s.BlockReason("notes", policy.PinFirst, pin.Tool, name); why != "" {
				t.Errorf("page %d: %s", i, why)
			}
			if text, known := s.ShownEntry("notes", policy.PinFirst, pin.Tool, name); !known || !strings.Contains(string(text), name) {
				t.Errorf("page %d is not shown: %s", i, text)
			}
		}
		if s.BlockReason("notes", policy.PinLock, pin.Tool, "tool_12") == "" {
			t.Error("what is only seen passes under a lock")
		}
		s.Close()
		st, err := NewStore(dir, "").LoadState("notes")
		if err != nil || st.Approved.Len(pin.Tool) != pages || st.Served.Len(pin.Tool) != pages {
			t.Errorf("whole %t: %d are approved, %d listed: %v", whole, st.Approved.Len(pin.Tool), st.Served.Len(pin.Tool), err)
		}
		if got := lists(t, client(t, dir, ""), policy.PinFirst, tool("tool_12", "y", `"z":{}`)); got != "out" {
			t.Errorf("whole %t: another tool of that name: %s", whole, got)
		}
	}
}

// What is listed is bounded in bytes, over all sessions too.
func TestBytesOfListsAreBounded(t *testing.T) {
	slow.Test(t)
	dir := state(t)
	for round := range 3 {
		s := client(t, dir, "")
		out := 0
		for i := range 12 {
			which := Page{Further: i > 0} // it never ends
			if page(t, s, policy.PinRecord, which, tool(fmt.Sprintf("r%d_%d", round, i), strings.Repeat("x", maxBytes/10), "")) == "refused" {
				out++
			}
		}
		s.Close()
		st, err := NewStore(dir, "").LoadState("notes")
		if err != nil || out != 3 || st.Served.Size() > maxBytes {
			t.Errorf("round %d: %d are refused, %d bytes: %v", round, out, st.Served.Size(), err)
		}
	}
}

// A server whose state is not to be had, because another process writes it, holds up itself
// alone.
func TestOneServerHoldsUpNoOther(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := state(t)
	s := client(t, dir, "")
	lists(t, s, policy.PinFirst, find)
	lock := flock.New(s.store.stateFile("slow") + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	waits := make(chan error, 1)
	go func() {
		_, err := s.JudgeEntries("slow", policy.PinFirst, pin.Tool, [][]byte{[]byte(find)}, Page{Last: true})
		waits <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if got := lists(t, s, policy.PinFirst, find); got != "same" {
		t.Error(got)
	}
	if why := s.BlockReason("notes", policy.PinFirst, pin.Tool, "find"); why != "" {
		t.Error(why)
	}
	select {
	case err := <-waits: // it gives up after five seconds
		t.Fatalf("it waits for the other, which ended with: %v", err)
	default:
	}
	if err := <-waits; err == nil {
		t.Error("the slow one was written")
	}
}
