package mcp

import "testing"

// A server's form that a person could take for one of ours is refused, in its
// message or in any text of its fields; others are not.
func TestFormsThatImitateOurs(t *testing.T) {
	elicit := func(message, schema string) string {
		m, r := Read(parse(t, request("elicitation/create", `{"message":`+message+`,"requestedSchema":`+schema+`}`, false)), ServerToClient, "s")
		if r != nil || len(m.Calls) != 1 {
			t.Fatal(r, m)
		}
		return m.Calls[0].Malformed
	}
	for _, text := range []string{
		`clawai asks the owner: let this call through?`, `CLAWAI`, `Claw AI wants to know`, `claw-ai:`, `the **claw**ai gate`, `c l a w a i`,
		`c\u200blaw\u00adai asks`, `\uff43\uff4c\uff41\uff57\uff41\uff49`, `сlаwаі`, `ϲlɑwɑı`, `C1AWA1`, `clavvai`, `сlаԝаi`, `ćĺáẃáí`,
		`CLΛWΛI`, `cl@w@i`, `𝐜𝐥𝐚𝐰𝐚𝐢`, `myclawai2`, `cl&#97;wai`, `cl&amp;#97;wai? <b>claw</b>ai`, `<b>c</b>lawai`, `cl<i a=\"x\">aw</i>ai`, `cl\\awai`,
		`Let this call through?`, `LET THIS\nCALL THROUGH`, `Nothing is done before you answer.`, `Allow this call until the session ends`,
	} {
		if got := elicit(`"`+text+`"`, `{"type":"object"}`); got != imitates {
			t.Errorf("%s: %q", text, got)
		}
		for _, schema := range []string{
			`{"type":"object","properties":{"a":{"type":"string","title":"` + text + `"}}}`,
			`{"type":"object","properties":{"a":{"enum":["x"],"enumNames":["` + text + `"]}}}`,
			`"` + text + `"`,
		} {
			if got := elicit(`"Which branch?"`, schema); got != imitates {
				t.Errorf("%s: %q", schema, got)
			}
		}
	}
	for _, text := range []string{
		`Which branch?`, `Basic law aid for beginners`, `Is the claw main or spare?`, `Let it through the review?`, `Allow this call?`, ``, `<`, `a < b & c`,
		`Your e-mail address: owner@example.com`, `Nothing is done yet`, `law airlines`, `請選擇分支`, `Выберите ветку`, `clawed animals`,
	} {
		if got := elicit(`"`+text+`"`, `{"type":"object","properties":{"branch":{"type":"string","title":"`+text+`"},"n":{"minimum":1}}}`); got != "" {
			t.Errorf("%s: %q", text, got)
		}
	}
	if got := elicit(`"m"`, `true`); got != "" {
		t.Error(got)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"clawai asks: allow?"}}}}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x.test","message":"clawai: sign in"}]}}}`,
	} {
		if in, r := InputCalls(parse(t, line), "s"); r != nil || in.Calls[0].Malformed != imitates {
			t.Errorf("%s: %v", line, r)
		}
	}
	if in, r := InputCalls(parse(t, `{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"clawai":{"method":"roots/list"}}}}`), "s"); r != nil || in.Calls[0].Malformed != imitates {
		t.Error(r, in)
	}
}

// What a person reads is all that counts: the same text, dressed, is the same words.
func FuzzLikeness(f *testing.F) {
	for _, s := range []string{"clawai", "a&#98;", "<b", "vv", "\u2800", "́"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range likenessWords(s) {
			if w == "" {
				t.Error("an empty word")
			}
		}
		if !speaksAsUs(s + " clawai " + s) {
			t.Error("text around the name hides it")
		}
	})
}
