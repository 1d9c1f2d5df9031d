package proxy

import (
	"sync"

	"github.com/clawai/clawai/internal/gate"
)

// Pools of the objects for a call and its answer, so that an allowed call allocates nothing. The
// last user of an object puts it back. An object that another goroutine may still use is left to
// the garbage collector.
var (
	requests  = sync.Pool{New: func() any { return new(request) }}
	exchanges = sync.Pool{New: func() any { return new(gate.Exchange) }}
	responses = sync.Pool{New: func() any { return new(response) }}
)

// reuseExchanges puts back the exchanges of requests that have been forwarded or refused. While a
// request is being withdrawn it puts none back, because the withdrawing goroutine may hold an
// exchange.
func (t *table) reuseExchanges(xs []*gate.Exchange) {
	if t.withdrawing.Load() > 0 {
		return
	}
	for _, x := range xs {
		if _, isRequest := x.Out.(*request); isRequest && !x.WaitedForPerson() {
			*x = gate.Exchange{}
			exchanges.Put(x)
		}
	}
}

// reuseReplies puts back the responses of this read, which are forwarded and recorded, and their
// requests.
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
