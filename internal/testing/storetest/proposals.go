package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
)

// proposal returns a new proposal that waits for votes.
func proposal(counter uint64) store.Proposal {
	return store.Proposal{
		Bundle:    store.Bundle{Counter: counter, Digest: fmt.Sprint("digest", counter), Created: began, Published: began, Key: "k <b>", By: "ci (machine#7)", Bytes: []byte{0, 1, 0xff, byte(counter)}},
		Publisher: principal.Principal{Issuer: principal.Machine, Subject: "7", Name: "ci"}, State: store.ProposalWaits,
	}
}

// agree returns a change that adds a vote for a proposal. When the proposal has as many votes as wanted,
// the change activates it.
func agree(who principal.Principal, wanted int) func(*store.Proposal) error {
	return func(p *store.Proposal) error {
		p.Votes = append(p.Votes, store.Vote{By: who, Allow: true, At: began.Add(time.Hour), Way: "page"})
		if len(p.Votes) == wanted {
			p.State, p.Decided, p.DecidedBy = store.ProposalActivated, began.Add(time.Hour), who.String()
		}
		return nil
	}
}

// testProposals checks two things. No laptop gets a bundle that waits. Each counter is used only once,
// even if its bundle was rejected or replaced.
func testProposals(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	inForce := func(want uint64) {
		t.Helper()
		b, err := s.FindNewestBundle(ctx)
		all, err2 := s.ListBundles(ctx, 1)
		if err != nil || err2 != nil || b.Counter != want || len(all) != 1 || all[0].Counter != want {
			t.Fatalf("%d is in force, want %d: %v, %v", b.Counter, want, err, err2)
		}
	}
	stateOf := func(counter uint64, want string) {
		t.Helper()
		if p, err := s.FindProposal(ctx, counter); err != nil || p.State != want {
			t.Fatalf("proposal %d: %q, %v, want %q", counter, p.State, err, want)
		}
	}
	_, err := s.FindProposal(ctx, 3)
	wants(t, err, store.ErrNone)
	_, err = s.ChangeProposal(ctx, 3, agree(admin, 1))
	wants(t, err, store.ErrNone)
	must(t, s.AddProposal(ctx, proposal(3)))
	_, err = s.FindNewestBundle(ctx)
	wants(t, err, store.ErrNone)
	if p, err := s.FindProposal(ctx, 3); err != nil || !reflect.DeepEqual(p, func() store.Proposal { p := proposal(3); p.Votes = []store.Vote{}; return p }()) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, counter := range []uint64{3, 2} {
		wants(t, s.AddProposal(ctx, proposal(counter)), store.ErrOlder)
		wants(t, s.AddBundle(ctx, proposal(counter).Bundle), store.ErrOlder)
	}
	refused := errors.New("refused")
	_, err = s.ChangeProposal(ctx, 3, func(p *store.Proposal) error { _ = agree(admin, 1)(p); return refused })
	wants(t, err, refused)
	stateOf(3, store.ProposalWaits)

	// A newer bundle replaces a waiting bundle of the same organisation. This is also so if the newer bundle
	// does not need votes.
	must(t, other.AddProposal(ctx, proposal(1)))
	must(t, s.AddProposal(ctx, proposal(5)))
	stateOf(3, store.ProposalReplaced)
	_, err = s.ChangeProposal(ctx, 3, agree(admin, 1))
	wants(t, err, store.ErrOver)
	must(t, s.AddBundle(ctx, proposal(6).Bundle))
	stateOf(5, store.ProposalReplaced)
	inForce(6)
	if p, err := other.FindProposal(ctx, 1); err != nil || p.State != store.ProposalWaits {
		t.Errorf("another organisation's proposal: %+v, %v", p, err)
	}

	// A rejected proposal accepts no more votes, and its counter stays used.
	must(t, s.AddProposal(ctx, proposal(7)))
	_, err = s.ChangeProposal(ctx, 7, func(p *store.Proposal) error {
		p.State, p.Decided, p.DecidedBy = store.ProposalRejected, began, admin.String()
		return nil
	})
	must(t, err)
	_, err = s.ChangeProposal(ctx, 7, agree(admin, 1))
	wants(t, err, store.ErrOver)
	wants(t, s.AddBundle(ctx, proposal(7).Bundle), store.ErrOlder)
	inForce(6)

	// The votes of two people put a bundle into force.
	must(t, s.AddProposal(ctx, proposal(8)))
	bob := principal.Principal{Issuer: admin.Issuer, Subject: "8", Name: "bob"}
	_, err = s.ChangeProposal(ctx, 8, agree(admin, 2))
	must(t, err)
	inForce(6)
	p, err := s.ChangeProposal(ctx, 8, agree(bob, 2))
	must(t, err)
	inForce(8)
	all, err := s.ListProposals(ctx, 2)
	if err != nil || len(all) != 2 || all[0].Counter != 8 || all[1].Counter != 7 || all[0].Bytes != nil || all[0].DecidedBy != bob.String() || !all[0].Decided.Equal(began.Add(time.Hour)) ||
		!reflect.DeepEqual(all[0].Votes, p.Votes) || !reflect.DeepEqual(all[0].Votes[0].By, admin) {
		t.Errorf("%+v, %v", all, err)
	}
	if b, err := s.FindNewestBundle(ctx); err != nil || !reflect.DeepEqual(b, proposal(8).Bundle) || !bytes.Equal(b.Bytes, p.Bytes) {
		t.Errorf("%+v, %v", b, err)
	}
}

// testRacingProposals lets people agree at the same time at two centres. Each vote must be counted once,
// and exactly one vote must put the bundle into force. Then it adds a newer bundle while the last person
// agrees. Either the vote comes first and activates the proposal, or the bundle comes first and replaces
// the proposal.
func testRacingProposals(t *testing.T, s, again store.Store) {
	ctx := t.Context()
	const people, wanted = 20, 7
	must(t, s.AddProposal(ctx, proposal(1)))
	var mu sync.Mutex
	agreed, activated, over := 0, 0, 0
	var all sync.WaitGroup
	for i := range people {
		centre := []store.Store{s, again}[i%2]
		all.Go(func() {
			who := principal.Principal{Issuer: admin.Issuer, Subject: fmt.Sprint(i)}
			p, err := centre.ChangeProposal(ctx, 1, agree(who, wanted))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, store.ErrOver):
				over++
			case err != nil:
				t.Error(err)
			default:
				agreed++
				if p.State == store.ProposalActivated {
					activated++
				}
			}
		})
	}
	all.Wait()
	p, err := again.FindProposal(ctx, 1)
	must(t, err)
	seen := map[string]bool{}
	for i := range p.Votes {
		seen[p.Votes[i].By.Key()] = true
	}
	if agreed != wanted || activated != 1 || over != people-wanted || len(seen) != wanted || len(p.Votes) != wanted {
		t.Errorf("%d agreed, %d activated, %d too late; %d votes of %d people", agreed, activated, over, len(p.Votes), len(seen))
	}
	if bundles, err := s.ListBundles(ctx, 10); err != nil || len(bundles) != 1 || bundles[0].Counter != 1 {
		t.Errorf("%+v, %v", bundles, err)
	}

	for n := uint64(2); n < 20; n += 2 {
		must(t, s.AddProposal(ctx, proposal(n)))
		var agreeErr, addErr error
		all.Go(func() { _, agreeErr = s.ChangeProposal(ctx, n, agree(admin, 1)) })
		all.Go(func() { addErr = again.AddBundle(ctx, proposal(n+1).Bundle) })
		all.Wait()
		must(t, addErr)
		p, err := s.FindProposal(ctx, n)
		must(t, err)
		bundles, err := s.ListBundles(ctx, 2)
		must(t, err)
		counters := []uint64{bundles[0].Counter, bundles[1].Counter}
		switch {
		case agreeErr == nil && p.State == store.ProposalActivated && slices.Equal(counters, []uint64{n + 1, n}):
		case errors.Is(agreeErr, store.ErrOver) && p.State == store.ProposalReplaced && slices.Equal(counters, []uint64{n + 1, n - 1}):
		default:
			t.Errorf("%v: %s, %v", agreeErr, p.State, counters)
		}
	}
}
