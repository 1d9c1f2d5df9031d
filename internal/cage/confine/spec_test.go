package confine

import (
	"reflect"
	"testing"
)

// A Spec is read as it was written, whatever bytes the names of files have.
func FuzzSpec(f *testing.F) {
	f.Add("/home/me/p", "/p/.env.\xff")
	f.Add("/a%41", "%")
	f.Add("/a\xc3", "/é%zz\xe2\x82")
	f.Fuzz(func(t *testing.T, program, path string) {
		if program == "" {
			return
		}
		s := Spec{Program: program, Read: []string{path}, Write: []string{path, program}, Hide: []string{path}, Fixed: []string{}, Back: []string{path}}
		text, err := EncodeSpec(&s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseSpec(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if s.Format = Format; !reflect.DeepEqual(got, s) {
			t.Errorf("%q: %+v, not %+v", text, got, s)
		}
	})
}
