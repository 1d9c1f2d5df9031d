// Package bundled tries a bundle before it takes effect. The policy of the bundle must load as a
// layer, and its fixtures must get their expected answers. The author of a bundle and each laptop
// make the same trial, so a laptop refuses no bundle that its author could publish.
package bundled

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/policy"
)

// layerName is the name of the layer that Try makes from a bundle.
const layerName = "organisation"

// home is the home folder in fixtures. It is the same on every machine, so that a trial has the
// same result everywhere.
const home = "/home/user"

// AllowAll is the policy below the bundle in a trial. It allows every request, so every answer other
// than allow comes from the bundle.
const AllowAll = `
[[rule]]
action = "allow"
tool = "**"
[[rule]]
action = "allow"
resource = "**"
[[rule]]
action = "allow"
prompt = "**"
[[rule]]
action = "allow"
sampling = "**"
[[rule]]
action = "allow"
elicitation = "**"
[[rule]]
action = "allow"
method = "**"
`

// ErrStopped is the error of a trial that was stopped before its end.
var ErrStopped = errors.New("the trial of its fixtures was stopped")

// Outcome is the result of a trial.
type Outcome struct {
	Rules    *policy.Policy // the policy of the bundle, as a layer
	Summary  check.Summary
	Problems []string // one text for each failed fixture, with its name and the reason; nil if the bundle passed
}

// Err returns an error with the first problem; nil if there is none.
func (o *Outcome) Err() error {
	switch n := len(o.Problems); n {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("its fixture %s", o.Problems[0])
	default:
		return fmt.Errorf("its fixture %s; %d more fail", o.Problems[0], n-1)
	}
}

// Try makes the trial of a bundle. path is the name of its policy in errors and positions. o holds
// the parse options of this machine; Try replaces Layer, Above, Calls, Disk and Pack in it. pack
// parses the text of a pack in the bundle. Try returns ErrStopped soon after the channel in the
// parameter stop is closed. This channel may be nil.
func Try(stop <-chan struct{}, b *bundle.Bundle, path string, o policy.Options, pack func(path string, src []byte) (policy.Pack, error)) (*Outcome, error) {
	o.Layer, o.Above, o.Calls, o.Disk = layerName, nil, nil, nil
	o.Pack = func(x policy.PackFile) (policy.Pack, error) {
		if src := b.Find(x.File); src != nil {
			return pack(x.File, src)
		}
		return nil, errors.New("the bundle does not hold it")
	}
	rules, err := policy.Parse(path, b.Policy(), o)
	if err != nil {
		return nil, fmt.Errorf("its policy does not load: %w", firstError(err))
	}
	o.Home = home
	same, err := policy.Parse(path, b.Policy(), o)
	if err != nil {
		return nil, fmt.Errorf("its policy does not load: %w", firstError(err))
	}
	o.Layer, o.Above = "", []*policy.Policy{same}
	trial, err := policy.Parse("", []byte(AllowAll), o)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Rules: rules}
	var results []check.Result
	for _, f := range b.Fixtures() {
		select {
		case <-stop:
			return nil, ErrStopped
		default:
		}
		r := judge(trial, f)
		results = append(results, r)
		switch {
		case r.Err != nil:
			out.Problems = append(out.Problems, fmt.Sprintf("%s cannot be read: %v", f.Name, r.Err))
		case r.IsMismatch():
			out.Problems = append(out.Problems, fmt.Sprintf("%s gets %s, %s", f.Name, r.Action, r.DescribeMismatch()))
		}
	}
	out.Summary = check.Summarize(results)
	return out, nil
}

func judge(p *policy.Policy, f bundle.File) check.Result {
	fx, err := check.ParseFixture(f.Text)
	if err != nil {
		return check.Result{Path: f.Name, Err: err}
	}
	fx.Path = f.Name
	return check.JudgeFixture(p, fx, "")
}

// firstError returns the first error of a joined error.
func firstError(err error) error {
	if all, ok := errors.AsType[policy.Errors](err); ok && len(all) > 1 {
		return fmt.Errorf("%w, and %d more", all[0], len(all)-1)
	}
	return errors.New(strings.TrimSpace(err.Error()))
}
