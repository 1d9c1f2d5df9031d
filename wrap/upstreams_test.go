package wrap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Of runs at the same moment, each of which has read the addresses before, none loses another's.
func TestAddressesAtOnce(t *testing.T) {
	state := t.TempDir()
	const many = 20
	var all sync.WaitGroup
	for n := range many {
		name := fmt.Sprint("server-", n)
		f := HTTPProxy{Upstreams: map[string]string{name: "https://mcp.example/" + name}, Listeners: map[string]string{name: DefaultListen}}
		all.Go(func() {
			if err := f.SaveState(state); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	upstreams, err := ReadUpstreams(state)
	if err != nil || len(upstreams) != many {
		t.Errorf("%d of %d servers are known: %v", len(upstreams), many, err)
	}
	listeners, err := ReadListeners(state)
	if err != nil || len(listeners) != many {
		t.Errorf("of %d of %d it is known where the client leads: %v", len(listeners), many, err)
	}
}

// Addresses that cannot be read are not written over.
func TestAddressesThatCannotBeRead(t *testing.T) {
	for _, file := range []string{"wrapped-upstreams.json", "wrapped-doors.json"} {
		state := t.TempDir()
		path := filepath.Join(state, file)
		if err := os.WriteFile(path, []byte(`{"a":`), 0o600); err != nil {
			t.Fatal(err)
		}
		f := HTTPProxy{Upstreams: map[string]string{"b": "https://b.example"}, Listeners: map[string]string{"b": DefaultListen}}
		if err := f.SaveState(state); err == nil || !strings.Contains(err.Error(), "remove it and run: clawai wrap --all --remote=proxy") {
			t.Errorf("%s: %v", file, err)
		}
		if now, err := os.ReadFile(path); string(now) != `{"a":` {
			t.Errorf("%s: %q %v", file, now, err)
		}
	}
}
