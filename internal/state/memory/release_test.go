package memory

import (
	"runtime"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// However often it is asked for, memory comes back.
func TestReleaseIsNotPutOffForEver(t *testing.T) {
	slow.Test(t)
	var kept runtime.MemStats
	runtime.ReadMemStats(&kept)
	before := kept.NumForcedGC
	for end := time.Now().Add(time.Minute); kept.NumForcedGC < before+2; {
		if time.Now().After(end) {
			t.Fatal("nothing was collected")
		}
		ReleaseSoon()
		time.Sleep(50 * time.Millisecond)
		runtime.ReadMemStats(&kept)
	}
}

func TestReleaseSoonDoesNotAllocate(t *testing.T) {
	ReleaseSoon()
	if n := testing.AllocsPerRun(100, ReleaseSoon); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
