package gate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// sink is the cheapest Recorder, Approver and Outlet.
type sink struct{}

func (sink) Record(...*event.Event) error                  { return nil }
func (sink) Ask(context.Context, Question) (Answer, error) { return Answer{}, nil }
func (sink) Forward(*Exchange) error                       { return nil }
func (sink) Refuse(*Exchange, Verdict)                     {}
func (sink) Waiting(*Exchange, time.Duration)              {}

// fixed is a Policy that always decides the same.
type fixed policy.Decision

func (f *fixed) DecideAll([]policy.Call) policy.Decision              { return policy.Decision(*f) }
func (*fixed) Hint([]policy.Call) string                              { return "" }
func (*fixed) AlterReply([]policy.Call, []string) []policy.Alteration { return nil }
func (*fixed) Timed() bool                                            { return false }
func (*fixed) Labelled() bool                                         { return false }
func (*fixed) Packs() []policy.Pack                                   { return nil }
func (*fixed) Pin(string) policy.Pin                                  { return 0 }
func (*fixed) Revision() string                                       { return "" }
func (*fixed) Screens(policy.On) ([]string, bool)                     { return nil, false }
func (*fixed) FindsIn(*policy.Call) bool                              { return false }
func (*fixed) DecideReply(policy.On, []policy.Call, []string) policy.Decision {
	return policy.Decision{Action: policy.Allow}
}

func bench(b *testing.B, r *policy.Rule, calls, n int) {
	s, err := New(alone(Options{Policy: &fixed{Action: r.Action, Rule: r}, Recorder: sink{}, Approver: sink{}}))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	raw := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"` + strings.Repeat("a", 50) + `"}}}`)
	xs := make([]*Exchange, n)
	for i := range xs {
		xs[i] = &Exchange{Raw: raw, Out: sink{}}
		xs[i].Calls = make([]policy.Call, calls)
	}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		s.Do(ctx, xs...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/exchange")
}

func BenchmarkDo(b *testing.B) {
	b.Run("allow", func(b *testing.B) { bench(b, allowRule, 1, 1) })
	b.Run("deny", func(b *testing.B) { bench(b, denyRule, 1, 1) })
	b.Run("pass", func(b *testing.B) { bench(b, allowRule, 0, 1) })
	b.Run("allow-64", func(b *testing.B) { bench(b, allowRule, 1, 64) })
}

// BenchmarkDigest is what a digest of every frame would cost.
func BenchmarkDigest(b *testing.B) {
	for _, n := range []int{150, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			raw := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				sha256.Sum256(raw)
			}
		})
	}
}
