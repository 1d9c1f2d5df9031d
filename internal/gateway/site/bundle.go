package site

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/gateway/simulation"
	"github.com/clawai/clawai/internal/gateway/store"
)

// bundleData is the data of the page of one bundle.
type bundleData struct {
	bundleRow
	OtherKey          bool   // no key that is valid now has signed the bundle
	NotInForce        string // why a bundle that was published is not in force; "" if it is or was
	Packs, Fixtures   int
	Laptops           []laptopRow // laptops on which the bundle is in force
	Running           int         // number of enrolled laptops
	Before            uint64      // counter of the bundle before it; 0 if there is none
	Changes           []textLine  // lines about the differences from the bundle before
	Rules             []reviewedRow
	Coverage, Trouble string
}

// notInForce holds the reason why a proposal is not in force, by its state.
var notInForce = map[string]string{
	store.ProposalWaits: "It waits for people.", store.ProposalRejected: "It was rejected.", store.ProposalReplaced: "A newer one replaced it while it waited.",
}

// reviewedRow is one rule of a bundle.
type reviewedRow struct {
	Number             int
	Action, Place      string
	Text               []textLine // nil for a rule of a pack
	Description, Shown string
	Open               []textLine // the points that no fixture shows
}

// showBundle shows the contents of a bundle, its differences from the bundle before, and the laptops on which it is in
// force.
func (v *visit) showBundle(number string) error {
	ctx := v.r.Context()
	counter, err := strconv.ParseUint(number, 10, 64)
	if err != nil || strconv.FormatUint(counter, 10) != number {
		return notFound
	}
	b, err := v.s.centre.Store.FindBundle(ctx, counter)
	state := ""
	if errors.Is(err, store.ErrNone) {
		var p store.Proposal
		p, err = v.s.centre.Store.FindProposal(ctx, counter)
		b, state = p.Bundle, notInForce[p.State]
	}
	if errors.Is(err, store.ErrNone) {
		return notFound
	}
	if err != nil {
		return err
	}
	laptops, err := v.s.centre.Store.ListLaptops(ctx)
	if err != nil {
		return err
	}
	newest, err := v.s.centre.NewestCounter(ctx)
	if err != nil {
		return err
	}
	d := bundleData{bundleRow: newBundleRow(&b), NotInForce: state}
	for i := range laptops {
		if l := &laptops[i]; l.Revoked.IsZero() {
			d.Running++
			if l.Report.Counter == counter {
				d.Laptops = append(d.Laptops, v.newLaptopRow(l, newest))
			}
		}
	}
	_, _, err = v.s.centre.ReadSigned(b.Bytes)
	d.OtherKey = err != nil
	review, before, err := v.s.reviewBundle(ctx, &b, simulation.HasWindows(laptops))
	switch trouble, ok := errors.AsType[*reviewError](err); {
	case ok:
		d.Trouble = trouble.Error()
	case err != nil:
		return err
	default:
		d.Before = before
		d.addReview(review)
	}
	return v.show("bundle", fmt.Sprintf("Bundle %d", counter), bundlesPage, d)
}

// addReview adds the review of a bundle to the data of its page.
func (d *bundleData) addReview(r *simulation.Review) {
	d.Packs, d.Fixtures, d.Changes = r.Packs, r.Fixtures, splitLines(r.ChangesText())
	d.Coverage = fmt.Sprintf("Its fixtures show %d of %d points of its rules.", r.Covered, r.Points)
	if r.NotMeasured != "" {
		d.Coverage = "How far its fixtures try its rules was not measured: " + r.NotMeasured + "."
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		row := reviewedRow{Number: i + 1, Action: rule.Action.String(), Place: fmt.Sprintf("line %d", rule.Pos.Line), Description: rule.Description}
		if rule.From == "" {
			row.Text = splitLines(rule.Text)
		} else {
			row.Place = fmt.Sprintf("line %d of %s", rule.Pos.Line, rule.From)
		}
		if rule.Points > 0 && r.NotMeasured == "" {
			row.Shown = fmt.Sprintf("%d of %d points", rule.Points-len(rule.Open), rule.Points)
		}
		for _, p := range rule.Open {
			row.Open = append(row.Open, textLine{Text: fmt.Sprintf("No fixture shows that %s %s. Add %s.", p.What, p.Way, p.Hint)})
		}
		d.Rules = append(d.Rules, row)
	}
}

// reviewError says why a stored bundle could not be reviewed.
type reviewError struct{ error }

// Limits of reviews.
const (
	maxReviews = 32               // number of reviews that are kept; the review of a published bundle never changes
	reviewTime = 20 * time.Second // time limit for one review, and for the wait until it can begin
)

// errReviewing is the error for a person who has waited too long for the review of another bundle to end.
var errReviewing = errors.New("another bundle is being compared; load this page again in half a minute")

// reviewBundle returns the review of a bundle, and the counter of the bundle before it, with which it is compared. Only
// one review is made at a time, because it uses a processor for seconds. The review stops when its time is over or the
// browser disconnects. An incomplete review is not kept.
func (s *Site) reviewBundle(ctx context.Context, b *store.Bundle, windows bool) (r *simulation.Review, before uint64, err error) {
	old, err := s.centre.Store.FindBundleBefore(ctx, b.Counter)
	if err != nil && !errors.Is(err, store.ErrNone) {
		return nil, 0, err
	}
	key := fmt.Sprint(b.Digest, old.Digest, windows)
	if r = s.findReview(key); r != nil {
		return r, old.Counter, nil
	}
	wait := time.NewTimer(reviewTime)
	defer wait.Stop()
	select {
	case s.reviewing <- struct{}{}:
		defer func() { <-s.reviewing }()
	case <-wait.C:
		return nil, 0, &reviewError{errReviewing}
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	if r = s.findReview(key); r != nil { // the review was made during the wait
		return r, old.Counter, nil
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	if r, err = newReview(ctx, b, &old, windows); err != nil {
		return nil, 0, err
	}
	if !r.Late {
		s.keepReview(key, r)
	}
	return r, old.Counter, nil
}

// newReview makes a review. The error is a reviewError if a bundle cannot be read, or cannot be read before the
// deadline of ctx.
func newReview(ctx context.Context, b, old *store.Bundle, windows bool) (*simulation.Review, error) {
	read := func(b *store.Bundle) (*simulation.Candidate, error) {
		c, err := simulation.NewSentCandidate(ctx, fmt.Sprintf("bundle %d", b.Counter), b.Bytes)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, &reviewError{fmt.Errorf("the fixtures of bundle %d take longer than a page waits; where it was made, run: clawai policy bundle verify --key FILE BUNDLE", b.Counter)}
		case err != nil && ctx.Err() == nil:
			return nil, &reviewError{fmt.Errorf("bundle %d: %w", b.Counter, err)}
		}
		return c, err
	}
	candidate, err := read(b)
	if err != nil {
		return nil, err
	}
	previous, err := read(old)
	if err != nil {
		return nil, err
	}
	r, err := simulation.NewReview(ctx, previous, candidate, windows, proofWork)
	if err != nil && ctx.Err() == nil {
		return nil, &reviewError{err}
	}
	return r, err
}

func (s *Site) findReview(key string) *simulation.Review {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reviews[key]
}

func (s *Site) keepReview(key string, r *simulation.Review) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reviews) >= maxReviews {
		clear(s.reviews)
	}
	s.reviews[key] = r
}
