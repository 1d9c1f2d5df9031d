package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

func testWorkloads(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	hour := time.Hour
	must(t, s.UseToken(ctx, "a", began, began.Add(hour)))
	wants(t, s.UseToken(ctx, "a", began.Add(hour), began.Add(2*hour)), store.ErrTwice)
	must(t, other.UseToken(ctx, "a", began, began.Add(hour)))
	must(t, s.UseToken(ctx, "b", began.Add(hour), began.Add(2*hour)))
	wants(t, s.UseToken(ctx, "a", began.Add(hour), began.Add(2*hour)), store.ErrTwice)
	must(t, s.UseToken(ctx, "a", began.Add(hour+1), began.Add(2*hour))) // the stored hash has expired

	// If several requests use a token at the same time, only one may succeed.
	var taken atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch err := s.UseToken(ctx, "c", began, began.Add(hour)); {
			case err == nil:
				taken.Add(1)
			case !errors.Is(err, store.ErrTwice):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n != 1 {
		t.Errorf("a token was taken %d times", n)
	}

	want := []store.WorkloadUse{{Rule: "a", Issuer: "https://issuer.example", Subject: "repo's <b>", Used: began}, {Rule: "b", Issuer: "https://issuer.example", Subject: "9", Used: began.Add(hour)}}
	for i := range 10 {
		must(t, s.TouchWorkload(ctx, store.WorkloadUse{Rule: "b", Issuer: "i", Subject: fmt.Sprint(i), Used: began}))
	}
	must(t, s.TouchWorkload(ctx, want[1]))
	must(t, s.TouchWorkload(ctx, want[0]))
	if got, err := s.ListWorkloadUses(ctx); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := other.ListWorkloadUses(ctx); err != nil || len(got) > 0 {
		t.Errorf("another organisation's: %+v, %v", got, err)
	}
}
