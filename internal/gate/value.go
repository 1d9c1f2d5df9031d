package gate

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/clawai/clawai/policy"
)

// isGrantable reports whether a person was shown everything in the calls. This is so for calls
// about tools, resources and prompts. Calls with other subjects hold more than a person is shown (a
// schema, a token limit, params).
func isGrantable(cs []policy.Call) bool {
	for i := range cs {
		switch cs[i].Subject {
		case policy.ToolSubject, policy.ResourceSubject, policy.PromptSubject:
		default:
			return false
		}
	}
	return true
}

// approvalValue returns a digest of the calls and of their server. A team's centre recognizes the
// same calls by this digest. Unlike the result of valueOf, the digest is the same in every process.
func (s *Session) approvalValue(cs []policy.Call) [sha256.Size]byte {
	h := sha256.New()
	writeText(h, s.granted.server)
	for i := range cs {
		writeCall(h, &cs[i])
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

// valueOf returns the digest of everything in the calls that the other side gets, and of the folder
// of each call. The digest includes the length of each part, so that two different lists of parts
// never look the same.
func valueOf(cs []policy.Call) (sum [sha256.Size]byte) {
	h := sha256.New()
	writeNumber(h, len(cs))
	for i := range cs {
		writeCall(h, &cs[i])
		writeNumber(h, int(cs[i].Quiet))
	}
	h.Sum(sum[:0])
	return sum
}

func writeCall(h hash.Hash, c *policy.Call) {
	writeNumber(h, int(c.Subject))
	writeText(h, c.Server)
	writeText(h, c.Method)
	writeNumber(h, len(c.Names))
	for _, name := range c.Names {
		writeText(h, name)
	}
	writeText(h, string(c.Args))
	writeText(h, string(c.Extra))
	writeText(h, c.Cwd) // "make deploy" does something else in another folder
}

func writeNumber(h hash.Hash, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

func writeText(h hash.Hash, s string) {
	writeNumber(h, len(s))
	h.Write([]byte(s))
}
