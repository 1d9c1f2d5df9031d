package shell

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// isSafeRemote reports whether an address makes git run no helper named in it.
func isSafeRemote(text string) bool {
	return !strings.Contains(text, "::") && !strings.Contains(text, "://-") && !strings.Contains(text, "@-") && !strings.Contains(text, "+ssh")
}

// isSafePush reports whether an operand of git push neither forces (+main) nor deletes
// (:main). An unknown word may begin with either.
func isSafePush(text string) bool {
	return text != "" && text[0] != '+' && text[0] != ':' && isSafeRemote(text)
}

// isSafeFetch reports whether an operand of git fetch or git pull moves no reference of
// the user's own by force, nor many of them: with --prune, git deletes those that a
// pattern such as refs/tags/*:refs/tags/* names and the remote does not have.
func isSafeFetch(text string) bool {
	return isSafePush(text) && !(strings.Contains(text, "*") && strings.Contains(text, ":"))
}

// actsAsOption reports whether an operand of git push, git fetch or git pull does what one
// of the options does: +main forces, :main deletes. A deletion may be what a rule
// about --force means.
func (r *row) actsAsOption(w *word, names []string) where.Match {
	if r == nil || r.operands != "refspec" && r.operands != "into" {
		return where.No
	}
	text := w.text
	if !w.known {
		text = w.head
	}
	one := func(long, short string) bool { return slices.Contains(names, long) || slices.Contains(names, short) }
	switch {
	case strings.HasPrefix(text, "+:"), strings.HasPrefix(text, ":") && text != ":":
		switch {
		case one("--delete", "-d"), text[0] == '+' && one("--force", "-f"):
			return where.Yes
		case one("--force", "-f"):
			return where.Maybe
		}
	case strings.HasPrefix(text, "+"):
		if one("--force", "-f") {
			return where.Yes
		}
	case r.operands == "refspec" && (text == "--mirror" || text == "--prune"):
		if one("--force", "-f") || one("--delete", "-d") {
			return where.Maybe
		}
	case text == "" && !w.known && !w.owner:
		if one("--force", "-f") || one("--delete", "-d") {
			return where.Maybe
		}
	}
	return where.No
}
