package site

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/store"
)

// keyRow is a key of a machine in the list. It contains neither the secret nor its hash.
type keyRow struct {
	ID, Name, Roles, State, Created, Used, Revoked string
	Over                                           bool
}

// workloadRow is a [[workload]] in the list.
type workloadRow struct {
	Name, Issuer, Audience, Roles, Lifetime, Used, Subject string
	Claims                                                 []claimRow
}

type claimRow struct{ Name, Value string }

func (v *visit) showKeys(string) error {
	ctx, now := v.r.Context(), v.s.centre.Now()
	all, err := v.s.centre.Store.ListKeys(ctx)
	if err != nil {
		return err
	}
	rules, err := v.s.centre.ListWorkloads(ctx)
	if err != nil {
		return err
	}
	var keys []keyRow
	for i := range all {
		k := &all[i]
		row := keyRow{ID: k.ID, Name: k.Name, Roles: strings.Join(k.Roles, ", "), State: centre.StateOfKey(k, now), Created: k.Created.Format(time.DateTime) + " UTC", Used: agoText(k.Used, now), Over: k.IsOver(now)}
		if !k.Revoked.IsZero() {
			row.Revoked = k.Revoked.Format(time.DateTime) + " UTC"
		}
		keys = append(keys, row)
	}
	var workloads []workloadRow
	for i := range rules {
		r := &rules[i]
		row := workloadRow{Name: r.Name, Issuer: r.Issuer, Audience: r.Audience, Roles: strings.Join(r.Roles, ", "), Lifetime: fmt.Sprintf("%.0f minutes", r.Lifetime().Minutes()), Used: agoText(r.Use.Used, now), Subject: r.Use.Subject}
		for _, name := range slices.Sorted(maps.Keys(r.Claims)) {
			row.Claims = append(row.Claims, claimRow{name, r.Claims[name]})
		}
		workloads = append(workloads, row)
	}
	return v.show("keys", "Keys", keysPage, struct {
		Keys      []keyRow
		Workloads []workloadRow
	}{keys, workloads})
}

func (v *visit) revokeKey(string) error {
	err := v.s.centre.Store.RevokeKey(v.r.Context(), v.form.Get("key"), v.s.centre.Now())
	switch {
	case errors.Is(err, store.ErrNone):
		return notFound
	case err != nil && !errors.Is(err, store.ErrTwice):
		return err
	}
	return v.goTo(keysPage)
}
