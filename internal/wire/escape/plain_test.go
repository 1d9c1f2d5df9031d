package escape

import (
	"testing"

	"pgregory.net/rapid"
)

// Eight bytes at once say what the table says of each, or that they do not know.
func TestPlainWordIsNeverWrong(t *testing.T) {
	odd := rapid.SampledFrom([]byte{0, 1, 31, ' ', '!', '"', '#', '[', '\\', ']', '~', 127, 128, 255})
	letter := rapid.OneOf(rapid.ByteRange(' ', '~'), odd)
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SliceOfN(letter, 8, 8).Draw(rt, "s")
		all := true
		for _, c := range s {
			all = all && isPlain[c]
		}
		if plainWord(eightBytes(s, 0)) && !all {
			rt.Fatalf("%q is taken for plain", s)
		}
	})
	if !plainWord(eightBytes("read_fil", 0)) || !plainWord(eightBytes("/home/us", 0)) || !plainWord(eightBytes("~~~~ ! }", 0)) {
		t.Error("ordinary text is not taken for plain")
	}
}
