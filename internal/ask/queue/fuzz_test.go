package queue_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/policy"
)

// A request comes out of the database as it went in, whatever is in it: bytes
// that are not UTF-8, NULs, quotes, SQL, JSON.
func FuzzStored(f *testing.F) {
	f.Add("files", "write_file", []byte(`{"path":"a"}`), "ask", uint8(1), int64(1_700_000_000), 1, true)
	f.Add("\x00\xff", "'; DROP TABLE requests; --", []byte{}, "\u202e\x1b[2J", uint8(200), int64(-1), 0, false)
	f.Add(`{"bytes":"AA=="}`, "\xed\xa0\x80", []byte("\xc3\x28\x00{"), "<a href=\"x\">&\u2028", uint8(3), int64(253402300799), 3, true)
	f.Add("", "", []byte(nil), "", uint8(0), int64(0), 2, false)
	q, err := queue.Open(filepath.Join(f.TempDir(), "queue"), queue.Options{Check: time.Hour})
	if err != nil {
		f.Fatal(err)
	}
	defer q.Close()
	p, err := q.Attach(queue.Session{ID: "fuzz"})
	if err != nil {
		f.Fatal(err)
	}
	defer p.Close()
	f.Fuzz(func(t *testing.T, server, name string, args []byte, words string, small uint8, at int64, n int, flag bool) {
		at = min(max(at, -62135596799), 253402300799) // the years 1 to 9999
		r := queue.Request{
			Deadline: time.Unix(at, int64(small)).UTC(), Server: server, Client: words, Project: name,
			Reason: words, Findings: args, Risk: words, Revision: name, Lasting: flag, NoOffer: words,
			Rule: policy.Rule{Action: []policy.Action{policy.Deny, policy.Prompt, policy.Allow}[small%3], Description: words, Index: n,
				Pos: policy.Position{File: name, Line: int(small), Column: n}},
		}
		copy(r.Digest[:], name)
		for i := range 1 + n&3 {
			c := policy.Call{Server: server, Method: words, Subject: policy.Subject(small), Names: []string{name, words}[:i%3], Args: args, Malformed: name}
			if i == 2 {
				c.Args, c.Names = nil, nil
			}
			r.Calls = append(r.Calls, c)
		}
		if flag {
			r.Offers = []view.Offer{{Scope: name, Title: words, Allow: server, Deny: name, Example: string(args)}, {}}
		}
		if n == 0 {
			r.Offers, r.Findings = []view.Offer{}, []byte{}
		}
		ticket, err := p.Put(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Get(ctx, ticket.ID())
		if err != nil {
			t.Fatal(err)
		}
		r.ID, r.Session, r.Created, r.Status = ticket.ID(), "fuzz", got.Created, queue.Pending
		if d := cmp.Diff(r, got); d != "" {
			t.Error(d)
		}
		if _, _, err := ticket.Resolve(ctx, queue.Expired, queue.Answer{}, words); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Get(ctx, ticket.ID()); err != nil {
			t.Error(err)
		}
	})
}
