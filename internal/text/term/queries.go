package term

import (
	"regexp"
	"sync"
)

// queries matches what bubbletea writes besides the picture: queries to the terminal, whose
// replies would reach the program behind us after our end, keyboard modes that a killed process
// would leave behind, and tab stops, which are the person's.
var queries = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[(\?[0-9;]*\$p|\?u|\?5W|[<=>][0-9;]*[um])`)
})

// RemoveQueries returns a picture without queries to the terminal and changes of its modes.
func RemoveQueries(picture []byte) []byte { return queries().ReplaceAll(picture, nil) }
