package frame_test

import (
	"testing"

	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/wire/frame"
)

func TestCheckFolded(t *testing.T) {
	known := []string{"name", "arguments", "taskId"}
	for raw, code := range map[string]string{
		`{}`: "",
		`{"name":"a","arguments":{"path":"/a","b":[{"c":1},{"C":2}]}}`:                          "",
		`{"n":[9007199254740991,-9007199254740991,1.5e308,-0,0,1e-400,12345678901234567890.5]}`: "",
		`[]`:                            "",
		`"x"`:                           "",
		`{"arguments":{"Name":1}}`:      "",
		`{"Name":"a"}`:                  frame.CodeFolded,
		`{"name":"a","tas\u212aid":1}`:  frame.CodeFolded,
		`{"name":"a","x":1,"taſKid":1}`: frame.CodeFolded,
		`{"argumentſ":{}}`:              frame.CodeFolded,
		`{"a":{"path":1,"Path":2}}`:     frame.CodeFolded,
		`{"a":[[{"k":1,"K":2}]]}`:       frame.CodeFolded,
		`{"a":{` + hostile.Many(50) + `,"K49":1}}`: frame.CodeFolded,
		`{"a":{"k":1,"\u006b":2}}`:                 frame.CodeDuplicate,
		`{"a":9007199254740992}`:                   frame.CodeBigNumber,
		`{"a":-9007199254740993}`:                  frame.CodeBigNumber,
		`{"a":[123456789012345678901234567890]}`:   frame.CodeBigNumber,
		`{"a":{"b":1e400}}`:                        frame.CodeBigNumber,
		`{"a":-1e999}`:                             frame.CodeBigNumber,
		`1e400`:                                    frame.CodeBigNumber,
		`{"__proto__":1}`:                          frame.CodeProto,
		``:                                         frame.CodeSyntax,
		`{`:                                        frame.CodeSyntax,
		`{"a":`:                                    frame.CodeSyntax,
		`{"a":1`:                                   frame.CodeSyntax,
		`{a:1}`:                                    frame.CodeSyntax,
		`{} {}`:                                    frame.CodeTrailing,
	} {
		r := frame.CheckFolded([]byte(raw), known...)
		switch {
		case r == nil && code != "":
			t.Errorf("%s passed", raw)
		case r != nil && r.Code != code:
			t.Errorf("%s refused as %s, not %q", raw, r.Code, code)
		}
	}
	if r := frame.CheckFolded([]byte(`{"Name":1}`)); r != nil {
		t.Errorf("nothing known, yet refused as %s", r.Code)
	}
}
