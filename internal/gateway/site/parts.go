package site

import (
	"net/http"

	"github.com/clawai/clawai/internal/gateway/centre"
)

// A part of more than largePart bytes is one of a backlog. Of these, at most mostLarge are in memory; others wait
// unread, the first one first. What sessions write now comes in smaller parts, and waits for none of them. After an
// outage all laptops ship a backlog at once.
const (
	largePart = 128 << 10
	mostLarge = 16
)

// readPart reads the part in a request. Whoever has kept it calls end.
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
