package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// testKey is the key of every redactor in these tests.
var testKey = []byte(strings.Repeat("k", keyLen))

// line encodes one event and decodes it again.
func line(t testing.TB, mode redact.Mode, ev event.Event) (string, event.Entry) {
	t.Helper()
	e := encoder{Redactor: redact.New(mode, testKey), session: "abcdefghij"}
	c := newChain()
	ev.Time = time.Unix(1, 0)
	raw := c.sealLine(e.appendEvent(nil, &c, &ev), 0)
	raw = raw[:len(raw)-1]
	entry, err := parseEntry("f", item{raw: raw})
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return string(raw), entry
}

// Secrets are assembled here, so that this file holds none.
var (
	hex40  = strings.Repeat("a1b2c3d4", 5)
	jwt    = "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NSJ9." + hex40
	github = "ghp" + "_" + hex40
	openai = "sk" + "-" + "proj-" + hex40
	awsID  = "AKIA" + "IOSFODNN7EXAMPL3"
	slack  = "xoxb" + "-123456789012-" + hex40
	pem    = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + hex40 + "\n-----END RSA PRIVATE" + " KEY-----"
	plain  = "hunter" + "2"
)

func TestSecretsDoNotReachTheRecord(t *testing.T) {
	for _, tt := range []struct{ args, secret, keep string }{
		{`{"password":"%s","user":"me"}`, plain, `"user":"me"`},
		{`{"apiKey":"%s"}`, plain, `"apiKey":"[redacted:member:7]"`},
		{`{"API_KEY":"%s"}`, plain, ""},
		{`{"x-api-key":"%s"}`, plain, ""},
		{`{"client_secret":"%s"}`, plain, ""},
		{`{"accesstoken":"%s"}`, plain, ""},
		{`{"PASSWORD2":"%s"}`, plain, ""},
		{`{"p\u0061ssword":"%s"}`, plain, ""},
		{`{"credentials":{"user":"%s","more":["%[1]s"]}}`, plain, ""},
		{`{"headers":{"Authorization":"Bearer %s"}}`, hex40, ""},
		{`{"headers":["Authorization: Bearer %s"]}`, hex40, "Authorization: [redacted:value:47]"},
		{`{"headers":[{"name":"X-Auth-Token","value":"%s"}]}`, plain, `"name":"X-Auth-Token"`},
		{`{"cmd":"curl -H 'Authorization: Basic %s' https://a/b"}`, hex40, "https://a/b"},
		{`{"cmd":"mysql --password %s -u me"}`, plain, "-u me"},
		{`{"cmd":"mysql --password=%s -u me"}`, plain, "-u me"},
		{`{"argv":["mysql","--password","%s","-u","me"]}`, plain, `"-u","me"`},
		{`{"cmd":"export DB_PASSWORD=\"%s\"; run"}`, plain, "; run"},
		{`{"text":"{\"token\": \"%s\", \"a\": 1}"}`, plain, `\"a\": 1`},
		{`{"text":"the key %s is old"}`, github, "the key [redacted:github:44] is old"},
		{`{"text":"%s"}`, openai, ""},
		{`{"text":"id=%s"}`, awsID, ""},
		{`{"text":"(%s)"}`, slack, ""},
		{`{"text":"%s"}`, jwt, "[redacted:jwt:"},
		{`{"%s":1}`, github, ":1"},
		{`{"text":"a\n%s\nb"}`, strings.ReplaceAll(pem, "\n", `\n`), `a\n[redacted:pem:`},
		{`{"url":"https://me:%s@example.com/x"}`, plain, "https://me:[redacted:password:7]@example.com/x"},
		{`{"url":"https://%s@example.com/x"}`, plain, "@example.com/x"},
		{`{"url":"postgres://u:%s@db/x?sslmode=off"}`, plain, "@db/x?sslmode=off"},
		{`{"url":"https://e.com/?a=1&access_token=%s&b=2"}`, plain, "&b=2"},
		{`{"url":"https://e.com/?a=1&sig=%s#top"}`, plain, "#top"},
		{`{"url":"https://e.com/?key=%s"}`, plain, ""},
		{`{"pin":%s}`, "4711", `"pin":"[redacted:number:4]"`},
		{`{"otp":[%s]}`, "471142", ""},
		{`not JSON: password=%s`, plain, "not JSON"},
		{`{"env":"A=1\nTOKEN=%s\nB=2"}`, plain, `A=1\n`},
	} {
		args := strings.Replace(tt.args, "%s", tt.secret, 1)
		args = strings.ReplaceAll(args, "%[1]s", tt.secret)
		for _, mode := range []redact.Mode{redact.Redacted, redact.Hashed} {
			raw, e := line(t, mode, event.Event{Args: []byte(args)})
			if strings.Contains(raw, tt.secret) || !redact.IsRedacted(string(e.Args)) {
				t.Errorf("%v: %s\nis kept as %s", mode, args, e.Args)
			}
			if mode == redact.Redacted && !strings.Contains(string(e.Args), tt.keep) {
				t.Errorf("%s\nis kept as %s\nwithout %s", args, e.Args, tt.keep)
			}
		}
		if _, e := line(t, redact.Full, event.Event{Args: []byte(args)}); redact.IsRedacted(string(e.Args)) {
			t.Errorf("full: %s is kept as %s", args, e.Args)
		}
	}
}

func TestSecretsAreFoundInEveryText(t *testing.T) {
	text := "see " + github + " and https://me:" + plain + "@h/ ."
	ev := event.Event{
		Server: text, ServerGuess: text, Method: text, ID: []byte(`"` + text + `"`), Names: []string{text},
		Reason: text, RuleText: text, Declared: []string{text}, Detail: text,
	}
	raw, _ := line(t, redact.Redacted, ev)
	if strings.Contains(raw, github) || strings.Contains(raw, plain) {
		t.Error(raw)
	}
}

// What is no secret is kept as it is: the record is worth nothing otherwise.
func TestOrdinaryTextIsKept(t *testing.T) {
	for _, args := range []string{
		`{"path":"/home/user/projects/a b/tokenizer.go","limit":100}`,
		`{"max_tokens":1000,"tokens":12,"temperature":0.5}`,
		`{"query":"select * from users where name = 'x' and id in (1,2,3)"}`,
		`{"secretary":"Ann","authors":["Bo"],"passenger":"Cy","keyboard":"de","compass":"n"}`,
		`{"key":"user:1:name","keys":["a","b"],"value":"x"}`,
		`{"url":"https://example.com:8080/a/b?q=red+fox&page=2#frag"}`,
		`{"ssh":"git@github.com:clawai/clawai.git","url":"ssh://git@github.com/x"}`,
		`{"text":"The bearer of this letter; a Basic understanding; sk-learn; eyJust"}`,
		`{"hash":"` + hex40 + `","uuid":"123e4567-e89b-12d3-a456-426614174000"}`,
		`{"code":"for i := 0; i < n; i++ { x[i] = y }"}`,
		`{"when":"2026-01-31T10:11:12Z","list":[true,false,null,-0.5e+3],"empty":{},"none":[]}`,
		`{"password":"","token":null,"secret":true}`,
		`{"public":"-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----"}`,
	} {
		if _, e := line(t, redact.Redacted, event.Event{Args: []byte(args)}); string(e.Args) != args {
			t.Errorf("%s\nis kept as %s", args, e.Args)
		}
	}
}

func TestHashTellsEqualSecretsAndNoShortOnes(t *testing.T) {
	kept := func(args string) string {
		_, e := line(t, redact.Hashed, event.Event{Args: []byte(args)})
		return string(e.Args)
	}
	a, b, c := kept(`{"token":"`+hex40+`"}`), kept(`{"token":"`+hex40+`"}`), kept(`{"token":"`+hex40+`x"}`)
	if a != b || a == c || strings.Count(a, ":") != 4 {
		t.Errorf("%s\n%s\n%s", a, b, c)
	}
	for _, short := range []string{plain, "471147114711", "correcthorse"} {
		if got := kept(`{"token":"` + short + `"}`); got != fmt.Sprintf(`{"token":"[redacted:member:%d]"}`, len(short)) {
			t.Error(got)
		}
	}
	if other := kept(`{"secret":"` + hex40 + `"}`); other[len(`{"secret"`):] == a[len(`{"token"`):] {
		t.Error("the same secret in another member has the same digest", other)
	}
}

// A digest that anyone can compute would give short secrets away.
func TestDigestIsKeyedUnlessFull(t *testing.T) {
	ev := event.Event{Digest: [32]byte{1, 2, 3}}
	for _, mode := range []redact.Mode{redact.Redacted, redact.Hashed, redact.Full} {
		_, e := line(t, mode, ev)
		if plain := e.Event.Digest == ev.Digest; plain != (mode == redact.Full) || e.Digest == "" {
			t.Errorf("%v: %s", mode, e.Digest)
		}
	}
}

func TestLongValuesAreCutAndSayHowLongTheyWere(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	_, e := line(t, redact.Redacted, event.Event{Args: []byte(`{"a":"` + long + `","b":1}`), Names: []string{long}})
	var args struct {
		A string
		B int
	}
	if err := json.Unmarshal(e.Args, &args); err != nil || args.B != 1 || len(args.A) > redact.MaxText+100 ||
		!strings.HasPrefix(args.A[redact.MaxText:], "[cut:1048576:hmac:") || !redact.IsRedacted(args.A) || !redact.IsRedacted(e.Names[0]) {
		t.Errorf("%v %d %s", err, args.B, args.A[min(len(args.A), redact.MaxText):])
	}
	members := make([]string, 10000)
	for i := range members {
		members[i] = fmt.Sprintf(`"member%d":[{"x":"%s"}]`, i, strings.Repeat("y", 50))
	}
	whole := `{` + strings.Join(members, ",") + `}`
	raw, e := line(t, redact.Redacted, event.Event{Args: []byte(whole), Declared: members})
	if !json.Valid(e.Args) || !e.ArgsCut || len(e.Args) < redact.MaxBlock/2 || len(raw) > 3*redact.MaxBlock {
		t.Errorf("cut %v, %d bytes of arguments, line of %d", e.ArgsCut, len(e.Args), len(raw))
	}
	if last := e.Declared[len(e.Declared)-1]; !strings.HasPrefix(last, "[cut:10000:") {
		t.Errorf("%d declared, the last %q", len(e.Declared), last)
	}
}

// A secret that lies across the place where a text is cut does not show its
// beginning.
func TestSecretAcrossTheCut(t *testing.T) {
	for before := redact.MaxText - 50; before <= redact.MaxText; before++ {
		raw, _ := line(t, redact.Redacted, event.Event{Detail: strings.Repeat(" ", before) + github + strings.Repeat(" ", 500)})
		if strings.Contains(raw, "ghp_") {
			t.Fatalf("at %d: %s", before, raw[before:])
		}
	}
}

// Whatever is recorded, the line is one JSON object of printable ASCII, and
// reads back.
func TestAnyEventIsAHarmlessLine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Custom(func(rt *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
		}))
		s := func(name string) string { return text.Draw(rt, name) }
		ev := event.Event{
			Kind: event.Kind(s("kind")), Server: s("server"), Direction: s("direction"), Method: s("method"), ID: []byte(s("id")),
			Subject: s("subject"), Names: []string{s("name")}, Args: []byte(s("args")), Policy: s("policy"), Code: s("code"),
			Reason: s("reason"), RuleFile: s("file"), Ref: s("ref"), Declared: []string{s("declared")}, Detail: s("detail"),
			Channel: s("rung"), Answer: s("answer"), By: s("by"), Words: s("words"),
		}
		raw, _ := line(t, redact.Mode(rapid.IntRange(0, 2).Draw(rt, "mode")), ev)
		for _, c := range []byte(raw) {
			if c < ' ' || c > '~' {
				rt.Fatalf("byte %#x in %q", c, raw)
			}
		}
		if _, ok := parseLink([]byte(raw)); !ok {
			rt.Fatalf("no sound line: %q", raw)
		}
	})
}

// A line does not depend on what was written before it.
func TestALineSaysWhatItsEventSays(t *testing.T) {
	long := strings.Repeat("x", shortText+1)
	rapid.Check(t, func(rt *rapid.T) {
		mode := redact.Mode(rapid.IntRange(0, 2).Draw(rt, "mode"))
		used := encoder{Redactor: redact.New(mode, testKey), session: "abcdefghij"}
		word := rapid.SampledFrom([]string{"", "a", "b", "é", "token=abcdefgh1", long, long + "y"})
		for range rapid.IntRange(2, 8).Draw(rt, "lines") {
			s := func(name string) string { return word.Draw(rt, name) }
			ev := event.Event{
				Record: "abcdefghij-1", Kind: event.Decision, Server: s("server"), ServerGuess: s("guess"), Direction: s("direction"),
				Method: s("method"), Subject: s("subject"), Names: []string{s("name")}, Facts: policy.Facts{Cwd: s("cwd")}, Policy: s("policy"), Decision: s("decision"),
				Stage: s("stage"), Code: s("code"), Reason: s("reason"), RuleFile: s("file"), RuleText: s("rule"), Labels: policy.Seen(rapid.IntRange(0, 15).Draw(rt, "labels")), Ref: s("ref"),
				Channel: s("rung"), Answer: s("answer"), By: s("by"), Words: s("words"), Detail: s("detail"),
			}
			fresh, c := encoder{Redactor: redact.New(mode, testKey), session: "abcdefghij"}, newChain()
			want := string(fresh.appendEvent(nil, &c, &ev))
			if got := string(used.appendEvent(nil, &c, &ev)); got != want {
				rt.Fatalf("after other lines\n%s\nalone\n%s", got, want)
			}
		}
	})
}

// In full mode what is valid text comes back as it was.
func TestTextSurvives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringN(0, 200, redact.MaxText).Draw(rt, "text")
		quoted, err := json.Marshal(map[string]string{s: s})
		if err != nil {
			rt.Fatal(err)
		}
		_, e := line(t, redact.Full, event.Event{Detail: s, By: s, Words: s, Args: quoted})
		var back map[string]string
		if err := json.Unmarshal(e.Args, &back); err != nil || back[s] != s || e.Detail != s || e.By != s || e.Words != s {
			rt.Fatalf("%q came back as %q, %q, %q and %q (%v)", s, e.Detail, e.By, e.Words, e.Args, err)
		}
	})
}

// Kinds of findings are words of our own, whatever they look like; the places are not.
func TestKindsOfFindingsAreKept(t *testing.T) {
	raw, e := line(t, redact.Redacted, event.Event{Kind: event.Decision, Looked: []string{"card", "secret:likely"},
		Finds: []string{"secret:likely 2 /params/" + github, "and 3 more"}})
	if strings.Contains(raw, github) || !slices.Equal(e.Looked, []string{"card", "secret:likely"}) ||
		len(e.Finds) != 2 || !strings.HasPrefix(e.Finds[0], "secret:likely 2 /params/[redacted:") || e.Finds[1] != "and 3 more" {
		t.Errorf("%s", raw)
	}
}
