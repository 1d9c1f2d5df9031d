package client

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const modelBase = "http://127.0.0.1:8809/clawai-llm-proxy/SECRETSECRETSECRET/"

func modelRow(t testing.TB, id string) ModelRow {
	t.Helper()
	rows, err := ModelRows()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Client == id {
			return row
		}
	}
	t.Fatalf("no row %s", id)
	return ModelRow{}
}

// leadAll leads all addresses of a file elsewhere.
func leadAll(r ModelRow, src []byte) ([]byte, int, error) {
	all, err := ReadAddresses(r, src)
	for i := 0; err == nil && i < len(all); i++ {
		src, err = PutAddress(r, src, all[i], modelBase+all[i].Route)
	}
	return src, len(all), err
}

func unleadAll(r ModelRow, src []byte) ([]byte, error) {
	all, err := ReadAddresses(r, src)
	for i := 0; err == nil && i < len(all); i++ {
		src, err = TakeAddress(r, src, all[i].KeyPath)
	}
	return src, err
}

// The address is put where the client reads it, and taken out byte for byte.
func TestModelAddress(t *testing.T) {
	const claude, codex, gemini, opencode = "claude-code", "codex", "gemini", "opencode"
	b64 := encodeToken
	for _, c := range []struct{ client, src, want string }{
		{claude, `{}`, `{ "env": {"ANTHROPIC_BASE_URL": "` + modelBase + `claude-code/new-1"}}`},
		{claude, "{\n}\n", "{ \"env\": {\"ANTHROPIC_BASE_URL\": \"" + modelBase + "claude-code/new-1\"}\n}\n"},
		{claude, "\xef\xbb\xbf{\r\n  \"a\": 1\r\n}", "\xef\xbb\xbf{\r\n  \"a\": 1,\r\n  \"env\": {\"ANTHROPIC_BASE_URL\": \"" + modelBase + "claude-code/new-1\"}\r\n}"},
		{claude, `{"env":{}}`, `{"env":{ "ANTHROPIC_BASE_URL": "` + modelBase + `claude-code/new-0"}}`},
		{claude, `{"env":{"A":"b"},"c":2}`, `{"env":{"A":"b","ANTHROPIC_BASE_URL": "` + modelBase + `claude-code/new-0"},"c":2}`},
		{claude, `{"env":{"ANTHROPIC_BASE_URL":"https:\/\/g.example"}}`, `{"env":{"ANTHROPIC_BASE_URL":"` + modelBase + `claude-code/was-` + b64(`"https:\/\/g.example"`) + `"}}`},
		{codex, "", "openai_base_url = \"" + modelBase + "codex/new-0\"\n"},
		{codex, "model = 'x'\r\n[tui]\r\n", "openai_base_url = \"" + modelBase + "codex/new-0\"\r\nmodel = 'x'\r\n[tui]\r\n"},
		{codex, "openai_base_url = 'https://p.example' # mine\n", "openai_base_url = \"" + modelBase + "codex/was-" + b64("'https://p.example'") + "\" # mine\n"},
		{codex, "model_provider = \"p\"\n[model_providers.p]\nbase_url = \"https://p.example\"\n", "model_provider = \"p\"\n[model_providers.p]\nbase_url = \"" + modelBase + "codex/was-" + b64(`"https://p.example"`) + "\"\n"},
		{gemini, "A=b", "A=b\nGOOGLE_GEMINI_BASE_URL=" + modelBase + "gemini/new-1\n"},
		{gemini, "A=b\n", "A=b\nGOOGLE_GEMINI_BASE_URL=" + modelBase + "gemini/new-0\n"},
		{gemini, "export GOOGLE_GEMINI_BASE_URL = 'https://g.example' # x\nA=b", "export GOOGLE_GEMINI_BASE_URL =" + modelBase + "gemini/was-" + b64(" 'https://g.example' # x") + "\nA=b"},
		{opencode, `{"provider":{"a":{"options":{"baseURL":"https://a.example"}},"b":{},"c":{"options":{"baseURL":"https://c.example"}}}}`,
			`{"provider":{"a":{"options":{"baseURL":"` + modelBase + `opencode.a/was-` + b64(`"https://a.example"`) + `"}},"b":{},"c":{"options":{"baseURL":"` + modelBase + `opencode.c/was-` + b64(`"https://c.example"`) + `"}}}}`},
	} {
		r := modelRow(t, c.client)
		got, _, err := leadAll(r, []byte(c.src))
		if err != nil || string(got) != c.want {
			t.Errorf("%s %q\n got %q, %v\nwant %q", c.client, c.src, got, err, c.want)
			continue
		}
		if again, _, err := leadAll(r, got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("twice: %q, %v", again, err)
		}
		if back, err := unleadAll(r, got); err != nil || string(back) != c.src {
			t.Errorf("%s: back to %q, %v, not %q", c.client, back, err, c.src)
		}
	}
}

// A file that wrap made goes again, and one that was changed since keeps what was added.
func TestModelFileMade(t *testing.T) {
	for _, id := range []string{"claude-code", "codex", "gemini"} {
		r := modelRow(t, id)
		made, _, err := leadAll(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := unleadAll(r, made); back != nil || err != nil {
			t.Errorf("%s: %q, %v", id, back, err)
		}
		more := map[string]string{"claude-code": "", "codex": "[tui]\n", "gemini": "A=b\n"}[id]
		if more == "" {
			continue
		}
		if back, err := unleadAll(r, append(bytes.Clone(made), more...)); string(back) != more || err != nil {
			t.Errorf("%s with more: %q, %v", id, back, err)
		}
	}
}

// What was added beside our address stays when it is taken out.
func TestModelAddressBeside(t *testing.T) {
	r := modelRow(t, "claude-code")
	put, _, err := leadAll(r, []byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	added := strings.Replace(string(put), `/new-1"`, `/new-1","B":"c"`, 1)
	if back, err := unleadAll(r, []byte(added)); err != nil || string(back) != `{"a":1,"env": {"B":"c"}}` {
		t.Errorf("%s, %v", back, err)
	}
}

// What cannot be read in one way, or has no address that could lead elsewhere, is refused.
func TestModelAddressRefused(t *testing.T) {
	for _, c := range []struct{ client, src, want string }{
		{"claude-code", ``, "the file is empty"},
		{"claude-code", `{`, "ends inside an object"},
		{"claude-code", `[]`, "a list where an object should be"},
		{"claude-code", `{"env":1}`, "a number or boolean where an object should be"},
		{"claude-code", `{"env":{},"env":{}}`, `the key "env" is there twice`},
		{"claude-code", `{"\u0065nv":{}}`, `the key "env" is written with escapes`},
		{"claude-code", `{"env":{"ANTHROPIC_BASE_URL":null}}`, "there is null where an address should be"},
		{"codex", "a = \n", "line 1"},
		{"codex", "model_provider = \"bedrock\"\n", `the provider "bedrock" has no address`},
		{"codex", "model_provider = 1\n", "model_provider is not one text"},
		{"gemini", "GOOGLE_GEMINI_BASE_URL=a\nGOOGLE_GEMINI_BASE_URL=b\n", "is there twice"},
		{"gemini", "A='b\nGOOGLE_GEMINI_BASE_URL=c'\n", "the value of A does not end on its line"},
		{"opencode", `{"provider":{"a/b":{"options":{"baseURL":"https://a.example"}}}}`, `the name "a/b" cannot be part of an address`},
	} {
		if _, _, err := leadAll(modelRow(t, c.client), []byte(c.src)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, not %s", c.client, c.src, err, c.want)
		}
	}
	for text, ours := range map[string]bool{
		modelBase + "codex/new-0": true, "http://[::1]:8809/clawai-llm-proxy/s/codex/file": true, "http://localhost:1/clawai-llm-proxy/s/codex/was-YQ": true,
		"http://10.0.0.1:8809/clawai-llm-proxy/s/codex/file": false, "https://127.0.0.1:8809/clawai-llm-proxy/s/codex/file": false, modelBase + "codex": false,
		modelBase + "codex/new-": false, modelBase + "codex/new-01": false, modelBase + "codex/was-": false, modelBase + "codex/was-*": false, modelBase + "codex/x/y": false,
	} {
		if got := readLedAddress(text); (got != nil) != ours {
			t.Errorf("%s is ours: %v", text, got != nil)
		}
	}
	for _, bad := range []string{"ftp://x", "https://", "http://g.example", "https://a:b@g.example", "https://g.example?k=1", "https://g.example#f", ":"} {
		if _, err := ParseService(bad); err == nil {
			t.Errorf("%s is taken for a service", bad)
		}
	}
}

// The error about an address shows no password, however the address is wrong.
func TestParseServiceHidesPassword(t *testing.T) {
	for _, bad := range []string{"https://a:sekret@g.example", "https://a:sekret@g.example:x", "https://a:se/sekret@g.example", "http://a:sekret@g.example", "https://g.example?key=sekret", "https://g.example#sekret", "a:sekret@g.example", "https://a:sekret%zz@g.example"} {
		_, err := ParseService(bad)
		if err == nil || strings.Contains(err.Error(), "sekret") || !strings.Contains(err.Error(), "g.example") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Our own address is no service, whole or cut, and neither is any path of our listener.
func TestLeadsToUs(t *testing.T) {
	for text, want := range map[string]bool{
		modelBase + "codex": true, modelBase + "codex/was-YQ/": true, "http://127.0.0.1:8809": true, "http://localhost:8809/v1": true, "http://[::1]:8809": true,
		"http://127.0.0.1:9/clawai-llm-proxy/s/codex": true, "http://127.0.0.1:8810/v1": false, "https://g.example:8809": false, "https://g.example": false,
	} {
		to, err := ParseService(text)
		if err != nil || LeadsToUs(to, "127.0.0.1:8809") != want {
			t.Errorf("%s leads to us: %v, %v", text, !want, err)
		}
	}
}

// A variable or a profile of the file that leads the client to another service is found.
func TestFindElsewhere(t *testing.T) {
	const provider = "[model_providers.p]\nbase_url = 'https://p.example'\n[profiles.x]\nmodel_provider = 'p'\n"
	for _, c := range []struct{ client, src, want string }{
		{"claude-code", `{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}`, "CLAUDE_CODE_USE_BEDROCK is set there"},
		{"claude-code", `{"env":{"CLAUDE_CODE_USE_VERTEX":1}}`, "CLAUDE_CODE_USE_VERTEX is set there"},
		{"claude-code", `{"env":{"CLAUDE_CODE_USE_FOUNDRY":true}}`, "CLAUDE_CODE_USE_FOUNDRY is set there"},
		{"claude-code", `{"env":{"CLAUDE_CODE_USE_BEDROCK":"0","CLAUDE_CODE_USE_VERTEX":""},"CLAUDE_CODE_USE_FOUNDRY":"1"}`, ""},
		{"claude-code", `{"env":[]}`, ""},
		{"gemini", "GOOGLE_GENAI_USE_VERTEXAI=true\n", "GOOGLE_GENAI_USE_VERTEXAI is set there"},
		{"codex", provider, `the profile "x" uses the provider "p"`},
		{"codex", "model_provider = 'p'\n" + provider, ""},
		{"codex", "model_provider = 'p'\n" + provider + "[profiles.y]\nmodel_provider = 'openai'\n", `the profile "y" uses the provider "openai"`},
		{"codex", "[profiles.x]\nmodel_provider = 'ollama'\n", ""},
		{"codex", "[profiles.x]\nmodel = 'm'\n", ""},
		{"codex", "profiles = 1\n", ""},
	} {
		if got := FindElsewhere(modelRow(t, c.client), []byte(c.src)); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %q: %q, not %q", c.client, c.src, got, c.want)
		}
	}
}

// Of the file of a client nothing is shown but addresses, and of ours not the secret.
func TestModelMask(t *testing.T) {
	for _, c := range []struct{ client, src string }{
		{"claude-code", `{"apiKeyHelper":"sekret","env":{"K":"sekret","ANTHROPIC_BASE_URL":"https://g.example"}}`},
		{"codex", "k = \"sekret\"\nopenai_base_url = \"https://g.example\"\n[a]\nb = ['sekret']\n"},
		{"gemini", "GEMINI_API_KEY=sekret\nGOOGLE_GEMINI_BASE_URL=https://g.example\n"},
	} {
		r := modelRow(t, c.client)
		put, _, err := leadAll(r, []byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		if shown := string(MaskModelFile(r, []byte(c.src))); strings.Contains(shown, "sekret") || !strings.Contains(shown, "https://g.example") {
			t.Error(shown)
		}
		if shown := string(MaskModelFile(r, put)); strings.Contains(shown, "sekret") || strings.Contains(shown, "SECRET") || !strings.Contains(shown, "clawai-llm-proxy/•••") {
			t.Error(shown)
		}
	}
}

// Whatever a file holds: it is refused, or what wrap writes is read back as ours, once, and unwrap gives the
// bytes back.
func FuzzModelAddress(f *testing.F) {
	rows, err := ModelRows()
	if err != nil {
		f.Fatal(err)
	}
	for i, src := range []string{`{"env":{"A":"b"}}`, "model = 1\n[a]\n", "A=b", "A='b'", `{"provider":{"a":{"options":{"baseURL":"https://a"}}},}`, "", "\xef\xbb\xbf{}", "a=1\r\n"} {
		f.Add(uint8(i), []byte(src))
	}
	f.Fuzz(func(t *testing.T, at uint8, src []byte) {
		r := rows[int(at)%len(rows)]
		if !r.Editable() || src == nil {
			return
		}
		checkLedAndBack(t, r, src)
	})
}

func checkLedAndBack(t interface{ Fatalf(string, ...any) }, r ModelRow, src []byte) {
	_ = MaskModelFile(r, src) // whatever it is, it can be shown
	before, err := ReadAddresses(r, src)
	if err != nil {
		return
	}
	for _, a := range before {
		if a.Ours != nil { // a made-up address of ours may say anything of what was there
			return
		}
	}
	put, n, err := leadAll(r, src)
	if err != nil {
		return
	}
	after, err := ReadAddresses(r, put)
	if err != nil || len(after) != n {
		t.Fatalf("%s %q: %d addresses, then %d: %v", r.Client, src, n, len(after), err)
	}
	for _, a := range after {
		if a.Ours == nil || a.Ours.Base != modelBase+a.Route {
			t.Fatalf("%s %q: %q is not ours", r.Client, src, a.Text)
		}
	}
	if back, err := unleadAll(r, put); err != nil || !bytes.Equal(back, src) {
		t.Fatalf("%s %q: back to %q, %v", r.Client, src, back, err)
	}
}

func TestModelFiles(t *testing.T) {
	words := []string{"{", "}", "\"env\"", ":", ",", "\n", "\r\n", " ", "\"ANTHROPIC_BASE_URL\"", "\"https://x.example\"", "// c", "/* c */", "A=b", "GOOGLE_GEMINI_BASE_URL=", "openai_base_url = ", "[t]", "# c", "'", "export "}
	rapid.Check(t, func(rt *rapid.T) {
		r := modelRow(t, rapid.SampledFrom([]string{"claude-code", "codex", "gemini", "qwen", "opencode"}).Draw(rt, "row"))
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(rt, "words"), "")
		checkLedAndBack(rt, r, []byte(src))
	})
}
