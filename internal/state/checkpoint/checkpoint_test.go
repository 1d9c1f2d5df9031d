package checkpoint

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func newKey(t testing.TB, name string) (secret, public string) {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	return secret, public
}

func TestCheckpointIsReadAsItWasSigned(t *testing.T) {
	secret, public := newKey(t, "centre.example")
	if derived, err := PublicKey(secret + "\n"); err != nil || derived != public {
		t.Fatalf("%q, %v, want %q", derived, err, public)
	}
	c := Checkpoint{Size: 7, Root: tlog.RecordHash([]byte("x")), Made: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)}
	src, err := Sign(c, secret)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(src, public); err != nil || got != c {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range src {
		changed := append([]byte{}, src...)
		changed[i] ^= 1
		// The last letter of the signature has bits that say nothing.
		if got, err := Read(changed, public); err == nil && (got != c || i < len(src)-3) {
			t.Fatalf("byte %d changed: %+v", i, got)
		}
	}
	_, other := newKey(t, "centre.example")
	if _, err := Read(src, other); !errors.Is(err, ErrForeign) {
		t.Errorf("another key: %v", err)
	}
}

// What somebody signs with the right key is a checkpoint only in its one form.
func TestOtherNotesAreNoCheckpoints(t *testing.T) {
	secret, public := newKey(t, "centre.example")
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	root := tlog.RecordHash([]byte("x")).String()
	for _, text := range []string{
		"other.example\n7\n" + root + "\ntime 2026-12-01T10:00:00Z\n",
		"centre.example\n0\n" + root + "\ntime 2026-12-01T10:00:00Z\n",
		"centre.example\n07\n" + root + "\ntime 2026-12-01T10:00:00Z\n",
		"centre.example\n7\n" + root + "\ntime 2026-12-01T11:00:00+01:00\n",
		"centre.example\n7\n" + root + "\n",
		"centre.example\n7\nAAAA\ntime 2026-12-01T10:00:00Z\n",
		"centre.example\n7\n" + root + "\ntime 2026-12-01T10:00:00Z\nmore\n",
		"centre.example\n",
	} {
		src, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := Read(src, public); err == nil {
			t.Errorf("%q: %+v", text, c)
		}
	}
	if _, err := Read([]byte(strings.Repeat("x", MaxNote+1)), public); err == nil {
		t.Error("a long note was read")
	}
	for _, key := range []string{"", "PRIVATE+KEY+a+00000000+", public} {
		if _, err := PublicKey(key); err == nil {
			t.Errorf("%q is a secret key", key)
		}
	}
}

// Each part of a head is in its hash.
func TestHeadsDiffer(t *testing.T) {
	h := Head{"laptop", "segment", 5, "digest", false}
	seen := map[tlog.Hash]string{}
	for name, h := range map[string]Head{
		"as it is": h, "laptop": {"laptop2", "segment", 5, "digest", false}, "segment": {"laptop", "segment2", 5, "digest", false},
		"size": {"laptop", "segment", 6, "digest", false}, "digest": {"laptop", "segment", 5, "digest2", false}, "end": {"laptop", "segment", 5, "digest", true},
	} {
		if other, twice := seen[h.Hash()]; twice {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h.Hash()] = name
	}
}

// The roots are those of package tlog, at each size.
func TestTreeHasTheRootsOfTheLibrary(t *testing.T) {
	var mine Tree
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(places []int64) (all []tlog.Hash, err error) {
		for _, p := range places {
			all = append(all, stored[p])
		}
		return all, nil
	})
	for n := range int64(300) {
		leaf := tlog.RecordHash(fmt.Append(nil, n))
		more, err := tlog.StoredHashesForRecordHash(n, leaf, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		mine.Add(leaf)
		if want, err := tlog.TreeHash(n+1, reader); err != nil || mine.Root() != want || mine.Size() != n+1 {
			t.Fatalf("%d leaves: %v, want %v, %v", mine.Size(), mine.Root(), want, err)
		}
	}
}

// Whatever is read is what its one form says, and signed.
func FuzzRead(f *testing.F) {
	secret, public := newKey(f, "centre.example")
	src, err := Sign(Checkpoint{Size: 7, Made: time.Unix(1e9, 0)}, secret)
	if err != nil {
		f.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		f.Fatal(err)
	}
	text, _, _ := strings.Cut(string(src), "\n\n")
	f.Add(text + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		src, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			t.Skip()
		}
		c, err := Read(src, public)
		if err != nil {
			return
		}
		if again, err := Sign(c, secret); err != nil || string(again) != string(src) {
			t.Errorf("%q was read as %+v, which is written %q, %v", src, c, again, err)
		}
	})
}
