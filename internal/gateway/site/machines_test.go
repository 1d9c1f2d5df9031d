package site

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// newMachineKey makes a key with roles.
func (w *world) newMachineKey(roles ...string) (id, token string) {
	w.t.Helper()
	k, token, err := w.centre.NewKey(w.t.Context(), "ci", roles, 1)
	w.must(err)
	return k.ID, token
}

// asMachine sends a request with a key.
func (w *world) asMachine(token, method, path, body string) (int, string) {
	w.t.Helper()
	r := w.request(method, path, body)
	r.Header.Set("Authorization", "Bearer "+token)
	status, text, _ := w.do(w.laptop, r)
	return status, text
}

const (
	bundleOfMachines  = machinePrefix + "bundle"
	recordsOfMachines = machinePrefix + "records"
)

// Each role opens what is its own, and a key opens nothing that is for laptops or people.
func TestKeysOpenWhatTheirRolesSay(t *testing.T) {
	w := newWorld(t)
	_, publisher := w.newMachineKey(principal.Publish)
	_, reader := w.newMachineKey(principal.Auditor)
	_, payload := w.newMachineKey(principal.Payload)
	laptop := w.enrol("laptop").Token
	wrong := publisher[:len(publisher)-1] + "A"
	if wrong == publisher {
		wrong = publisher[:len(publisher)-1] + "B"
	}
	for _, c := range []struct {
		token, method, path string
		status              int
	}{
		{publisher, "PUT", bundleOfMachines, 422}, {reader, "PUT", bundleOfMachines, 403}, {payload, "PUT", bundleOfMachines, 403},
		{publisher, "GET", recordsOfMachines, 403}, {reader, "GET", recordsOfMachines, 200}, {payload, "GET", recordsOfMachines + "?decision=refused", 200},
		{reader, "GET", recordsOfMachines + "?nothing=1", 400}, {reader, "GET", recordsOfMachines + "?tool=%00", 400},
		{reader, "POST", recordsOfMachines, 405}, {reader, "GET", machinePrefix, 404}, {reader, "GET", machinePrefix + "records/1", 404},
		{wrong, "PUT", bundleOfMachines, 401}, {"", "GET", recordsOfMachines, 401}, {laptop, "GET", recordsOfMachines, 401}, {laptop, "PUT", bundleOfMachines, 401},
		{strings.Replace(publisher, "clw_", "clv_", 1), "PUT", bundleOfMachines, 401},
		{publisher, "GET", enrolment.BundlePath, 401}, {payload, "POST", enrolment.StatePath, 401}, {reader, "GET", "/records", 401},
	} {
		if status, body := w.asMachine(c.token, c.method, c.path, "x"); status != c.status {
			t.Errorf("%s %s with %.8s...: %d %s, want %d", c.method, c.path, c.token, status, body, c.status)
		}
	}
	if _, body := w.asMachine("", "GET", recordsOfMachines, ""); !strings.Contains(body, "in the header") {
		t.Errorf("without a key: %s", body)
	}
	r := w.request("GET", recordsOfMachines, "")
	r.Header.Set("Authorization", "Bearer "+reader)
	r.Header.Set("Origin", w.site.Address())
	if status, _, _ := w.do(w.laptop, r); status != http.StatusForbidden {
		t.Errorf("a browser's request: %d", status)
	}
}

// signBundle returns a bundle that a key has signed.
func (w *world) signBundle(counter uint64, key string) string {
	w.t.Helper()
	src, err := bundle.Write(bundle.Bundle{Counter: counter, Created: time.Now(), Files: []bundle.File{{Name: bundle.PolicyName, Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"*\"\n")}}})
	w.must(err)
	src, err = bundle.Sign(src, key)
	w.must(err)
	return string(src)
}

// A machine publishes what others have signed, and nothing else.
func TestMachinePublishesABundle(t *testing.T) {
	w := newWorld(t)
	_, token := w.newMachineKey(principal.Publish)
	other, _, err := bundle.NewKey("other.example")
	w.must(err)
	for _, c := range []struct {
		body   string
		status int
		part   string
	}{
		{w.signBundle(2, other), 422, "by none of the keys"}, {w.signBundle(2, w.secret), 200, `"counter":2`}, {w.signBundle(1, w.secret), 422, "--counter 3"}, {strings.Repeat("x", bundle.MaxSize+1), 413, "bytes"},
	} {
		if status, body := w.asMachine(token, "PUT", bundleOfMachines, c.body); status != c.status || !strings.Contains(body, c.part) {
			t.Errorf("%d %s, want %d %q", status, body, c.status, c.part)
		}
	}
	if n, err := w.centre.NewestCounter(t.Context()); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// Without the role of the payload, a machine is told nothing that may hold an argument.
func TestMachinesReadRecordsByRole(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("laptop")
	const secret = "the-argument"
	tool := recordedCall("deny", "write_file", `{"path":"/srv/`+secret+`"}`)
	tool.RuleText, tool.Reason = "Write files below /srv/"+secret, "the path /srv/"+secret+" is outside"
	resource := recordedCall("deny", "file:///srv/"+secret, `{}`)
	resource.Subject, resource.Method = "resource", "resources/read"
	for name, segment := range recordSegments(t, audit.Options{}, tool, resource) {
		if status, _ := w.ship(grant.Token, name, 0, segment, true); status != 200 {
			t.Fatal(status)
		}
	}
	_, reader := w.newMachineKey(principal.Auditor)
	_, payload := w.newMachineKey(principal.Payload)
	for key, sees := range map[string]bool{reader: false, payload: true} {
		status, body := w.asMachine(key, "GET", recordsOfMachines+"?kind=all", "")
		var all struct{ Records []machineRecord }
		if err := json.Unmarshal([]byte(body), &all); err != nil || status != 200 || len(all.Records) == 0 {
			t.Fatalf("%d %s, %v", status, body, err)
		}
		if strings.Contains(body, secret) != sees {
			t.Errorf("arguments are seen: %v\n%s", !sees, body)
		}
		// Who finds a name knows it.
		_, found := w.asMachine(key, "GET", recordsOfMachines+"?tool=file:///srv/"+secret, "")
		if strings.Contains(found, `"record":`) != sees {
			t.Errorf("a name is found: %v\n%s", !sees, found)
		}
	}
}

// A key ends when it was revoked, when it expires, and some time after another one took its place; whoever
// writes the database gives it no more roles and no longer life.
func TestKeysEnd(t *testing.T) {
	w := newWorld(t)
	reads := func(token string, want int) {
		t.Helper()
		if status, body := w.asMachine(token, "GET", recordsOfMachines, ""); status != want {
			t.Errorf("%d %s, want %d", status, body, want)
		}
	}
	id, token := w.newMachineKey(principal.Auditor)
	reads(token, 200)
	_, next, err := w.centre.RotateKey(t.Context(), id, 1, 1)
	w.must(err)
	reads(token, 200) // for an hour
	reads(next, 200)
	id2, token2 := w.newMachineKey(principal.Auditor)
	_, next2, err := w.centre.RotateKey(t.Context(), id2, 1, 0)
	w.must(err)
	reads(token2, 401)
	reads(next2, 200)
	w.must(w.centre.Store.RevokeKey(t.Context(), id, time.Now()))
	reads(token, 401)
	if _, _, err := w.centre.RotateKey(t.Context(), id, 1, 1); err == nil {
		t.Error("a key that was revoked was replaced")
	}
	all, err := w.centre.Store.ListKeys(t.Context())
	w.must(err)
	for _, k := range all {
		if k.ID == id && k.Used.IsZero() {
			t.Error("it is not kept that a key was used")
		}
	}
}

func TestKeysThatCannotBeMade(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name  string
		roles []string
		days  int
	}{{"", []string{"publish"}, 1}, {"a b", []string{"publish"}, 1}, {"ci", nil, 1}, {"ci", []string{"admin"}, 1}, {"ci", []string{"publish"}, 0}, {"ci", []string{"publish"}, centre.MaxKeyDays + 1}} {
		if k, _, err := w.centre.NewKey(t.Context(), c.name, c.roles, c.days); err == nil {
			t.Errorf("%+v", k)
		}
	}
	if all, err := w.centre.Store.ListKeys(t.Context()); len(all) > 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// Whoever tries keys waits, and keys that are valid go on elsewhere.
func TestKeysAreNotTriedForLong(t *testing.T) {
	w := newWorld(t)
	last := 0
	for range 30 {
		last, _ = w.asMachine("clw_nobody_secret", "GET", recordsOfMachines, "")
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("%d", last)
	}
	if _, token := w.newMachineKey(principal.Auditor); token != "" {
		if status, _ := w.asMachine(token, "GET", recordsOfMachines, ""); status != 200 {
			t.Errorf("a valid key: %d", status)
		}
	}
}
