package frame_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/wire/frame"
)

func seed(f *testing.F) {
	for _, lines := range genuine(f) {
		for _, line := range lines {
			f.Add(line, true)
		}
	}
	for _, c := range hostile.Frames() {
		if len(c.Line) < 2000 {
			f.Add([]byte(c.Line), false)
		}
	}
	f.Add([]byte("["+call+","+ping+"]\r"), true)
}

// FuzzParse holds Parse to jsontext as the measure of strictness, and to two
// lax readers as the measure of what others read.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, line []byte, batch bool) {
		limits := frame.Limits{MaxBytes: 1 << 20, MaxDepth: 64, AllowBatch: batch}
		before := bytes.Clone(line)
		got, err := frame.Parse(line, limits)
		if !bytes.Equal(line, before) {
			t.Fatal("Parse wrote to the line")
		}
		if err != nil {
			checkRefusal(t, line, err)
			return
		}
		trimmed := bytes.Trim(bytes.TrimSuffix(line, []byte("\r")), " \t")
		if !bytes.Equal(got.Raw, trimmed) {
			t.Fatalf("Raw is %q of %q", got.Raw, line)
		}
		if !jsontext.Value(got.Raw).IsValid() {
			t.Fatal("admitted what jsontext refuses")
		}
		again, err := frame.Parse(got.Raw, limits)
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("Raw reads as %+v, %v; the line as %+v", again, err, got)
		}
		if got.Kind == frame.Batch {
			checkBatch(t, got)
			return
		}
		checkAgreement(t, got)
	})
}

func checkBatch(t *testing.T, got frame.Frame) {
	elements := gjson.ParseBytes(got.Raw).Array()
	if len(elements) != len(got.Elements) {
		t.Fatalf("%d elements, gjson sees %d", len(got.Elements), len(elements))
	}
	for i, e := range got.Elements {
		if string(e.Raw) != elements[i].Raw {
			t.Fatalf("element %d is %q, gjson sees %q", i, e.Raw, elements[i].Raw)
		}
		checkAgreement(t, e)
	}
}

// checkAgreement compares a message with what encoding/json, which takes the
// last of several members and folds case, and gjson, which takes the first, see.
func checkAgreement(t *testing.T, got frame.Frame) {
	var std struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(got.Raw, &std); err != nil {
		t.Fatal(err)
	}
	if std.JSONRPC != "2.0" || std.Method != got.Method {
		t.Fatalf("method %q, encoding/json sees %q", got.Method, std.Method)
	}
	for name, pair := range map[string][2][]byte{
		"id": {got.ID, std.ID}, "params": {got.Params, std.Params}, "result": {got.Result, std.Result}, "error": {got.Error, std.Error},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Fatalf("%s is %q, encoding/json sees %q", name, pair[0], pair[1])
		}
		seen := gjson.GetBytes(got.Raw, name).Raw
		if strings.Contains(string(got.Raw), `\`) {
			seen = member(got.Raw, name) // gjson's paths compare names before unescaping
		}
		if string(pair[0]) != seen {
			t.Fatalf("%s is %q, gjson sees %q", name, pair[0], seen)
		}
	}
	checkPayload(t, got)
	kinds := map[frame.Kind]bool{
		frame.Request:      got.Method != "" && got.ID != nil,
		frame.Notification: got.Method != "" && got.ID == nil,
		frame.Response:     got.Method == "" && got.ID != nil && (got.Result == nil) != (got.Error == nil),
	}
	if !kinds[got.Kind] {
		t.Fatalf("kind %d of %q", got.Kind, got.Raw)
	}
}

func member(raw []byte, name string) (value string) {
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		if key.String() == name {
			value = v.Raw
		}
		return true
	})
	return value
}

// checkRefusal: what is refused with an id must be JSON that any reader takes
// for a request with that id.
func checkRefusal(t *testing.T, line []byte, err error) {
	var r *frame.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("refused with %T", err)
	}
	if r.Offset < 0 || r.Offset > len(line) {
		t.Fatalf("offset %d of %d", r.Offset, len(line))
	}
	if r.Code == frame.CodeUTF8 && utf8.Valid(line) {
		t.Fatal("valid text refused")
	}
	if r.ID == nil {
		return
	}
	raw := bytes.TrimSuffix(line, []byte("\r"))
	repairable := r.Code == frame.CodeUTF8 || r.Code == frame.CodeSurrogate
	if err := checkSyntax(raw, true, repairable); err != nil || !r.Request {
		t.Fatalf("an id to answer in what is no request: %v", err)
	}
	var std map[string]json.RawMessage
	if err := json.Unmarshal(raw, &std); err != nil || !bytes.Equal(std["id"], r.ID) {
		t.Fatalf("id %q, encoding/json sees %q (%v)", r.ID, std["id"], err)
	}
	for name := range std {
		if name != "id" && strings.EqualFold(name, "id") {
			t.Fatalf("id %q beside %q", r.ID, name)
		}
	}
	if gjson.ParseBytes(std["id"]).Raw != string(r.ID) || std["result"] != nil || std["error"] != nil {
		t.Fatalf("not surely a request: %q", raw)
	}
}

// checkSyntax reads a whole value with jsontext.
func checkSyntax(raw []byte, duplicates, badText bool) error {
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(duplicates), jsontext.AllowInvalidUTF8(badText))
	_, err := d.ReadValue()
	return err
}

// FuzzCheckFolded compares with a slow reading of the same rule.
func FuzzCheckFolded(fuzz *testing.F) {
	for _, raw := range []string{
		`{"a":1,"A":2}`, `{"a":{"ſ":1,"s":2}}`, `[{"k":[{"\u212a":1,"k":2}]}]`, `{"n":9007199254740993}`, `{"n":[1e400,1]}`,
		`{` + hostile.Many(40) + `,"K3":1}`, `{"ß":1,"ẞ":2,"ss":3}`, `{"name":{"Name":1}}`,
	} {
		fuzz.Add([]byte(raw))
	}
	fuzz.Fuzz(func(t *testing.T, raw []byte) {
		f, err := frame.Parse([]byte(`{"jsonrpc":"2.0","method":"x","params":{"a":`+string(raw)+`}}`), frame.DefaultLimits())
		if err != nil {
			return
		}
		raw = f.Params
		r := frame.CheckFolded(raw)
		twins, big := slowCheck(gjson.ParseBytes(raw))
		if (r != nil) != (twins || big) {
			t.Fatalf("%q: %v, but twins %v and big numbers %v", raw, r, twins, big)
		}
		if r != nil && (r.Code == frame.CodeFolded && !twins || r.Code == frame.CodeBigNumber && !big) {
			t.Fatalf("%q: %s, but twins %v and big numbers %v", raw, r.Code, twins, big)
		}
	})
}

func slowCheck(v gjson.Result) (twins, big bool) {
	if v.Type == gjson.Number {
		if strings.ContainsAny(v.Raw, ".eE") {
			_, err := json.Number(v.Raw).Float64()
			return false, err != nil
		}
		n, err := json.Number(v.Raw).Int64()
		return false, err != nil || n > 1<<53-1 || n < -(1<<53-1)
	}
	if !v.IsObject() && !v.IsArray() {
		return false, false
	}
	var names []string
	v.ForEach(func(key, value gjson.Result) bool {
		if v.IsObject() {
			for _, other := range names {
				twins = twins || strings.EqualFold(other, key.String()) || fold(other) == fold(key.String())
			}
			names = append(names, key.String())
		}
		t, b := slowCheck(value)
		twins, big = twins || t, big || b
		return true
	})
	return twins, big
}

// FuzzReader: whatever the pieces the stream comes in, the lines are the same.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\r\n\nbb\nlonger than the limit\nc"), []byte{1, 2, 3}, 8)
	f.Add([]byte("\n\n\n"), []byte{}, 0)
	f.Fuzz(func(t *testing.T, stream, pieces []byte, limit int) {
		limit = max(0, limit%64)
		var want []string
		lines := bytes.SplitAfter(stream, []byte("\n"))
		for _, line := range lines {
			text, whole := bytes.CutSuffix(line, []byte("\n"))
			switch {
			case len(text) > limit:
				want = append(want, "!too_long")
			case whole:
				want = append(want, string(text))
			case len(text) > 0:
				want = append(want, "!truncated")
			}
		}
		got := readAll(t, frame.NewReader(&piecemeal{stream, pieces, 0}, limit))
		if !reflect.DeepEqual(got, append(want, "!EOF")) {
			t.Fatalf("read %q of %q", got, stream)
		}
	})
}
