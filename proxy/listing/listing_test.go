//go:build unix

package listing

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// However long a server says nothing, it is waited for as long as was said, or until nobody
// waits any more.
func TestSilence(t *testing.T) {
	slow.Test(t)
	for _, tc := range []struct {
		name   string
		within time.Duration
		cancel bool
		want   string
	}{
		{"late", 100 * time.Millisecond, false, "no answer within 100ms"},
		{"left", time.Hour, true, "canceled"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if tc.cancel {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		list, err := ListServer(ctx, Options{Args: []string{"sleep", "1000"}, Within: tc.within})
		cancel()
		if err == nil || !strings.Contains(err.Error(), tc.want) || list.Tools != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if _, err := ListServer(t.Context(), Options{Args: []string{"/nowhere/at/all"}, Within: time.Second}); err == nil {
		t.Error("what cannot be started answered")
	}
}
