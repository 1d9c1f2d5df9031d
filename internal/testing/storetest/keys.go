package storetest

import (
	"reflect"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

func testKeys(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	hour := time.Hour
	_, _, err := s.FindKey(ctx, "one")
	wants(t, err, store.ErrNone)
	k := store.Key{ID: "one", Name: "ci's <b>", Roles: []string{"publish", "auditor"}, Created: began, Expires: began.Add(24 * hour)}
	must(t, s.AddKey(ctx, k, "hash1", "", time.Time{}))
	if err := s.AddKey(ctx, k, "hash2", "", time.Time{}); err == nil {
		t.Error("two keys have one id")
	}
	if got, hash, err := s.FindKey(ctx, "one"); err != nil || hash != "hash1" || !reflect.DeepEqual(got, k) {
		t.Errorf("%+v, %q, %v", got, hash, err)
	}
	must(t, s.TouchKey(ctx, "one", began.Add(hour)))
	must(t, s.TouchKey(ctx, "one", began)) // an earlier time must not replace a later time
	wants(t, s.TouchKey(ctx, "nobody", began), store.ErrNone)

	// AddKey with a second key must set an end for the first key.
	next := k
	next.ID, next.Created = "two", began.Add(time.Minute)
	wants(t, s.AddKey(ctx, next, "hash2", "nobody", began), store.ErrNone)
	must(t, s.AddKey(ctx, next, "hash2", "one", began.Add(2*hour)))
	third := next
	third.ID, third.Created = "three", began.Add(2*time.Minute)
	must(t, s.AddKey(ctx, third, "hash3", "one", began.Add(9*hour))) // the first key keeps its earlier end
	k.Used, k.Ends = began.Add(hour), began.Add(2*hour)
	if all, err := s.ListKeys(ctx); err != nil || len(all) != 3 || !reflect.DeepEqual(all[2], k) || all[0].ID != "three" {
		t.Errorf("%+v, %v", all, err)
	}
	wants(t, s.RevokeKey(ctx, "nobody", began), store.ErrNone)
	wants(t, other.RevokeKey(ctx, "one", began), store.ErrNone)
	must(t, s.RevokeKey(ctx, "one", began.Add(hour)))
	wants(t, s.RevokeKey(ctx, "one", began.Add(hour)), store.ErrTwice)
	wants(t, s.AddKey(ctx, store.Key{ID: "four"}, "hash4", "one", began), store.ErrNone)
	if got, hash, err := s.FindKey(ctx, "one"); err != nil || hash != "" || !got.Revoked.Equal(began.Add(hour)) {
		t.Errorf("%+v, %q, %v", got, hash, err)
	}
	if all, err := other.ListKeys(ctx); err != nil || len(all) > 0 {
		t.Errorf("another organisation's keys: %+v, %v", all, err)
	}
}
