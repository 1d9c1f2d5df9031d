package shell

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// isSafeRemote reports whether git contacts the address without a helper program. An address can
// name such a helper.
func isSafeRemote(text string) bool {
	return !strings.Contains(text, "::") && !strings.Contains(text, "://-") && !strings.Contains(text, "@-") && !strings.Contains(text, "+ssh")
}

// isSafePush reports whether an operand of git push neither forces (+main) nor deletes
// (:main). An unknown word may begin with + or :.
func isSafePush(text string) bool {
	return text != "" && text[0] != '+' && text[0] != ':' && isSafeRemote(text)
}

// isSafeFetch reports whether an operand of git fetch or git pull does not force a change of the
// user's own references, and does not cover many references. With --prune, git deletes the
// references that match a pattern such as refs/tags/*:refs/tags/* and that the remote does not
// have.
func isSafeFetch(text string) bool {
	return isSafePush(text) && !(strings.Contains(text, "*") && strings.Contains(text, ":"))
}

// actsAsOption reports whether an operand of git push, git fetch or git pull has the
// effect of one of the options: +main forces, :main deletes. A rule about --force may
// also be meant for a deletion.
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
