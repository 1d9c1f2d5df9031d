//go:build attack

package modelstream_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
	"github.com/clawai/clawai/test/attack"
)

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// leak sends requests that hold a secret somewhere, and reads what the service gets.
type leak struct {
	*rand.Rand
	t    testing.TB
	urls map[string]string // by the action and API

	mu    sync.Mutex
	leaks []string // bodies that held the secret
	got   int
}

func newLeak(t testing.TB, seed uint64, judge bool) *leak {
	l := &leak{Rand: rand.New(rand.NewPCG(seed, 31)), t: t, urls: map[string]string{}}
	far := httptest.NewServer(http.HandlerFunc(l.takeRequest))
	t.Cleanup(far.Close)
	to, err := url.Parse(far.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"deny", "redact", "prompt"} {
		rules := "[[rule]]\naction='" + action + "'\non='upload'\ntool='**'\nfind=['secret']\n"
		rules += "[[rule]]\naction='deny'\non='upload'\nfind=['secret']\n[[rule]]\naction='allow'\ntool='*'\n"
		p, err := policy.Parse("attack.toml", []byte(rules), policy.Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		for api, way := range ways {
			g, err := gate.New(gate.Options{Policy: p, Recorder: &record{}, Approver: nobody{}, Concluder: gate.None{}, Releases: gate.None{}, Inspector: screening.New(way.client, nil, nil), Labels: gate.None{}, ObserveOnly: !judge})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(g.Close)
			near := httptest.NewServer(model.NewServer(model.Options{Client: client.FindRow(way.client), Cwd: "/work", Upstream: to, Secret: "secret", Gate: g, Judge: judge, All: true, Transport: &http.Transport{DisableCompression: true}}))
			t.Cleanup(near.Close)
			l.urls[action+" "+api] = near.URL + "/secret" + way.path
		}
	}
	return l
}

// codings encode bodies; a service decodes them.
var codings = map[string]struct {
	write func(io.Writer) io.WriteCloser
	read  func(io.Reader) (io.Reader, error)
}{
	"gzip":    {func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	"deflate": {func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
	"br":      {func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }},
	"zstd": {func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }, func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r)
	}},
}

// takeRequest is a service that reads whatever it can: encodings, escapes, base64, and texts that follow each other.
func (l *leak) takeRequest(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if c, is := codings[r.Header.Get("Content-Encoding")]; is {
		if decoded, err := c.read(body); err == nil {
			body = decoded
		}
	}
	text, _ := io.ReadAll(body)
	var v any
	var all strings.Builder
	if json.Unmarshal(text, &v) == nil {
		readTexts(v, &all)
	}
	l.mu.Lock()
	l.got++
	if strings.Contains(string(text)+all.String(), secret) {
		l.leaks = append(l.leaks, string(text))
	}
	l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}")
}

// readTexts writes all texts of a value behind each other, and what they hold in base64.
func readTexts(v any, to *strings.Builder) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			if name != "type" && name != "role" {
				readTexts(one, to)
			}
		}
	case []any:
		for _, one := range v {
			readTexts(one, to)
		}
	case string:
		to.WriteString(v)
		data := v[strings.LastIndexByte(v, ',')+1:]
		if plain, err := base64.StdEncoding.DecodeString(data); err == nil {
			to.Write(plain)
		}
	}
}

func (l *leak) oneOf(all ...string) string { return all[l.IntN(len(all))] }

func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// hide returns a JSON text that holds the secret.
func (l *leak) hide() string {
	text := quote(l.oneOf("", "key=", "a ", strings.Repeat("word ", 300)) + secret + l.oneOf("", " end", "\n", "\u2028x"))
	if l.IntN(3) == 0 { // a letter as an escape
		at := strings.Index(text, secret) + l.IntN(len(secret))
		text = text[:at] + fmt.Sprintf(l.oneOf(`\u%04x`, `\u%04X`), text[at]) + text[at+1:]
	}
	return text
}

// parts returns a list of parts that holds the secret, perhaps in pieces.
func (l *leak) parts(kind string) string {
	part := func(text string) string {
		if kind == "" {
			return `{"text":` + text + `}`
		}
		return `{"type":"` + kind + `","text":` + text + `}`
	}
	if l.IntN(2) == 0 {
		return "[" + part(`"x"`) + "," + part(l.hide()) + "]"
	}
	var all []string
	left := "key " + secret
	for len(left) > 0 {
		n := 1 + l.IntN(len(left))
		all, left = append(all, part(quote(left[:n]))), left[n:]
	}
	return "[" + strings.Join(all, ",") + "]"
}

// request returns a request that holds the secret in a result, in words or at a place where nobody expects it.
func (l *leak) request(api string) string {
	kind := map[string]string{"messages": "text", "responses": "input_text", "chat": "text", "gemini": ""}[api]
	result, words, more := `"fine"`, `[`+map[bool]string{true: `{"text":"go"}`, false: `{"type":"` + kind + `","text":"go"}`}[kind == ""]+`]`, ""
	data := base64.StdEncoding.EncodeToString([]byte("the key is " + secret + " and that is all\n"))
	switch l.IntN(5) {
	case 0:
		result = l.hide()
	case 1:
		if result = l.parts("text"); api == "gemini" { // whose results have no parts
			result = "[" + l.hide() + "]"
		}
	case 2:
		words = l.parts(kind)
	case 3:
		more = l.oneOf(`,"metadata":{"user_id":`+l.hide()+`}`, `,"tomorrow":[{"a":`+l.hide()+`}]`, `,"`+secret+`":1`)
	default:
		doc := map[string]string{
			"messages":  `{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"` + data + `"}}`,
			"responses": `{"type":"input_file","filename":"a","file_data":"data:text/plain;base64,` + data + `"}`,
			"chat":      `{"type":"file","file":{"filename":"a","file_data":"data:text/plain;base64,` + data + `"}}`,
			"gemini":    `{"inlineData":{"mimeType":"text/plain","data":"` + data + `"}}`,
		}[api]
		words = "[" + doc + "]"
	}
	id := fmt.Sprint("c", l.IntN(4))
	switch api {
	case "messages":
		return `{"messages":[{"role":"user","content":` + words + `},{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":` + result + `}]}]` + more + `}`
	case "responses":
		return `{"input":[{"type":"message","role":"user","content":` + words + `},{"type":"function_call","call_id":"` + id + `","name":"exec_command","arguments":"{}"},{"type":"function_call_output","call_id":"` + id + `","output":` + result + `}]` + more + `}`
	case "chat":
		return `{"messages":[{"role":"user","content":` + words + `},{"role":"assistant","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"run_shell_command","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":` + result + `}]` + more + `}`
	}
	return `{"contents":[{"role":"user","parts":` + words + `},{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":` + result + `}}}]}]` + more + `}`
}

// send sends one request in turns that go side by side, in an encoding or in none.
func (l *leak) send(action, api string) string {
	body := l.request(api)
	coding := l.oneOf("", "", "gzip", "deflate", "br", "zstd")
	sent := []byte(body)
	if c, is := codings[coding]; is {
		var b bytes.Buffer
		w := c.write(&b)
		_, _ = w.Write(sent)
		_ = w.Close()
		sent = b.Bytes()
	}
	var turns sync.WaitGroup
	for range 1 + l.IntN(3) {
		turns.Go(func() {
			r, err := http.NewRequest(http.MethodPost, l.urls[action+" "+api], bytes.NewReader(sent))
			if err != nil {
				l.t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			if coding != "" {
				r.Header.Set("Content-Encoding", coding)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				l.t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		})
	}
	turns.Wait()
	return coding + " " + body
}

// TestModelUploads: whatever a request looks like that holds a secret, the service does not get it, and what a rule takes
// out of results goes on without it.
func TestModelUploads(t *testing.T) {
	budget, err := attack.Budget()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	l := newLeak(t, seed, true)
	made := 0
	for deadline := time.Now().Add(budget); made < 50 || time.Now().Before(deadline); made++ {
		for api := range ways {
			for _, action := range []string{"deny", "redact", "prompt"} {
				asked := l.send(action, api)
				if len(l.leaks) > 0 {
					t.Fatalf("ATTACK_SEED=%d: %s, %s: the client sent\n%s\nthe service has\n%s", seed, action, api, asked, l.leaks[0])
				}
			}
		}
	}
	t.Logf("ATTACK_SEED=%d: %d requests of each kind, of which %d went on without the secret", seed, made, l.got)
	if l.got < made {
		t.Error("nearly nothing went on: redaction was not tried")
	}
}

// TestPlantedModelUpload: a proxy that only hears lets the secret pass, and that is found.
func TestPlantedModelUpload(t *testing.T) {
	l := newLeak(t, 1, false)
	for range 20 {
		l.send("deny", "messages")
	}
	if len(l.leaks) == 0 {
		t.Error("the planted hole was not found")
	}
}
