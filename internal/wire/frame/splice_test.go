package frame

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the message, a splice changes the bytes of one token and no other.
func TestSpliceChangesOneTokenOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 1, -1).Draw(t, "raw")
		from := rapid.IntRange(0, len(raw)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(raw)).Draw(t, "to")
		token := rapid.SliceOf(rapid.Byte()).Draw(t, "token")
		before := bytes.Clone(raw)
		got := SplicePart(raw, raw[from:to:to], token)
		if !bytes.Equal(got[:from], before[:from]) || !bytes.Equal(got[from:from+len(token)], token) ||
			!bytes.Equal(got[from+len(token):], before[to:]) {
			t.Fatalf("%q with %q at %d:%d became %q", before, token, from, to, got)
		}
		if !bytes.Equal(raw, before) {
			t.Fatal("the original was written to")
		}
	})
}

func TestSplicingTheIDGivesTheSameFrameUnderAnother(t *testing.T) {
	f, err := Parse([]byte(`  {"result": {"id":1}, "id" : 1 ,"jsonrpc":"2.0"} `), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(SplicePart(f.Raw, f.ID, []byte(`"new"`))); got != `{"result": {"id":1}, "id" : "new" ,"jsonrpc":"2.0"}` {
		t.Error(got)
	}
}

// Several at once are what they are one after the other.
func TestSpliceAllIsSpliceOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 5), 1, 9).Draw(t, "pieces")
		raw := bytes.Join(pieces, nil)
		var edits []Edit
		var want []byte
		at := 0
		for _, piece := range pieces {
			if part := raw[at : at+len(piece)]; rapid.Bool().Draw(t, "edited") {
				token := rapid.SliceOf(rapid.Byte()).Draw(t, "token")
				edits, want = append(edits, Edit{part, token}), append(want, token...)
			} else {
				want = append(want, piece...)
			}
			at += len(piece)
		}
		rand.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
		if got := SpliceAll(raw, edits...); !bytes.Equal(got, want) {
			t.Fatalf("%q became %q, not %q", raw, got, want)
		}
	})
}

func TestSpliceRefusesWhatIsNotThere(t *testing.T) {
	raw := []byte(`{"id":1}`)
	for _, part := range [][]byte{nil, raw[3:3], []byte("1"), append(raw, raw...)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was spliced", part)
				}
			}()
			SplicePart(raw, part, []byte("2"))
		}()
	}
	defer func() {
		if recover() == nil {
			t.Error("parts that overlap were spliced")
		}
	}()
	SpliceAll(raw, Edit{raw[3:5], nil}, Edit{raw[1:4], nil})
}
