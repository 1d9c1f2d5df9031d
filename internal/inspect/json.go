package inspect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/jsonscan"
)

// maxPlaces bounds what is found in a document, of all kinds in all of its strings.
const maxPlaces = 1 << 14

// Document is Text of a file or a message as it is stored: where it is JSON, also of what
// its strings and names say behind their escapes. What is found there is the string
// token, with its quotes.
func Document(text string, wanted Kinds) []Found {
	found := Text(text, wanted)
	if !strings.Contains(text, `\`) || !json.Valid([]byte(text)) {
		return found
	}
	for at := 0; at < len(text); {
		n := strings.IndexByte(text[at:], '"')
		if n < 0 {
			break
		}
		c := jsonscan.Cursor{Src: text, At: at + n}
		start := c.At
		said, ok := c.Text()
		if !ok {
			break
		}
		at = c.At
		if len(said) == at-start-len(`""`) { // without escapes: seen above
			continue
		}
		for _, f := range Text(said, wanted) {
			found = append(found, Found{Kind: f.Kind, What: f.What, Start: start, End: at, Of: f.Of})
		}
		if len(found) > maxPlaces {
			found = append(found, Found{Kind: Unscreened, What: "behind too many findings", Start: start, End: len(text)})
			break
		}
	}
	slices.SortStableFunc(found, byPlace)
	return found
}
