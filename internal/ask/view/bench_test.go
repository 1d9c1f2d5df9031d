package view

import (
	"errors"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// large are arguments of about the size a frame may have.
func large(size int) map[string]string {
	return map[string]string{
		"text":       `{"content":"` + strings.Repeat(`some text in lines\n`, size/20) + `"}`,
		"cyrillic":   `{"content":"` + strings.Repeat("привет мир ", size/20) + `"}`,
		"escapes":    `{"content":"` + strings.Repeat(`\u202e\ud83d\ude00`, size/18) + `"}`,
		"command":    `{"command":"` + strings.Repeat("curl x -o y; rm -x; git push origin; dd if=a of=b; ", size/51) + `"}`,
		"digits":     `{"n":` + strings.Repeat("1", size) + `}`,
		"values":     `{"a":[` + strings.Repeat("1,", size/2) + `1]}`,
		"a thousand": `{"a":[` + strings.Repeat(`"`+strings.Repeat("a b ", size/4000)+`",`, 999) + `1]}`,
		"names":      `{"` + strings.Repeat("k", size) + `":1}`,
		"deep":       strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
	}
}

func BenchmarkOf(b *testing.B) {
	usual := map[string]string{"usual": `{"path":"/home/ann/project/main.go","edits":[{"oldText":"a\nb","newText":"a\nc"}],"dryRun":false}`}
	sets := []map[string]string{usual, large(1 << 20)}
	if !testing.Short() {
		sets = append(sets, large(64<<20))
	}
	for _, set := range sets {
		for name, args := range set {
			size := "64 MiB"
			if len(args) < 2<<20 {
				size = "1 MiB"
			}
			b.Run(name+"/"+size, func(b *testing.B) {
				calls := []policy.Call{call("edit_file", args)}
				b.SetBytes(int64(len(args)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := NewQuestion(calls, folders); err != nil && !errors.Is(err, ErrTooMany) {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Whatever comes, what is shown of it is bounded.
func TestWhatIsShownIsBounded(t *testing.T) {
	slow.Test(t)
	for name, args := range large(256 << 10) {
		q, err := NewQuestion([]policy.Call{call("edit_file", args)}, folders)
		if err != nil {
			if !errors.Is(err, ErrTooMany) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		n := 0
		for _, row := range append(q.Lines(80), q.EntireLines(80)...) {
			n += len(row)
		}
		if n > 16<<20 || len(q.Requests[0].Args) > maxValues {
			t.Errorf("%s: %d bytes are shown", name, n)
		}
		t.Logf("%s: %d bytes", name, n)
	}
}
