package base

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
)

// Caller says who makes the calls of this process's sessions. Its methods are safe for concurrent use.
type Caller struct {
	state string
	idle  atomic.Bool // nothing is known, and nothing can be before Wake: calls cost no look at a clock

	mu     sync.Mutex
	asks   bool           // a rule asks who calls: then it is also found on a laptop that is not enrolled
	groups bool           // a rule asks for groups: only then do facts, and so records, have them
	under  *policy.Policy // names the environment
	looked time.Time      // when found was found; zero: it is not
	found  enrolment.Caller
}

// lookEvery is how long what was found counts. What a centre says is taken up within that time.
const lookEvery = time.Second

// NewCaller returns the caller of sessions under a policy, with the state folder. It reads nothing yet.
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

// Wake makes the next call find out again whether the laptop is enrolled. Without it, a laptop that is
// not, and whose rules do not ask who calls, does not look a second time.
func (c *Caller) Wake() { c.idle.Store(false) }

// Identify sets in the facts who calls, as gate.Options.Identify wants it. On a laptop that is not
// enrolled, and whose rules do not ask who calls, it sets nothing but the environment.
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
