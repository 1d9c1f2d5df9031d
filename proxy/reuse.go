package proxy

import (
	"sync"

	"github.com/clawai/clawai/internal/gate"
)

// Pools of the objects for a call and its answer. With them an allowed call allocates nothing. The
// last user of an object puts it back. If another goroutine may still use an object, the object is
// not put back and the garbage collector frees it.
var (
	requests  = sync.Pool{New: func() any { return new(request) }}
	exchanges = sync.Pool{New: func() any { return new(gate.Exchange) }}
	responses = sync.Pool{New: func() any { return new(response) }}
)

// reuseExchanges puts back the exchanges of requests that were forwarded or refused. It puts back
// none while a goroutine is withdrawing a request, because that goroutine may use one of them.
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

// reuseReplies puts back the responses of this read and their requests. The responses have been
// forwarded and recorded.
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
