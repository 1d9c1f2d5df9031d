// Package simulation judges the recorded calls of all laptops of a centre by a candidate: rules that
// laptops do not have yet. It reports which calls would have been denied or asked about, and which calls
// only the laptop's own rules can decide. It does not guess: if the record lacks data about a call, the
// call is counted with the reason. The package reads the records in pages and writes nothing.
package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check/bundled"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/policy"
)

// Candidate is a policy that laptops could take as a bundle.
type Candidate struct {
	Name    string // name of the policy in positions
	Counter uint64 // counter of the bundle; 0 if the candidate is no bundle
	src     []byte
	pack    func(policy.PackFile) (policy.Pack, error)

	fixtures []bundle.File // fixtures of the bundle
	packs    int
}

// bundleHead begins every bundle and no policy.
const bundleHead = "clawai bundle "

// NewCandidate reads a bundle (signed or not) or the text of a policy. The packs of a policy text
// are read from this machine. The error says why laptops would not take the candidate.
func NewCandidate(name string, src []byte) (*Candidate, error) {
	c, _, err := readCandidate(context.Background(), name, src, packs.Read)
	return c, err
}

// Limits of a candidate that somebody sends. Within these limits the proof takes seconds, and the rules take some MiB
// of memory.
const (
	maxSentRules    = 1000
	maxSentPatterns = 10_000 // patterns of all rules together
	maxSentText     = 2000   // bytes of one pattern
)

// NewSentCandidate is like NewCandidate, for a candidate that somebody has sent. It reads no file of this machine,
// because its error would tell the sender whether the file exists and how it begins. If ctx ends, it returns an error
// that wraps the error of ctx.
func NewSentCandidate(ctx context.Context, name string, src []byte) (*Candidate, error) {
	c, p, err := readCandidate(ctx, name, src, func(policy.PackFile) (policy.Pack, error) {
		return nil, errors.New("packs are taken from a bundle alone; make one with: clawai policy bundle make")
	})
	if err != nil {
		return nil, err
	}
	if err := checkSize(p.Sources()); err != nil {
		return nil, fmt.Errorf("%w; run: clawai-gateway simulate NEW", err)
	}
	return c, nil
}

func checkSize(sources []policy.Source) error {
	if len(sources) > maxSentRules {
		return fmt.Errorf("it has %d rules, and at most %d are judged here", len(sources), maxSentRules)
	}
	patterns := 0
	for i := range sources {
		r := &sources[i]
		all := patternsOf(r)
		if slices.ContainsFunc(all, func(text string) bool { return len(text) > maxSentText }) {
			return fmt.Errorf("the rule on line %d has a pattern of more than %d bytes, which is not judged here", r.Pos.Line, maxSentText)
		}
		if patterns += len(all); patterns > maxSentPatterns {
			return fmt.Errorf("its rules have more than %d patterns, which is more than is judged here", maxSentPatterns)
		}
	}
	return nil
}

// patternsOf returns the patterns of a rule. It leaves out the patterns in constraints, because the language of rules
// already limits them.
func patternsOf(r *policy.Source) []string {
	all := slices.Concat(r.Names, r.Not.Names)
	for _, c := range slices.Concat(r.Calls, r.Not.Calls) {
		all = append(all, c.Globs...)
	}
	for _, a := range slices.Concat(r.Args, r.Not.Args) {
		all = append(all, a.Globs...)
	}
	return all
}

func readCandidate(ctx context.Context, name string, src []byte, pack func(policy.PackFile) (policy.Pack, error)) (*Candidate, *policy.Policy, error) {
	c := &Candidate{Name: name, src: src, pack: pack}
	if bytes.HasPrefix(src, []byte(bundleHead)) {
		b, err := bundle.ReadUnsigned(src)
		if err != nil {
			return nil, nil, err
		}
		out, err := bundled.Try(ctx.Done(), &b, name, policy.Options{}, packs.ParsePack)
		if err == nil {
			err = out.Err()
		}
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("its fixtures were not tried to their end: %w", ctx.Err())
		}
		if err != nil {
			return nil, nil, fmt.Errorf("laptops would not take the bundle: %w", err)
		}
		c.Counter, c.src, c.fixtures, c.packs = b.Counter, b.Policy(), b.Fixtures(), len(b.Packs())
		c.pack = func(x policy.PackFile) (policy.Pack, error) {
			if text := b.Find(x.File); text != nil {
				return packs.ParsePack(x.File, text)
			}
			return nil, errors.New("the bundle does not hold it")
		}
	}
	p, err := c.load("", "")
	if err != nil {
		return nil, nil, fmt.Errorf("the policy does not load: %w", err)
	}
	return c, p, nil
}

// load returns the rules as the layer that laptops with this home folder and this system have.
func (c *Candidate) load(home, system string) (*policy.Policy, error) {
	return policy.Parse(c.Name, c.src, policy.Options{Home: home, OS: system, Pack: c.pack, Layer: policy.Organisation})
}

// judges holds the policies that judge the calls of laptops with the same home folder.
type judges struct {
	after    *replay.Judge  // the candidate above rules that allow everything, so every stricter answer comes from the candidate
	now, old *policy.Policy // the candidate and the present bundle, as layers
	folders  []int          // indexes of the candidate's rules that look at a folder which only the laptop knows
}

func (s *simulator) judgesFor(home string) (*judges, error) {
	if j := s.judges[home]; j != nil {
		return j, nil
	}
	now, err := s.candidate.load(home, "")
	if err != nil {
		return nil, err
	}
	old, err := s.present.load(home, "")
	if err != nil {
		return nil, err
	}
	after, err := replay.NewJudge("", []byte(bundled.AllowAll), policy.Options{Home: home, Above: []*policy.Policy{now}})
	if err != nil {
		return nil, err
	}
	j := &judges{after: after, now: now, old: old}
	sources := now.Sources()
	for i := range sources {
		if r := &sources[i]; looksAtFolder(r, s.candidate.src[r.Start:r.End], home) {
			j.folders = append(j.folders, i)
		}
	}
	if len(s.judges) >= maxHomes {
		clear(s.judges)
	}
	s.judges[home] = j
	return j, nil
}

// looksAtFolder reports whether a rule may look at a folder that is unknown here. The home folder of a
// person is unknown if home is "". The folders on the disk of the laptop are always unknown.
func looksAtFolder(r *policy.Source, text []byte, home string) bool {
	return home == "" && (bytes.ContainsRune(text, '~') || len(r.FolderNames) > 0) || bytes.Contains(text, []byte("under"))
}

// Paths of a laptop's own policy and of the rules of its bundle, without the home folder at the start.
var placesBelowHome = []string{"/.config/clawai/policy.toml", "/.local/state/clawai/enrolment/rules/policy.toml", "/AppData/Roaming/clawai/policy.toml"}

// homeOf returns the home folder in the path of a rule's file; "" if the path does not show the home folder.
func homeOf(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, below := range placesBelowHome {
		if home, ok := strings.CutSuffix(file, below); ok {
			return home
		}
	}
	return ""
}

// isBundleRule reports whether a rule's file is the one in which a laptop keeps the rules of its centre.
func isBundleRule(file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	return strings.HasSuffix(path.Dir(file), "/enrolment/rules") && path.Base(file) == bundle.PolicyName
}
