package centre

import (
	"errors"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
)

// A key counts until it expires. Whoever writes the database, and has not the centre's key beside it, can give
// it neither other roles nor a longer life.
func TestKeyIsBoundToRolesAndLife(t *testing.T) {
	c, now := clocked(t)
	k, token, err := c.NewKey(t.Context(), "ci", []string{principal.Auditor, principal.Auditor}, 10)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.CheckMachine(t.Context(), token, "127.0.0.1")
	if err != nil || p.Issuer != principal.Machine || p.Subject != k.ID || !p.Has(principal.Auditor) || p.Has(principal.Payload, principal.Admin, principal.Publish) || len(p.Roles) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	_, hash, err := c.Store.FindKey(t.Context(), k.ID)
	if err != nil {
		t.Fatal(err)
	}
	secretOf := token[len("clw_"+k.ID+"_"):]
	for name, change := range map[string]func(*store.Key){
		"more roles": func(k *store.Key) { k.Roles = []string{principal.Auditor, principal.Publish} }, "a longer life": func(k *store.Key) { k.Expires = k.Expires.Add(time.Hour) },
		"another name": func(k *store.Key) { k.Name = "root" },
	} {
		changed := k
		changed.ID = k.ID
		change(&changed)
		if c.isSecret("machine key", keyText(&changed, secretOf), hash) {
			t.Errorf("%s: the hash is the same", name)
		}
		// A copy under another id, as somebody could write it.
		changed.ID = "copied" + changed.Roles[0]
		if err := c.Store.AddKey(t.Context(), changed, hash, "", time.Time{}); err != nil {
			continue // two changes with one id
		}
		if p, err := c.CheckMachine(t.Context(), "clw_"+changed.ID+"_"+secretOf, "127.0.0.1"); !errors.Is(err, ErrNoAccess) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	*now = k.Expires.Add(-time.Second)
	if _, err := c.CheckMachine(t.Context(), token, "127.0.0.1"); err != nil {
		t.Error(err)
	}
	*now = k.Expires
	if _, err := c.CheckMachine(t.Context(), token, "127.0.0.1"); !errors.Is(err, ErrNoAccess) {
		t.Errorf("an expired key: %v", err)
	}
}
