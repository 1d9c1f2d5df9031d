package wrapcmd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/wrap"
)

// remembered is a vault in memory.
type remembered map[string]vault.Entry

func (remembered) Kind() vault.StoreKind      { return vault.StoreKind("memory") }
func (r remembered) Names() ([]string, error) { return nil, nil }
func (r remembered) Delete(name string) error { delete(r, name); return nil }

func (r remembered) Get(name string) (vault.Entry, error) {
	e, ok := r[name]
	if !ok {
		return e, vault.ErrNone
	}
	return e, nil
}

func (r remembered) Change(name string, change func(*vault.Entry) error) error {
	e := r[name]
	e.Name = name
	err := change(&e)
	if err == nil {
		r[name] = e
	}
	return err
}

// A secret goes out of the vault again only where its file has it: an edit that failed may
// have been made, and a client may have written the file again.
func TestTheOnlyCopyOfASecretStays(t *testing.T) {
	for name, tt := range map[string]struct {
		file string // as it is in the end; "" is gone
		kept bool
	}{
		"not written":          {`{"mcpServers":{"a":{"env":{"A_KEY":"k-1"}}}}`, false},
		"written":              {`{"mcpServers":{"a":{"env":{"A_KEY":"clawai-vault:a.A_KEY"}}}}`, true},
		"written in one place": {`{"mcpServers":{"a":{"env":{"A_KEY":"clawai-vault:a.A_KEY"}},"b":{"env":{"A_KEY":"k-1"}}}}`, true},
		"without either":       {`{}`, true},
		"gone":                 {"", true},
	} {
		file, store := filepath.Join(t.TempDir(), "mcp.json"), remembered{}
		if tt.file != "" {
			if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m := &vaultMoves{run: &wrapRun{op: wrap.Wrap}, store: store, moves: []vaultMove{{
			entry: "a.A_KEY", value: []byte("k-1"), server: vault.Requester{Name: "a", Command: []string{"a"}},
			origin: vault.Origin{File: file, Server: []string{"mcpServers", "a"}, Member: "A_KEY", Token: []byte(`"k-1"`)},
		}}}
		if err := m.keepSecrets(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		changes := []wrap.Change{{Real: file}}
		if err := m.finishMoves(changes, []error{errors.New("the client has undone the edit of b")}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, kept := store["a.A_KEY"]; kept != tt.kept {
			t.Errorf("%s: in the vault %v, want %v", name, kept, tt.kept)
		}
	}
}
