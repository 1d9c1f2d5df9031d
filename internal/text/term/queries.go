package term

import (
	"regexp"
	"sync"
)

// queries matches parts of bubbletea's output that draw nothing and that are removed:
//   - queries to the terminal, because the next program would get the replies
//   - keyboard modes, because they would stay if this process is killed
//   - changes of tab stops, because these belong to the person
var queries = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[(\?[0-9;]*\$p|\?u|\?5W|[<=>][0-9;]*[um])`)
})

// RemoveQueries returns output of bubbletea without the parts that queries matches.
func RemoveQueries(picture []byte) []byte { return queries().ReplaceAll(picture, nil) }
