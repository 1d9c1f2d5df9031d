package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/bundled"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// Review holds the rules of a candidate, how well its own fixtures test them, and how its answers
// differ from those of the rules before it.
type Review struct {
	Rules           []ReviewedRule
	Packs, Fixtures int
	Covered, Points int    // numbers of points (cover.Coverage)
	NotMeasured     string // why there is no coverage; "" if it was measured
	Changes         *diff.Report
	Late            bool // the time ended before everything was compared and measured
}

// ReviewedRule is a rule with its points, and with those points for which the fixtures have no example.
type ReviewedRule struct {
	policy.Source
	Text   string // the text of the rule in the policy
	Points int
	Open   []cover.Point // the points that no fixture shows
}

// NewReview reviews the candidate c and compares it with the rules in force before it (the parameter
// before). windows is true if a laptop runs Windows, where more spellings of a path mean the same file. work
// limits the proof, in the unit of prove.Options. If the deadline of ctx comes, the review tells what was
// not compared or measured. If ctx is cancelled, NewReview returns an error.
func NewReview(ctx context.Context, before, c *Candidate, windows bool, work int) (*Review, error) {
	r := &Review{Packs: c.packs, Fixtures: len(c.fixtures)}
	var err error
	if r.Changes, err = compareCandidates(ctx, before, c, windows, work); err != nil {
		return nil, err
	}
	r.Late = ctx.Err() != nil
	rules, err := c.load(homeOfProofs, "")
	if err != nil {
		return nil, err
	}
	coverage, err := c.measureCoverage(ctx)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case errors.Is(err, cover.ErrStopped):
		r.Late, r.NotMeasured = true, "it takes longer than a page waits; where the policy is kept, run: clawai policy coverage"
	case err != nil:
		r.NotMeasured = err.Error()
	}
	byLine := map[int][]cover.Point{}
	for _, p := range coverage.Points {
		byLine[p.Line] = append(byLine[p.Line], p)
	}
	sources := rules.Sources()
	for i := range sources {
		one := ReviewedRule{Source: sources[i]}
		if one.From == "" {
			one.Text = string(bytes.TrimSpace(c.src[one.Start:one.End]))
			for _, p := range byLine[one.Pos.Line] {
				if one.Points++; !p.Covered {
					one.Open = append(one.Open, p)
				}
			}
		}
		r.Points, r.Covered = r.Points+one.Points, r.Covered+one.Points-len(one.Open)
		r.Rules = append(r.Rules, one)
	}
	return r, nil
}

// compareCandidates compares the answers of two candidates by proofs.
func compareCandidates(ctx context.Context, before, after *Candidate, windows bool, work int) (*diff.Report, error) {
	system := "linux"
	if windows {
		system = policy.Windows // a proof for Windows is valid for every system
	}
	old, err := before.load(homeOfProofs, system)
	if err != nil {
		return nil, err
	}
	now, err := after.load(homeOfProofs, system)
	if err != nil {
		return nil, err
	}
	return diff.CompareWithin(old, now, prove.Options{Work: work, Done: ctx.Done()}), nil
}

// measureCoverage measures how well the candidate's own fixtures test its rules. The fixtures expect the
// answers of the rules above a policy that allows everything, so the rules and this policy are measured as
// one policy.
func (c *Candidate) measureCoverage(ctx context.Context) (cover.Coverage, error) {
	o := policy.Options{Home: homeOfProofs, Pack: c.pack}
	src := append(append(bytes.Clone(c.src), '\n'), bundled.AllowAll...)
	p, err := policy.Parse(c.Name, src, o)
	if err != nil {
		return cover.Coverage{}, err
	}
	var fixtures []check.Fixture
	for _, f := range c.fixtures {
		fx, err := check.ParseFixture(f.Text)
		if err != nil {
			return cover.Coverage{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		fx.Path = f.Name
		fixtures = append(fixtures, fx)
	}
	return cover.Measure(p, c.Name, src, fixtures, cover.Options{Policy: o, Done: ctx.Done()})
}

// ChangesText returns lines about the calls that are answered differently.
func (r *Review) ChangesText() string {
	if !r.Changes.HasChanges() {
		return "Proved: no call is answered differently."
	}
	var w strings.Builder
	_ = r.Changes.WriteText(&w)
	return w.String()
}
