package base

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
)

// Caller finds the account that makes the calls of this process's sessions, with its roles and groups.
// Its methods are safe for concurrent use.
type Caller struct {
	state string
	idle  atomic.Bool // nothing is known about the caller; until Wake, Identify does not look again

	mu     sync.Mutex
	asks   bool           // a rule asks who calls; then Identify finds the account also on a laptop that is not enrolled
	groups bool           // a rule asks for groups; otherwise the facts and the records contain no groups
	under  *policy.Policy // the policy in force, which names the environment
	looked time.Time      // time when found was set; zero: found is not valid
	found  enrolment.Caller
}

// lookEvery is how long Caller uses a result before it looks again. A change by the team's centre
// takes effect within this time.
const lookEvery = time.Second

// NewCaller returns a Caller for sessions under policy p. state is the path of the state folder.
// NewCaller reads no file; Identify does that.
func NewCaller(state string, p *policy.Policy) *Caller {
	c := &Caller{state: state}
	c.SetPolicy(p)
	return c
}

// SetPolicy sets the policy that is in force.
func (c *Caller) SetPolicy(p *policy.Policy) {
	asks, groups := p.AsksIdentity(), p.AsksIdentity("group")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks, c.groups, c.under, c.looked = asks, groups, p, time.Time{}
	c.idle.Store(false)
}

// Wake makes the next Identify find out again whether the laptop is enrolled. Without Wake,
// Identify looks only once if the laptop is not enrolled and no rule asks who calls.
func (c *Caller) Wake() { c.idle.Store(false) }

// Identify sets the facts about the caller, for gate.Options.Identify. It sets only the environment
// if the laptop is not enrolled and no rule asks who calls.
func (c *Caller) Identify(f *policy.Facts) {
	if c.idle.Load() {
		return
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked).Abs() >= lookEvery {
		enrolled := false
		if c.found, enrolled = enrolment.FindCaller(c.state, now); !enrolled && c.asks {
			c.found.Who = enrolment.NameAccount()
		}
		if c.found.Env = c.under.Environment(c.found.Env); !c.groups {
			c.found.Groups = ""
		}
		c.looked = now
		c.idle.Store(!enrolled && !c.asks && c.found == (enrolment.Caller{}))
	}
	f.Who, f.Roles, f.Groups, f.Env = c.found.Who, c.found.Roles, c.found.Groups, c.found.Env
}
