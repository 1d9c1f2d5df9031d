package site

import (
	"net/http"

	"github.com/clawai/clawai/internal/gateway/centre"
)

// A part of more than largePart bytes belongs to a backlog: after an outage all laptops ship a backlog at once.
// At most mostLarge such parts are in memory; further ones wait unread, in the order in which they came. Running
// sessions send smaller parts, which do not wait.
const (
	largePart = 128 << 10
	mostLarge = 16
)

// readPart reads the part in a request. The caller calls the returned function end when it does not need the
// body any more.
func (s *Site) readPart(w http.ResponseWriter, r *http.Request) (body []byte, end func(), err error) {
	end = func() {}
	if r.ContentLength < 0 || r.ContentLength > largePart {
		select {
		case s.large <- struct{}{}:
			end = func() { <-s.large }
		case <-r.Context().Done():
			return nil, nil, refuse(http.StatusServiceUnavailable, "The centre ends.")
		}
	}
	if body, err = readBody(w, r, centre.MaxPart); err != nil {
		end()
		return nil, nil, err
	}
	return body, end, nil
}
