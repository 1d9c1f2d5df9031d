package proxy

import (
	"sync"

	"github.com/clawai/clawai/internal/gate"
)

// What a call and its answer need is used again for the calls to come, so that an allowed
// one allocates nothing. Whoever has seen an object through to its end gives it back: not
// one that others may still be looking at, which is left to the garbage collector.
var (
	requests  = sync.Pool{New: func() any { return new(request) }}
	exchanges = sync.Pool{New: func() any { return new(gate.Exchange) }}
	responses = sync.Pool{New: func() any { return new(response) }}
)

// reuseExchanges gives back the exchanges of requests that have been forwarded or refused. Whoever
// withdraws one took it from the table before it was sent.
func (t *table) reuseExchanges(xs []*gate.Exchange) {
	if t.withdrawing.Load() > 0 {
		return
	}
	for _, x := range xs {
		if _, one := x.Out.(*request); one && !x.WaitedForPerson() {
			*x = gate.Exchange{}
			exchanges.Put(x)
		}
	}
}

// reuseReplies gives back the replies of this read, which have gone on and are on record, and
// their requests.
func (rc *receiver) reuseReplies() {
	if rc.s.table.withdrawing.Load() > 0 {
		return
	}
	for _, resp := range rc.passed {
		req := resp.request
		if resp.x.WaitedForPerson() || len(resp.x.Calls)+len(resp.tasks) > 0 {
			continue
		}
		*resp = response{}
		responses.Put(resp)
		if !req.kept && req.form == nil {
			*req = request{}
			requests.Put(req)
		}
	}
}
