package hub

import (
	"strconv"
	"testing"
)

// A server that speaks of more tasks than are kept leaves the others theirs.
func TestTasksAreBoundedByServer(t *testing.T) {
	h := &hub{handles: map[string]*server{}}
	loud, other := &server{}, &server{}
	for i := range maxTasks + 10 {
		h.keepTasks(loud, []string{"loud " + strconv.Itoa(i)})
	}
	h.keepTasks(loud, []string{"loud 1"}) // again
	h.keepTasks(other, []string{"mine"})
	if len(h.handles) != maxTasks+1 || h.handles["mine"] != other {
		t.Errorf("%d tasks are known, and the other server's is %v", len(h.handles), h.handles["mine"])
	}
}
