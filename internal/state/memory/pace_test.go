package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// While much is alive the heap grows by little, and by much again when it is gone.
func TestPaceFollowsWhatIsAlive(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	SetHeapPace(200, 50)
	percent := func(want uint64) {
		t.Helper()
		is := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			runtime.GC()
			metrics.Read(is)
			if is[0].Value.Uint64() == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("it grows by %d, not %d", is[0].Value.Uint64(), want)
			}
		}
	}
	percent(200)
	large := make([]byte, 2*manyBytes)
	percent(50)
	runtime.KeepAlive(large) // and not behind this line
	percent(200)
}
