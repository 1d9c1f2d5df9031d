package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

// docs/record.md says how to check a line and a frame without this program.
func TestTheChainCanBeCheckedByHand(t *testing.T) {
	l := openLog(t, t.TempDir()+"/audit", Options{})
	frame := []byte(`{"jsonrpc":"2.0","method":"ping","id":1}`)
	if err := l.Record(&event.Event{Kind: event.Passed, Method: "ping", Digest: sha256.Sum256(frame)}); err != nil {
		t.Fatal(err)
	}
	b := recorded(t, l.seg.path)
	end := regexp.MustCompile(`,"hash":"([0-9a-f]*)"}$`)
	prev := strings.Repeat("0", 64)
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		sum := sha256.Sum256([]byte(end.ReplaceAllString(line, "")))
		hash := hex.EncodeToString(sum[:])
		if end.FindStringSubmatch(line)[1] != hash || !strings.Contains(line, `"prev":"`+prev+`"`) {
			t.Fatalf("%s after %s: %s", hash, prev, line)
		}
		prev = hash
	}
	key, err := os.ReadFile(l.o.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	mac, sum := hmac.New(sha256.New, key), sha256.Sum256(frame)
	mac.Write(sum[:])
	if want := `"digest":"hmac:` + hex.EncodeToString(mac.Sum(nil)[:16]) + `"`; !strings.Contains(string(b), want) {
		t.Fatalf("no %s in %s", want, b)
	}
}
