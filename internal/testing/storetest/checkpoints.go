package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/checkpoint"
)

// sign is a function for AddCheckpoint. It returns the new hashes of the tree, and a checkpoint
// whose note is the tree's root instead of a signed text.
func sign(size int64, heads []checkpoint.Head, tree tlog.HashReader) (all []tlog.Hash, c store.Checkpoint, err error) {
	grown := tlog.HashReaderFunc(func(places []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(places))
		for i, p := range places {
			if old := tlog.StoredHashCount(size); p >= old {
				hashes[i] = all[p-old]
				continue
			}
			one, err := tree.ReadHashes([]int64{p})
			if err != nil {
				return nil, err
			}
			hashes[i] = one[0]
		}
		return hashes, nil
	})
	for i := range heads {
		more, err := tlog.StoredHashesForRecordHash(size+int64(i), heads[i].Hash(), grown)
		if err != nil {
			return nil, c, err
		}
		all = append(all, more...)
	}
	c = store.Checkpoint{Size: size + int64(len(heads)), Made: began}
	root, err := tlog.TreeHash(c.Size, grown)
	c.Note = root.String()
	return all, c, err
}

func testCheckpoints(t *testing.T, s, other store.Store) {
	ctx := t.Context()
	_, err := s.FindNewestCheckpoint(ctx)
	wants(t, err, store.ErrNone)
	wants(t, s.AddCheckpoint(ctx, nil, sign), store.ErrNone)
	enrol(t, s, 1)
	must(t, extend(t, s, "hello ", false, store.Extension{}))
	unlogged := func(want int64) {
		t.Helper()
		all, err := s.ListUnlogged(ctx, 10)
		n, err2 := s.CountUnlogged(ctx, began.Add(time.Second))
		none, err3 := s.CountUnlogged(ctx, began)
		if err = errors.Join(err, err2, err3); err != nil || none != 0 || n != len(all) || want == 0 && n > 0 || want > 0 && (n != 1 || all[0].Size != want) {
			t.Fatalf("%+v, %d, %d, %v", all, n, none, err)
		}
	}
	unlogged(6)
	head := checkpoint.Head{Laptop: "laptop1", Segment: segment, Size: 6, Digest: "d6"}
	broken := errors.New("broken")
	wants(t, s.AddCheckpoint(ctx, []checkpoint.Head{head}, func(int64, []checkpoint.Head, tlog.HashReader) ([]tlog.Hash, store.Checkpoint, error) {
		return nil, store.Checkpoint{}, broken
	}), broken)
	unlogged(6) // nothing was stored, so 6 bytes are still not in the tree
	must(t, s.AddCheckpoint(ctx, []checkpoint.Head{head, {Laptop: "laptop2", Segment: segment, Size: 1}}, sign))
	unlogged(0)
	// The tree already has this head.
	wants(t, s.AddCheckpoint(ctx, []checkpoint.Head{head}, sign), store.ErrNone)
	must(t, extend(t, s, "", true, store.Extension{}))
	unlogged(6) // the segment is complete now, so the tree needs a new head of it
	whole := head
	whole.Complete = true
	// The second head is older than the first, so the tree does not get it.
	must(t, s.AddCheckpoint(ctx, []checkpoint.Head{whole, head}, sign))
	unlogged(0)

	heads, err := s.ListHeads(ctx, 0, 10)
	must(t, err)
	if want := []store.Head{{Head: head, Number: 0}, {Head: whole, Number: 1}}; !reflect.DeepEqual(heads, want) {
		t.Fatalf("%+v, want %+v", heads, want)
	}
	if of, err := s.ListSegmentHeads(ctx, "laptop1", segment); err != nil || !reflect.DeepEqual(of, heads) {
		t.Errorf("%+v, %v", of, err)
	}
	if h, err := s.FindHead(ctx, "laptop1", segment, 1); err != nil || h != heads[0] {
		t.Errorf("%+v, %v", h, err)
	}
	_, err = s.FindHead(ctx, "laptop1", segment, 0)
	wants(t, err, store.ErrNone)
	all, err := s.ListCheckpoints(ctx, 0, 10)
	must(t, err)
	var tree checkpoint.Tree
	for i := range heads {
		tree.Add(heads[i].Hash())
		if want := (store.Checkpoint{Size: int64(i) + 1, Made: began, Note: tree.Root().String()}); all[i] != want {
			t.Errorf("%+v, want %+v", all[i], want)
		}
	}
	if c, err := s.FindNewestCheckpoint(ctx); err != nil || len(all) != 2 || c != all[1] {
		t.Errorf("%+v, %v", c, err)
	}
	if later, err := s.ListCheckpoints(ctx, 1, 10); err != nil || len(later) != 1 || later[0] != all[1] {
		t.Errorf("%+v, %v", later, err)
	}
	if hashes, err := s.ReadTree(ctx, []int64{1, 0}); err != nil || hashes[0] != whole.Hash() || hashes[1] != head.Hash() {
		t.Errorf("%v, %v", hashes, err)
	}
	if _, err := s.ReadTree(ctx, []int64{0, 99}); err == nil {
		t.Error("a hash was read that is not there")
	}
	if of, err := s.ListSegments(ctx, "", "", false, 10); err != nil || len(of) != 1 || of[0].Name != segment || !of[0].Complete {
		t.Errorf("%+v, %v", of, err)
	}
	for _, of := range []struct {
		laptop, after string
		only          bool
	}{{"laptop1", segment, false}, {"laptop1", segment, true}, {"laptop0", "", true}, {"laptop2", "", false}} {
		if found, err := s.ListSegments(ctx, of.laptop, of.after, of.only, 10); err != nil || len(found) > 0 {
			t.Errorf("%+v: %+v, %v", of, found, err)
		}
	}
	foreign, err := other.ListHeads(ctx, 0, 10)
	segments, err2 := other.ListSegments(ctx, "", "", false, 10)
	if len(foreign)+len(segments) > 0 || err != nil || err2 != nil {
		t.Errorf("another organisation's: %+v, %+v, %v, %v", foreign, segments, err, err2)
	}
	if _, err := other.ReadTree(ctx, []int64{0}); err == nil {
		t.Error("another organisation's tree was read")
	}
}

// testRacingCheckpoints adds heads from several centres at the same time. The result must be one
// tree that contains each state of a segment only once.
func testRacingCheckpoints(t *testing.T, s, _ store.Store) {
	ctx := t.Context()
	enrol(t, s, 1)
	const segments = 20
	var heads []checkpoint.Head
	for i := range segments {
		session := fmt.Sprintf("k3f9x2m7%02d", i)
		name := fmt.Sprintf("20261130T100203.123456789Z-%s.ndjson", session)
		must(t, s.ExtendSegment(ctx, "laptop1", session, name, func(h store.Holding) (store.Extension, error) {
			g := h.Segment()
			g.Size = 1
			return store.Extension{Part: []byte("x"), Segment: g}, nil
		}))
		heads = append(heads, checkpoint.Head{Laptop: "laptop1", Segment: name, Size: 1, Digest: "d"})
	}
	var all sync.WaitGroup
	for i := range segments {
		all.Go(func() {
			if err := s.AddCheckpoint(ctx, heads[i/2:i+1], sign); err != nil && !errors.Is(err, store.ErrNone) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	kept, err := s.ListHeads(ctx, 0, 2*segments)
	must(t, err)
	var tree checkpoint.Tree
	roots, seen := map[int64]string{}, map[string]bool{}
	for i := range kept {
		tree.Add(kept[i].Hash())
		roots[tree.Size()] = tree.Root().String()
		seen[kept[i].Segment] = true
	}
	if len(kept) != segments || len(seen) != segments {
		t.Errorf("%d heads of %d segments", len(kept), len(seen))
	}
	made, err := s.ListCheckpoints(ctx, 0, 2*segments)
	must(t, err)
	for _, c := range made {
		if roots[c.Size] != c.Note {
			t.Errorf("%d heads have the root %s, and the checkpoint says %s", c.Size, roots[c.Size], c.Note)
		}
	}
	if len(made) == 0 || made[len(made)-1].Size != segments {
		t.Errorf("%+v", made)
	}
}
