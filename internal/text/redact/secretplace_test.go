package redact

import (
	"strings"
	"testing"
	"time"
)

// What is written to a place of secrets is kept out of the record, and where it was
// written to is not.
func TestWhatIsWrittenToSecretPlaces(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{"path":"~/.ssh/id_ed25519","content":"abc\n"}`, `{"path":"~/.ssh/id_ed25519","content":"[redacted:member:5]"}`},
		{`{"content":"abc","path":"/p/.env","mode":"0600"}`, `{"content":"[redacted:member:3]","path":"/p/.env","mode":"0600"}`},
		{`{"path":"~/.ssh/id_ed25519.pub","content":"abc"}`, ``},
		{`{"path":"/p/main.go","content":"see ~/.ssh/id_ed25519"}`, ``},
		{`{"path":"~/.ssh/id_ed25519","head":20}`, ``},
		{`{"source":"~/.ssh/id_rsa","destination":"/p/x"}`, ``},
		{`{"path":"/p/.env","edits":[{"oldText":"A=1","new_text":"A=2","at":3}],"dryRun":true}`,
			`{"path":"/p/.env","edits":[{"oldText":"[redacted:member:3]","new_text":"[redacted:member:3]","at":3}],"dryRun":true}`},
		{`{"edits":[{"old_str":"A=1","new_str":"A=2"}],"file_path":"/p/.env"}`, `{"edits":[{"old_str":"[redacted:member:3]","new_str":"[redacted:member:3]"}],"file_path":"/p/.env"}`},
		{`{"files":[{"path":"/p/a.go","content":"ab"},{"content":["ab",7],"path":"/p/.npmrc"}]}`,
			`{"files":[{"path":"/p/a.go","content":"ab"},{"content":["[redacted:member:2]","[redacted:number:1]"],"path":"/p/.npmrc"}]}`},
		{`{"path":"C:\\Users\\a\\.aws\\credentials","content":"ab"}`, `{"path":"C:\\Users\\a\\.aws\\credentials","content":"[redacted:member:2]"}`},
		{`{"uri":"file:///etc/%73hadow","text":"ab"}`, `{"uri":"file:///etc/%73hadow","text":"[redacted:member:2]"}`},
		{`{"paths":["/p/x","/p/.env"],"content":"ab"}`, `{"paths":["/p/x","/p/.env"],"content":"[redacted:member:2]"}`},
		{`{"path":"/p/\ud800/.env","content":"ab"}`, `{"path":"/p/\ud800/.env","content":"[redacted:member:2]"}`},
	} {
		if tt.want == "" {
			tt.want = tt.args
		}
		got, _ := New(Redacted, testKey).AppendJSON(nil, []byte(tt.args))
		if strings.Contains(tt.args, "ud800") { // no text, and kept in some way
			if !strings.Contains(string(got), "[redacted:member:2]") {
				t.Errorf("%s\n got %s", tt.args, got)
			}
			continue
		}
		if string(got) != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.args, got, tt.want)
		}
		if full, _ := New(Full, testKey).AppendJSON(nil, []byte(tt.args)); string(full) != tt.args {
			t.Errorf("in full, %s becomes %s", tt.args, full)
		}
	}
}

// However many objects stand within one another, arguments are looked through a few times
// at most, and nothing that may be a secret is kept.
func TestSecretPlacesInDeepObjects(t *testing.T) {
	const depth = 200
	args := strings.Repeat(`{"content":"s3cr3t","a":`, depth) + `{"content":"` + strings.Repeat("x", 2000) + `"}` + strings.Repeat(`,"path":"/p/.env"}`, depth)
	began := time.Now()
	got, _ := New(Redacted, testKey).AppendJSON(nil, []byte(args))
	if strings.Contains(string(got), "s3cr3t") || strings.Count(string(got), "[redacted:member:6]") != depth {
		t.Errorf("it keeps %s", got)
	}
	t.Log(time.Since(began))
}

// What tools write with is known by the end of its name.
func TestNamesOfContent(t *testing.T) {
	for name, want := range map[string]secrecy{
		"content": written, "newText": written, "new_text": written, "file-text": written, "OLD_STR": written, "newString": written, "contents": written,
		"": harmless, "path": harmless, "contentType": harmless, "text_file": harmless, "mode": harmless, "encoding": harmless,
		"secret_text": secret, "text_token": secret,
	} {
		if got := memberSecrecy([]byte(name)); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}
