package hook_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/hook"
)

// A client that names a later version than its row was written for is named on record: where its
// session begins, and where a request is not read.
func TestNewerClient(t *testing.T) {
	p := rules(t)
	for version, newer := range map[string]bool{"3.16": false, "3.16.9": false, "3.17": true, "10.0": true, "3.9": false, "3": false, "": false, "nightly": false, "3.17-nightly.x": true, "99999999999999999999": false} {
		for kind, payload := range map[string]string{
			"start":   `{"hook_event_name":"sessionStart","conversation_id":"c","session_id":"c","cursor_version":"` + version + `","workspace_roots":["/home/u/p"]}`,
			"dropped": `{"hook_event_name":"beforeSomethingNew","conversation_id":"c","cursor_version":"` + version + `","workspace_roots":["/home/u/p"]}`,
		} {
			r := &record{}
			a := hook.Run(t.Context(), []byte(payload), options(p, "cursor", r))
			if len(r.events) != 1 || string(r.events[0].Kind) != kind {
				t.Errorf("%s %q: %+v, %s", kind, version, r.events, a.Stdout)
				continue
			}
			const says = "cursor was seen at 3.16, this is "
			if got := strings.Contains(r.events[0].Detail+r.events[0].Reason, says+version); got != newer {
				t.Errorf("%s %q: %s %s", kind, version, r.events[0].Detail, r.events[0].Reason)
			}
			if kind == "dropped" && strings.Contains(string(a.Stdout), says) != newer {
				t.Errorf("%q: %s", version, a.Stdout)
			}
		}
	}
}
