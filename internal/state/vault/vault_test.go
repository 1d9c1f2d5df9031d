package vault_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/accesstest"

	"github.com/zalando/go-keyring"

	"github.com/clawai/clawai/internal/state/vault"
)

func place(t *testing.T) vault.Place {
	keyring.MockInit()
	return vault.Place{Dir: filepath.Join(t.TempDir(), "vault"), Private: func(d string) error { return os.MkdirAll(d, 0o700) }}
}

func put(t *testing.T, s vault.Store, name, value string) {
	t.Helper()
	if err := s.Change(name, func(e *vault.Entry) error { e.Value = []byte(value); return nil }); err != nil {
		t.Fatal(err)
	}
}

func choose(t *testing.T, p vault.Place, kind vault.StoreKind) vault.Store {
	t.Helper()
	s, err := p.ChooseStore(kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Changes at the same time, which may be other processes', undo none of each other.
func TestChangesTakeTurns(t *testing.T) {
	for _, kind := range []vault.StoreKind{vault.InKeychain, vault.InFile} {
		s := choose(t, place(t), kind)
		put(t, s, "a", "x")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := s.Change("a", func(e *vault.Entry) error { e.Value = append(e.Value, 'x'); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if e, err := s.Get("a"); err != nil || string(e.Value) != strings.Repeat("x", 9) {
			t.Errorf("%s: %q, %v", kind, e.Value, err)
		}
	}
}

const canary = "canary-\x01\xff\n\"'-value"

// Both stores keep what they are given, byte for byte, and forget what they are told to.
func TestStores(t *testing.T) {
	for _, kind := range []vault.StoreKind{vault.InKeychain, vault.InFile} {
		t.Run(string(kind), func(t *testing.T) {
			p := place(t)
			s := choose(t, p, kind)
			if _, err := s.Get("a"); !errors.Is(err, vault.ErrNone) {
				t.Error(err)
			}
			put(t, s, "b", "1")
			put(t, s, "a", canary)
			if err := s.Change("a", func(e *vault.Entry) error { e.Value = nil; return errors.New("no") }); err == nil {
				t.Error("the error of the change is lost")
			}
			now, err := p.Open()
			if err != nil || now.Kind() != kind {
				t.Fatal("another store is in force:", now, err)
			}
			if e, err := now.Get("a"); err != nil || string(e.Value) != canary || e.Name != "a" {
				t.Errorf("%q, %v", e.Value, err)
			}
			all, err := vault.ListEntries(now)
			if err != nil || len(all) != 2 {
				t.Error(all, err)
			}
			if err := now.Delete("a"); err != nil {
				t.Error(err)
			}
			if err := now.Delete("a"); !errors.Is(err, vault.ErrNone) {
				t.Error(err)
			}
			if names, err := now.Names(); err != nil || !slices.Equal(names, []string{"b"}) {
				t.Error(names, err)
			}
			err = filepath.WalkDir(p.Dir, func(path string, _ os.DirEntry, err error) error {
				if text, unread := os.ReadFile(path); unread == nil && bytes.Contains(text, []byte("canary")) {
					t.Errorf("%s holds the value", path)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Whatever hinders the keychain is one error that says what to do, and nothing is changed.
func TestKeychainInTrouble(t *testing.T) {
	p := place(t)
	s := choose(t, p, vault.InKeychain)
	put(t, s, "a", canary)
	keyring.MockInitWithError(errors.New("no session bus"))
	set := func(e *vault.Entry) error { e.Value = []byte("2"); return nil }
	for what, err := range map[string]error{"change": s.Change("new", set), "change of what is there": s.Change("a", set), "delete": s.Delete("a")} {
		if !errors.Is(err, vault.ErrLocked) || !strings.Contains(err.Error(), "--store file") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if names, err := s.Names(); err != nil || !slices.Equal(names, []string{"a"}) {
		t.Error("a name stayed behind:", names, err)
	}
	keyring.MockInitWithError(keyring.ErrSetDataTooBig)
	if err := s.Change("large", set); err == nil || !strings.Contains(err.Error(), "clawai vault move file") {
		t.Error(err)
	}
	keyring.MockInit()
	if err := keyring.Set("clawai-vault", "a", `{"name":"b","value":"c2VjcmV0"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("a"); err == nil || !strings.Contains(err.Error(), "clawai vault set a") || strings.Contains(err.Error(), "c2Vj") {
		t.Error(err)
	}
}

// A file that cannot be read is left as it is, also when it is written to.
func TestFileInTrouble(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		locked bool
		says   string
	}{
		{"no key", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "vault.key"))) }, true, "vault.key"},
		{"another key", func(t *testing.T, dir string) {
			other := place(t)
			put(t, choose(t, other, vault.InFile), "x", "y")
			key, err := os.ReadFile(filepath.Join(other.Dir, "vault.key"))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, "vault.key"), key, 0o600))
		}, true, "another key"},
		{"no key in its file", func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "vault.key"), []byte("AGE-SECRET-KEY-1canary\n"), 0o600))
		}, true, "holds no key"},
		{"a key for all to read", func(t *testing.T, dir string) { must(t, accesstest.Share(filepath.Join(dir, "vault.key"))) }, true, "others can open it"},
		{"cut", func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, "vault.age"), 230)) }, false, "damaged"},
		{"empty", func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, "vault.age"), 0)) }, false, "damaged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := place(t)
			s := choose(t, p, vault.InFile)
			put(t, s, "a", canary)
			tt.damage(t, p.Dir)
			before, err := os.ReadFile(filepath.Join(p.Dir, "vault.age"))
			must(t, err)
			_, err = s.Get("a")
			set := s.Change("b", func(e *vault.Entry) error { e.Value = []byte("2"); return nil })
			for _, err := range []error{err, set, s.Delete("a")} {
				if err == nil || errors.Is(err, vault.ErrLocked) != tt.locked || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "canary") {
					t.Error(err)
				}
			}
			if after, err := os.ReadFile(filepath.Join(p.Dir, "vault.age")); err != nil || !bytes.Equal(before, after) {
				t.Error("the file was changed", err)
			}
		})
	}
}

func TestMove(t *testing.T) {
	p := place(t)
	s := choose(t, p, vault.InKeychain)
	put(t, s, "a", canary)
	put(t, s, "b", "2")
	if _, err := p.ChooseStore(vault.InFile); err == nil || !strings.Contains(err.Error(), "clawai vault move file") {
		t.Error("two stores at once:", err)
	}
	for _, kind := range []vault.StoreKind{vault.InFile, vault.InKeychain} {
		if n, err := p.MoveEntries(kind); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		now, err := p.Open()
		if err != nil || now.Kind() != kind {
			t.Fatal(now, err)
		}
		if e, err := now.Get("a"); err != nil || string(e.Value) != canary {
			t.Errorf("%q, %v", e.Value, err)
		}
		other := map[vault.StoreKind]vault.StoreKind{vault.InFile: vault.InKeychain, vault.InKeychain: vault.InFile}[kind]
		if _, err := p.MoveEntries(kind); err == nil {
			t.Error("moved to where it is")
		}
		if _, err := p.ChooseStore(other); err == nil {
			t.Error("two stores at once")
		}
	}
}

// A move that fails leaves the vault where it was.
func TestMoveThatFails(t *testing.T) {
	p := place(t)
	put(t, choose(t, p, vault.InFile), "a", canary)
	keyring.MockInitWithError(errors.New("no session bus"))
	if n, err := p.MoveEntries(vault.InKeychain); n != 0 || err == nil {
		t.Error(n, err)
	}
	s, err := p.Open()
	must(t, err)
	if e, err := s.Get("a"); s.Kind() != vault.InFile || err != nil || string(e.Value) != canary {
		t.Errorf("%v: %q, %v", s.Kind(), e.Value, err)
	}

	p = place(t)
	put(t, choose(t, p, vault.InKeychain), "a", canary)
	must(t, os.WriteFile(filepath.Join(p.Dir, "vault.key"), []byte("no key\n"), 0o600))
	if n, err := p.MoveEntries(vault.InFile); n != 0 || err == nil {
		t.Error(n, err)
	}
	s, err = p.Open()
	must(t, err)
	if e, err := s.Get("a"); s.Kind() != vault.InKeychain || err != nil || string(e.Value) != canary {
		t.Errorf("%v: %q, %v", s.Kind(), e.Value, err)
	}
}

func TestNamesAndValues(t *testing.T) {
	for name, ok := range map[string]bool{
		"github": true, "A.b_c-1": true, strings.Repeat("a", 64): true,
		"": false, "-a": false, ".a": false, "a b": false, "a/b": false, "a$b": false, "a\n": false, "ä": false, strings.Repeat("a", 65): false,
	} {
		if err := vault.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	for value, ok := range map[string]bool{"a": true, "": false, "a\x00": false, strings.Repeat("a", vault.MaxValue): true, strings.Repeat("a", vault.MaxValue+1): false} {
		if err := vault.CheckValue([]byte(value)); (err == nil) != ok {
			t.Errorf("%.20q: %v", value, err)
		}
	}
}

func TestExpired(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]bool{0: false, time.Hour: true, 2 * time.Hour: false} {
		e := vault.Entry{Set: now.Add(-time.Hour), MaxAge: age}
		if _, expired := e.ExpiryTime(now); expired != want {
			t.Errorf("%v: %v", age, expired)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was copied before a move failed is taken out again.
func TestMoveThatFailsHalfway(t *testing.T) {
	p := place(t)
	s := choose(t, p, vault.InFile)
	put(t, s, "a", canary)
	put(t, s, "b", "2")
	must(t, os.WriteFile(filepath.Join(p.Dir, "keychain.json"), []byte(`["b"]`), 0o600))
	must(t, keyring.Set("clawai-vault", "b", "of an older move"))
	if n, err := p.MoveEntries(vault.InKeychain); n != 0 || err == nil {
		t.Error(n, err)
	}
	if _, err := keyring.Get("clawai-vault", "a"); !errors.Is(err, keyring.ErrNotFound) {
		t.Error("an entry stays in the keychain:", err)
	}
	if all, err := vault.ListEntries(s); len(all) != 2 || err != nil {
		t.Error(all, err)
	}
}
