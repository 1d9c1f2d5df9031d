package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/google/go-cmp/cmp"
)

// A frame knows where its payload's first members end, and whether its arguments are
// ambiguous. What a message means must not depend on where a member stands among others,
// how its name is spelled, or on the blanks around it.
func TestMembersMeanTheSameWhereverTheyStand(t *testing.T) {
	const (
		call  = `"name":"n","arguments":{"a":[{"b":"}\""}]},"_meta":{"progressToken":"t"},"inputResponses":{"k":{"action":"decline"}},"requestState":"s"`
		folds = `"name":"n","arguments":{"a":[{"b":1,"B":2}]}`
		big   = `"name":"n","arguments":{"a":[9007199254740993]}`
	)
	inEveryPlace(t, call, func(t *testing.T, params string) {
		m, r := Read(parse(t, request("tools/call", params, false)), ClientToServer, "s")
		if r != nil || len(m.Calls) != 1 {
			t.Fatalf("%s: %+v, %+v", params, r, m)
		}
		got := append([]string{string(m.Calls[0].Args), string(m.ProgressToken), string(m.InputResponses), string(m.RequestState)}, m.Calls[0].Names...)
		if d := cmp.Diff([]string{`{"a":[{"b":"}\""}]}`, `"t"`, `{"k":{"action":"decline"}}`, `"s"`, "n"}, got); d != "" {
			t.Errorf("%s\n%s", params, d)
		}
	})
	for params, code := range map[string]string{folds: frame.CodeFolded, big: frame.CodeBigNumber} {
		inEveryPlace(t, params, func(t *testing.T, params string) {
			_, r := Read(parse(t, `{"params":`+params+`,"jsonrpc":"2.0","id":1,"method":"tools/call"}`), ClientToServer, "s")
			if r == nil || r.Code != code {
				t.Errorf("%s: %+v, want %s", params, r, code)
			}
		})
	}
	asks := `"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m"}}}`
	inEveryPlace(t, asks, func(t *testing.T, result string) {
		in, r := InputCalls(parse(t, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`), "s")
		if r != nil || len(in.Calls) != 1 || len(in.Calls[0].Names) != 1 || in.Calls[0].Names[0] != "m" {
			t.Errorf("%s: %+v, %+v", result, r, in)
		}
	})
}

// inEveryPlace gives objects that hold the members after, between and before others.
func inEveryPlace(t *testing.T, members string, see func(t *testing.T, object string)) {
	t.Helper()
	spelled := strings.NewReplacer(`"name"`, `"n\u0061me"`, `"arguments"`, `"\u0061rguments"`, `"inputRequests"`, `"inputReques\u0074s"`)
	for _, text := range []string{members, spelled.Replace(members)} {
		for before := range 12 {
			for _, after := range []int{0, 12} {
				all := append(fillers("x", before), text)
				all = append(all, fillers("y", after)...)
				see(t, "{"+strings.Join(all, ",")+"}")
				see(t, "{ \t"+strings.Join(all, " ,\t")+"\t }")
			}
		}
	}
}

func fillers(name string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(`"%s%d" : [ {"arguments":{"a":1,"A":"]}"}} , -1.5e3 ]`, name, i))
	}
	return all
}
