package scalar

import (
	"crypto/sha256"
	"encoding/hex"
)

// minKnown is the length of the shortest expression in the table. Parsing a shorter expression is
// as fast as looking it up.
const minKnown = 512

// knownExpression is the parse result of an expression that is certainly valid.
type knownExpression struct {
	digest string // SHA-256, in hexadecimal
	steps  int
	free   asciiSet
}

// findKnown returns the row of an expression that a starter policy contains. The table saves time:
// a hook reads the policy again for each call. Without the table, a third of the reading time would
// be the parsing of these expressions.
func findKnown(expr string) (knownExpression, bool) {
	if len(expr) < minKnown {
		return knownExpression{}, false
	}
	sum := sha256.Sum256([]byte(expr))
	digest := hex.EncodeToString(sum[:])
	for _, k := range known {
		if k.digest == digest {
			return k, true
		}
	}
	return knownExpression{}, false
}
