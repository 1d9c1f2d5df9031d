package flow

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// What a server says of its own result adds labels, and never takes one away.
func TestLabelsOfServers(t *testing.T) {
	p := parsed(t, `
[server.clean]
public_source = false
secret_data = false
[server.dirty]
public_source = true
secret_data = true
[flow]
level = "ask"
`)
	session := begin(t, t.TempDir(), "k")
	for _, c := range []struct{ server, result, want string }{
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"untrusted","confidentiality":["public"]}}}`, "untrusted"},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"trusted","confidentiality":["ana","bob"]}}}`, "private"},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"untrusted","confidentiality":[]}}}`, "untrusted private"},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"untrusted","confidentiality":"private"}}}`, "untrusted private"},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"Trusted","confidentiality":"Public"}}}`, ""},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"untrusted"}}}`, "untrusted"},
		{"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":["public","ana"]}}}`, "private"},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":7,"confidentiality":null}}}`, "untrusted private"},
		{"clean", `{"content":[],"_meta":{"labels":{"title":{"integrity":"high"},"body":{"integrity":"low","confidentiality":["public"]}}}}`, "untrusted"},
		{"clean", `{"content":[],"_meta":{"security_label":{"integrity":"trusted","confidentiality":"user_identity"}}}`, "private"},
		{"clean", `{"content":[],"_meta":{"security_label":{"confidentiality":"secret"}}}`, "secret"},
		{"clean", `{"content":[],"_meta":{"example.org/ifc":[{"integrity":"untrusted"}]}}`, "untrusted"},
		{"clean", `{"content":[{"type":"text","text":"x","_meta":{"ifc":{"integrity":"untrusted"}}}]}`, "untrusted"},
		{"clean", `{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x","_meta":{"ifc":{"confidentiality":["ana"]}}}}]}`, "private"},
		{"clean", `{"content":[],"_meta":{"integrity":"sha256-abc"}}`, ""},
		{"clean", `{"content":[{"type":"text","text":"{\"_meta\":{\"ifc\":{\"integrity\":\"untrusted\"}}}"}]}`, ""}, // a stranger's text, not the server's word
		{"clean", `{"content":[],"structuredContent":{"ifc":{"integrity":"untrusted"}}}`, ""},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"UNTRUSTED"}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"integrity":" trusted "}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"integrity":["trusted"]}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"integrity":{"level":"trusted"}}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"integrity":true}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"integrity":"trusted\u200b"}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"integrity":""}}}`, "untrusted"},
		{"clean", `{"content":[],"\u005fmeta":{"ifc":{"integrity":"untrusted"}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"i\u0066c":{"\u0069ntegr\u0069ty":"untrusted"}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"confidential\u0069ty":"secret"}}}`, "secret"},
		{"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":{"readers":["public"]}}}}`, "private"}, {"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":["PUBLIC"]}}}`, ""}, {"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":["public","public"]}}}`, ""}, {"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":"Secret"}}}`, "secret"}, {"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":["secret"]}}}`, "secret"}, {"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":[["public"]]}}}`, "private"}, {"clean", `{"content":[],"_meta":{"ifc":{"confidentiality":0}}}`, "private"},
		{"clean", `{"content":[],"_meta":{"a":{"b":{"ifc":{"integrity":"low"}}}}}`, "untrusted"}, {"clean", `{"messages":[{"role":"user","content":{"type":"text","text":"x","_meta":{"ifc":{"integrity":"untrusted"}}}}]}`, "untrusted"}, {"clean", `{"contents":[{"uri":"a:b","text":"x","_meta":{"ifc":{"integrity":"untrusted"}}}]}`, "untrusted"}, {"clean", `{"content":[],"structuredContent":{"x":{"_meta":{"ifc":{"integrity":"untrusted"}}}}}`, "untrusted"}, {"clean", `{"task":{"taskId":"a","_meta":{"ifc":{"confidentiality":"secret"}}}}`, "secret"},
		{"clean", `{"content":[],"_meta":{"example.org/security_label":{"integrity":"untrusted"}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"com.example/labels":[{"integrity":"high"},{"integrity":"medium"}]}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"integrity":"trusted","sub":{"integrity":"untrusted"}}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"ifc":{"INTEGRITY":"untrusted"}}}`, "untrusted"}, {"clean", `{"content":[],"_meta":{"IFC":{"integrity":"untrusted"}}}`, "untrusted"},
		{"clean", `{"content":[],"_meta":{"ifc":{"integrity":"trusted","confidentiality":"public"}}}`, ""}, {"clean", `{"content":[],"_meta":{"checksum":{"integrity":"sha256-x"}}}`, ""}, {"clean", `{"content":[{"type":"text","text":"_meta ifc integrity untrusted"}]}`, ""},
		{"dirty", `{"content":[],"_meta":{"ifc":{"integrity":"trusted","confidentiality":["public"]}}}`, "untrusted secret"},
		{"dirty", `{"content":[],"_meta":{"ifc":{"integrity":"untrusted","confidentiality":["ana"]}}}`, "untrusted secret"},
	} {
		s := session.NewServer(c.server, "", noRow, p)
		x := &gate.Exchange{Raw: []byte(`{"jsonrpc":"2.0","id":1,"result":` + c.result + `}`), Event: event.Event{Direction: "server", Method: "tools/call"}, Answered: []policy.Call{tool("read", "{}")}}
		var all []string
		for _, l := range s.Brought(x) {
			if all = append(all, l.Kind); l.Source != c.server+" read" {
				t.Errorf("%s: from %q", c.result, l.Source)
			}
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.server, c.result, got, c.want)
		}
	}
	clean := session.NewServer("clean", "", noRow, p)
	for method, want := range map[string]int{"tools/list": 1, "notifications/message": 1} {
		x := &gate.Exchange{Raw: []byte(`{"jsonrpc":"2.0","method":"x","params":{"_meta":{"ifc":{"integrity":"untrusted"}}}}`), Event: event.Event{Direction: "server", Method: method}}
		if got := clean.Brought(x); len(got) != want {
			t.Errorf("%s: %v", method, got)
		}
	}
}
