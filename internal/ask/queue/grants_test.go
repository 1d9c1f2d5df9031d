package queue_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/policy"
)

func grant(id string, uses int) queue.Grant {
	return queue.Grant{ID: id, Rule: write(`{}`).Rule, Calls: write(`{"path":"a"}`).Calls, Since: time.Unix(1_700_000_000, 5).UTC(), Uses: uses}
}

// What a gate has granted is listed with its session, revoked once by whoever
// looks, and gone with its proxy.
func TestGrants(t *testing.T) {
	p, other, dir := newQueue(t)
	listed := func(want ...string) {
		t.Helper()
		all, err := other.Grants(ctx)
		var got []string
		for _, g := range all {
			got = append(got, g.ID)
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	listed()
	if err := p.SetGrants(ctx, []queue.Grant{grant("first-of-two", 0), grant("first-one", 1)}); err != nil {
		t.Fatal(err)
	}
	if err := p.SetGrants(ctx, []queue.Grant{grant("first-of-two", 3), grant("third", 0)}); err != nil {
		t.Fatal(err)
	}
	all, err := other.Grants(ctx)
	want := grant("first-of-two", 3)
	want.Session, want.Server, want.Client, want.Project = "s1", "files", "editor 1.2", "/home/me/work"
	if d := cmp.Diff(want, all[0]); d != "" || err != nil {
		t.Error(d, err)
	}
	listed("first-of-two", "third")
	for id, want := range map[string]error{"first": queue.ErrUnknown, "third-and-more": queue.ErrUnknown, "": queue.ErrUnknown, "%%%%%%%%": queue.ErrUnknown} {
		if err := other.Revoke(ctx, id); !errors.Is(err, want) {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"third", "first-of"} {
		if err := other.Revoke(ctx, id); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-p.Revoked():
			if !strings.HasPrefix(got, id) {
				t.Errorf("%q was revoked for %q", got, id)
			}
		case <-soon(t).Done():
			t.Fatal("the proxy has not heard of it")
		}
		if err := other.Revoke(ctx, id); !errors.Is(err, queue.ErrUnknown) {
			t.Error("twice:", err)
		}
	}
	// The gate may say what it has before it hears of it.
	if err := p.SetGrants(ctx, []queue.Grant{grant("first-of-two", 4), grant("later", 0)}); err != nil {
		t.Fatal(err)
	}
	listed("later")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if id, open := <-p.Revoked(); open {
		t.Errorf("%q was revoked again", id)
	}
	if err := p.SetGrants(ctx, nil); !errors.Is(err, queue.ErrClosed) {
		t.Error(err)
	}
	listed()
	sound(t, dir)
}

// A grant whose calls cannot be read is listed without them, and taken back.
func TestDamagedGrant(t *testing.T) {
	p, other, dir := newQueue(t)
	if err := p.SetGrants(ctx, []queue.Grant{grant("the-damaged", 0), grant("the-other", 0)}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE grants SET calls = '[{' WHERE id = 'the-damaged'"); err != nil {
		t.Fatal(err)
	}
	if all, err := other.Grants(ctx); err != nil || len(all) != 2 || all[0].Calls != nil || len(all[1].Calls) != 1 {
		t.Error(all, err)
	}
	if err := other.Revoke(ctx, "the-damaged"); err != nil {
		t.Error(err)
	}
}

func TestGrantsAreAmbiguous(t *testing.T) {
	p, other, _ := newQueue(t)
	if err := p.SetGrants(ctx, []queue.Grant{grant("beginning-1", 0), grant("beginning-2", 0), grant("beginning", 0)}); err != nil {
		t.Fatal(err)
	}
	if err := other.Revoke(ctx, "beginnin"); !errors.Is(err, queue.ErrAmbiguous) {
		t.Error(err)
	}
	if err := other.Revoke(ctx, "beginning"); err != nil {
		t.Error(err)
	}
	if all, err := other.Grants(ctx); err != nil || len(all) != 2 {
		t.Error(all, err)
	}
}

// A killed proxy's grants are nobody's.
func TestKilledProxysGrants(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	said := start(t, "crash", dir, "grant", "1000", "none").rest()
	if said != "done" {
		t.Fatal(said)
	}
	q := open(t, dir, queue.Options{})
	if err := q.Revoke(ctx, "g1"); !errors.Is(err, queue.ErrUnknown) {
		t.Error(err)
	}
	if all, err := q.Grants(ctx); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}

// Hostile calls come back as text and as nothing else.
func TestHostileGrant(t *testing.T) {
	p, other, _ := newQueue(t)
	g := grant("g'; DROP TABLE grants; --", 0)
	g.Rule.Description = "\x00\xff\x1b]8;;http://x\x07"
	g.Calls = []policy.Call{{Method: "a\u202eb", Names: []string{"\x1b[2J", "x"}}}
	if err := p.SetGrants(ctx, []queue.Grant{g}); err != nil {
		t.Fatal(err)
	}
	all, err := other.Grants(ctx)
	if err != nil || len(all) != 1 || all[0].ID != g.ID || all[0].Rule != g.Rule || all[0].Calls[0].Names[0] != "\x1b[2J" {
		t.Errorf("%+v %v", all, err)
	}
}
