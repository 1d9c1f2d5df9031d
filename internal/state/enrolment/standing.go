package enrolment

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Standing describes the enrolment for people.
type Standing struct {
	URL      string `json:"url,omitempty"`
	Laptop   string `json:"laptop,omitempty"`
	Offline  string `json:"offline,omitempty"`  // the offline rule as a sentence
	Counter  uint64 `json:"counter,omitempty"`  // counter of the bundle in force; 0 if no bundle is in force
	Revision string `json:"revision,omitempty"` // revision of the policy in that bundle
	Reached  string `json:"reached,omitempty"`  // time of the centre's last answer, in RFC 3339 and UTC
	// Who holds the owner's names, and Roles the owner's roles, as rules use them now. A field is
	// nil if its content is not known.
	Who     []string `json:"who,omitzero"`
	Roles   []string `json:"roles,omitzero"`
	Backlog int64    `json:"backlog,omitempty"` // bytes of the record that the centre does not have yet
	// Doubts are sentences for people about parts of the enrolment that do not work. Broken means
	// that every call is denied because a part does not work.
	Doubts []string `json:"doubts,omitempty"`
	Broken bool     `json:"broken,omitempty"`
}

// lateAfter is a time without an answer of the centre. If sessions run and this time has passed,
// Doubts contains a sentence about it.
const lateAfter = 10 * time.Minute

// FindStanding returns the state of the enrolment; nil for a laptop that is not enrolled.
func FindStanding(state string, now time.Time) *Standing {
	e, err := ReadEnrolment(state)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return &Standing{Doubts: []string{err.Error()}, Broken: true}
	}
	s := &Standing{URL: e.URL, Laptop: e.Laptop, Offline: e.Offline.String()}
	p, err := ReadProgress(state)
	if err != nil {
		s.Doubts, s.Broken = []string{err.Error()}, e.Offline.Then == Deny
		return s
	}
	s.Counter, s.Revision, s.Backlog = p.Counter, p.Revision, p.Backlog
	caller, _ := FindCaller(state, now)
	s.Who, s.Roles = caller.Who.List(), caller.Roles.List()
	s.Reached = p.Reached.UTC().Format(time.RFC3339)
	away := now.Sub(p.Reached)
	switch ends := e.Offline.Ends(p.Reached); {
	case !now.Before(ends) && e.Offline.Then == Deny:
		s.Broken = true
		s.Doubts = append(s.Doubts, fmt.Sprintf("the centre was not reached for %s, and its rule is to deny then: every call is denied until it is", describeAge(away)))
	case !now.Before(ends):
		s.Doubts = append(s.Doubts, fmt.Sprintf("the centre was not reached for %s; its last bundle stays in force", describeAge(away)))
	case away > lateAfter && IsWanted(state, now):
		s.Doubts = append(s.Doubts, fmt.Sprintf("the centre was not reached for %s", describeAge(away)))
	}
	for _, why := range []string{p.Error, p.ShipError} {
		if why != "" {
			s.Doubts = append(s.Doubts, why)
		}
	}
	if p.Refused != "" {
		s.Doubts = append(s.Doubts, "the centre's newest bundle is not in force: "+p.Refused)
	}
	return s
}

// describeAge writes a time in the largest unit that fits.
func describeAge(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / unit.size); n == 1 {
			return "1 " + unit.name
		} else if n > 1 {
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return "less than a minute"
}

// Describe returns the standing as lines for a screen, without the doubts.
func (s *Standing) Describe() []string {
	if s.URL == "" {
		return []string{"the enrolment cannot be read"}
	}
	rules := "no bundle of it is in force yet"
	if s.Counter > 0 {
		rules = fmt.Sprintf("its bundle %d is in force, revision %s", s.Counter, s.Revision)
	}
	copied := "all of the record that goes to it was copied"
	if s.Backlog > 0 {
		copied = fmt.Sprintf("%d bytes of the record wait to be copied to it", s.Backlog)
	}
	return []string{s.URL + ", as " + s.Laptop, s.describeOwner(), rules, copied, s.Offline}
}

// describeOwner returns a sentence about the user of this laptop, as rules see the user.
func (s *Standing) describeOwner() string {
	switch {
	case s.Who == nil:
		return "who uses this laptop is not known, nor in which roles"
	case s.Roles == nil:
		return "you are " + s.Who[0] + "; in which roles is not known"
	case len(s.Roles) == 0:
		return "you are " + s.Who[0] + ", without a role"
	}
	return "you are " + s.Who[0] + ", with the roles " + strings.Join(s.Roles, ", ")
}
