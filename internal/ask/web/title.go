package web

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
)

// told are the argument names that best show what a call is about, best first.
var told = []string{"path", "file_path", "filepath", "file", "filename", "source", "from", "uri", "url", "directory", "dir", "command", "cmd", "sql", "query"}

// toldLength is the maximum number of characters of such an argument in a title.
const toldLength = 72

// callTitle returns a call's subject in one line: the tool, and the file, the address or the
// command. The details show the rest.
func (s *Server) callTitle(q *view.Question) string {
	if len(q.Requests) != 1 {
		return q.Title
	}
	best, text := len(told), ""
	for _, a := range q.Requests[0].Args {
		if at := slices.Index(told, strings.ToLower(a.Path)); at >= 0 && at < best && a.Type == "string" {
			best, text = at, a.Whole[0]
			if len(a.Whole) > 1 {
				text += " …"
			}
		}
	}
	if text == "" {
		return q.Title
	}
	return q.Title + ` "` + cutMiddle(view.TildePath(text, s.o.Home), toldLength) + `"`
}

// cutMiddle removes the middle of a text of more than n characters, because the end of a path
// tells more than its start.
func cutMiddle(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	head := n / 3
	return string(runes[:head]) + "…" + string(runes[len(runes)-(n-head-1):])
}
