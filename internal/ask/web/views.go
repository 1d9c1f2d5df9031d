package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
)

// Views makes the parts of the page that are not questions. It only reads.
type Views interface {
	// Render returns the view with this name, one of ViewNames. filter has at most one value for
	// each name.
	Render(ctx context.Context, name string, filter url.Values) (View, error)
	// Version returns a number that changes when a view may have changed.
	Version() uint64
}

// View is the content of one tab of the page.
type View struct {
	Title string   `json:"title"`
	Body  *Element `json:"body"`
}

// ErrFilter tells that the filter is wrong. Render returns an error that wraps it; the rest of the
// error's text describes the mistake.
var ErrFilter = errors.New("the address has a filter that is not understood")

// ViewNames are the names of the views. Each name is also a path of the page. The questions have
// the path /.
var ViewNames = []string{"overview", "calls", "sessions", "timeline", "rules", "servers", "answers"}

const (
	viewPath = "/view/" // followed by a name of ViewNames
	maxQuery = 2 << 10  // maximum number of bytes of a filter
)

// findView returns the route of the data of a view, or of the page that shows the view.
func findView(u *url.URL) route {
	if len(u.RawQuery) > maxQuery || u.RawPath != "" {
		return nowhere
	}
	if name, ok := strings.CutPrefix(u.Path, viewPath); ok && slices.Contains(ViewNames, name) {
		return route{method: http.MethodGet, dest: "empty", serve: (*Server).serveView}
	}
	if name, ok := strings.CutPrefix(u.Path, "/"); ok && slices.Contains(ViewNames, name) {
		return route{method: http.MethodGet, dest: "document", open: true, serve: (*Server).servePage}
	}
	return nowhere
}

var (
	badFilter  = &refusal{Status: http.StatusBadRequest, Text: "The address has a filter that cannot be read. Open the tab again without it."}
	noViews    = &refusal{Status: http.StatusNotFound, Text: "Only the questions are shown here. For the rest, run: clawai dashboard"}
	errUnknown = errors.New("a view with an element that the page does not make")
)

// serveView sends the data of one view.
func (s *Server) serveView(w http.ResponseWriter, r *http.Request, _ *session) error {
	if s.o.Views == nil {
		return noViews
	}
	filter, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badFilter
	}
	for name, values := range filter {
		if len(values) > 1 {
			return badFilter
		}
		if values[0] == "" {
			delete(filter, name)
		}
	}
	v, err := s.o.Views.Render(r.Context(), strings.TrimPrefix(r.URL.Path, viewPath), filter)
	switch {
	case errors.Is(err, ErrFilter):
		return &refusal{Status: http.StatusBadRequest, Text: term.VisibleText(err.Error())}
	case err != nil:
		return &refusal{Status: http.StatusServiceUnavailable, Text: "This cannot be shown: " + term.VisibleText(err.Error())}
	case !v.Body.isKnown():
		return errUnknown
	}
	return writeReply(w, v)
}
