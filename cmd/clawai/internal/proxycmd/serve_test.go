package proxycmd

import (
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/redact"
)

// However often an agent reads a credential, the record looks for its value once.
func TestRevealedValuesAreKnownOnce(t *testing.T) {
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"} {
		t.Setenv(name, t.TempDir())
	}
	place, err := vaultplace.LocateVault()
	if err != nil {
		t.Fatal(err)
	}
	store, err := place.ChooseStore(vault.InFile)
	if err != nil {
		t.Fatal(err)
	}
	set := func(value string) {
		t.Helper()
		if err := store.Change("deploy.KEY", func(e *vault.Entry) error { e.Value, e.Reveal = []byte(value), true; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	s := &ownServer{hide: func(*redact.Known) {}}
	for _, value := range []string{"the first value", "the first value", "another value", "the first value"} {
		set(value)
		if got, err := s.readSecret("deploy", "KEY"); got != value || err != nil {
			t.Fatal(got, err)
		}
	}
	if len(s.used) != 2 {
		t.Errorf("%d values are looked for", len(s.used))
	}
}
