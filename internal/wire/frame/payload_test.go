package frame_test

import (
	"errors"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// checkPayload: what the frame knows of its payload is what reading it once more finds.
func checkPayload(t *testing.T, got frame.Frame) {
	t.Helper()
	for _, payload := range [][]byte{got.Params, got.Result, got.Error} {
		if payload == nil {
			continue
		}
		v := jsonscan.ValueOf(payload)
		var all [][2]jsonscan.Value
		for name, value := range v.Members() {
			all = append(all, [2]jsonscan.Value{name, value})
		}
		n := 0
		for name, value := range v.IndexedMembers(&got.Index) {
			if n == len(all) || all[n] != [2]jsonscan.Value{name, value} {
				t.Fatalf("member %d of %s is %s: %s", n, payload, name, value)
			}
			n++
		}
		if n != len(all) {
			t.Fatalf("%d members of %s, want %d", n, payload, len(all))
		}
	}
	args := jsonscan.ValueOf(got.Params).Member("arguments")
	if got.Unambiguous && (args == "" || frame.CheckFolded(args.Bytes()) != nil) {
		t.Fatalf("%s is not unambiguous", got.Raw)
	}
}

func TestPayload(t *testing.T) {
	request := func(params string) string { return `{"jsonrpc":"2.0","id":1,"method":"x","params":` + params + `}` }
	for _, c := range []struct {
		line        string
		unambiguous bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"x"}`, false},
		{request(`{}`), false},
		{request(`{"name":"n"}`), false},
		{request(`{ "name" : "n" , "arguments" : {"a":[1,{"b":-0.5}]} , "_meta":{}}`), true},
		{request(`{"arguments":{"a":1,"A":2}}`), false},
		{request(`{"arguments":{"x":[{"a":1,"A":2,"b":12345678901234567890}]}}`), false},
		{request(`{"arguments":{"a":12345678901234567890}}`), false},
		{request(`{"arguments":null}`), true},
		{request(`{"\u0061rguments":{"a":1}}`), false},
		{request(`{"a":{"arguments":{"a":1}}}`), false},
		{request(`{"a":{"b":1,"B":2},"arguments":{},"c":9007199254740993}`), true},
		{request(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":{"x":[1]},"arguments":{},"j":10}`), true},
		{`{"params":{"arguments":{"a":1}},"method":"x","id":1,"jsonrpc":"2.0"}`, true},
		{`{"jsonrpc":"2.0","id":1,"result":{"arguments":{"a":1},"b":[1,2]}}`, false},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":{"a":[{}]}}}`, false},
	} {
		f, err := frame.Parse([]byte(c.line), frame.DefaultLimits())
		if err != nil || f.Unambiguous != c.unambiguous {
			t.Errorf("%s: %v, unambiguous %v", c.line, err, f.Unambiguous)
		}
		checkPayload(t, f)
	}
	for line, code := range map[string]string{ // arguments are no exception from what is refused anywhere
		request(`{"arguments":{"a":1,"A":2,"A":3}}`):                         frame.CodeDuplicate,
		request(`{"arguments":{"b":12345678901234567890,"a":{"\u0000":1}}}`): frame.CodeControlName,
		request(`{"arguments":{"a":1,"A":}}`):                                frame.CodeSyntax,
	} {
		_, err := frame.Parse([]byte(line), frame.DefaultLimits())
		if refusal := (*frame.Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != code {
			t.Errorf("%s: %v, want %s", line, err, code)
		}
	}
}
