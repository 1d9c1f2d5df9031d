package reply

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

// sources is source code of Go's own, about a MiB.
func sources(b *testing.B) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http", "*.go"))
	if err != nil {
		b.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(src)
	}
	return all.String()
}

// BenchmarkLook is a look for everything, at a reply of source code, and what taking all
// keys out of it adds. Twice as long a text must take no more than twice the time.
func BenchmarkLook(b *testing.B) {
	code := sources(b)
	for _, kib := range []int{64, 512, 1024, 2048, 4096, 8192} {
		name := fmt.Sprintf("%dKiB", kib)
		text, _ := json.Marshal(strings.Repeat(code, 9)[:kib<<10] + token1)
		line := []byte(result(`{"content":[{"type":"text","text":` + string(text) + `}]}`))
		wanted, _ := ParseWanted([]string{"*"})
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			n := numbers()
			for b.Loop() {
				f, err := frame.Parse(line, frame.DefaultLimits())
				if err != nil {
					b.Fatal(err)
				}
				m, err := InspectMessage(&f, "tools/call", wanted)
				if err != nil || len(m.Findings) == 0 {
					b.Fatal(err, m.Findings)
				}
				if _, err := m.AlterMessage(&Change{Redact: m.all("secret")}, n, frame.DefaultLimits()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
