package reply

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

// A list whose entries have other names for a client that ignores case is not judged: it is
// withheld.
func TestSecondNames(t *testing.T) {
	for result, want := range map[string]bool{
		`{"tools":[{"name":"read","Name":"wipe"}]}`:                                       true,
		`{"tools":[{"Name":"wipe","name":"read"}]}`:                                       true,
		`{"tools":[{"NAME":"wipe"}]}`:                                                     true,
		`{"tools":[{"name":"a"},{"name":"b","n\u0041me":1}]}`:                             true,
		`{"tools":[],"Tools":[{"name":"wipe"}]}`:                                          true,
		`{"toolſ":[{"name":"wipe"}]}`:                                                     true,
		`{"tools":[{"name":"read","Name":"read"}]}`:                                       false,
		`{"tools":[{"name":"read","inputSchema":{"properties":{"Name":{}}}}],"Name":"x"}`: false,
		`{"tools":[]}`: false,
	} {
		var f frame.Frame
		if err := f.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`), frame.Limits{MaxBytes: 1 << 20, MaxDepth: 64}); err != nil {
			t.Fatal(result, err)
		}
		_, err := InspectMessage(&f, "tools/list", Wanted{})
		if got := errors.Is(err, errSecondName); got != want {
			t.Errorf("%s: %v", result, err)
		}
	}
	var f frame.Frame
	if err := f.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x","Name":"y","name":"z"}]}}`), frame.Limits{MaxBytes: 1 << 20, MaxDepth: 64}); err != nil {
		t.Fatal(err)
	}
	if _, err := InspectMessage(&f, "tools/call", Wanted{}); err != nil {
		t.Error("a result is not a list:", err)
	}
}

// Credentials of a header are taken out wherever they stand, also without the header's words.
func TestCredentialsOfAHeaderAreTakenOutEverywhere(t *testing.T) {
	pair := base64.StdEncoding.EncodeToString([]byte("me:Kq7wPz2m9Xv4tRn8b3"))
	for _, text := range []string{"Authorization: Basic " + pair, "Authorization: Bearer " + pair, "Authorization: " + pair, "curl -H 'Authorization: Basic " + pair + "'"} {
		m := looked(t, result(`{"content":[{"type":"text","text":"`+text+`\nagain `+pair+`"},{"type":"text","text":"`+pair+`"}],"structuredContent":{"v":"`+pair+`"}}`), "tools/call", "secret")
		all := make([]int, len(m.Findings))
		for i := range all {
			all[i] = i
		}
		raw, err := m.AlterMessage(&Change{Redact: all, Takes: true}, numbers(), frame.DefaultLimits())
		if err != nil || len(all) == 0 || strings.Contains(string(raw), pair) {
			t.Errorf("%s: %v: %s", text, err, raw)
		}
	}
}
