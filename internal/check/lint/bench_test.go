package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/policy"
)

func BenchmarkRun300(b *testing.B) {
	var short []string
	short = append(short, "deny tool=* args.path=**/.ssh/**|**/.env|**/*.pem")
	for i := range 149 {
		short = append(short, fmt.Sprintf("allow tool=read-%d args.path=~/projects/p%d/**", i, i), fmt.Sprintf("deny tool=*-%d args.path=/srv/%d/**", i, i%7))
	}
	text := rules(strings.Join(append(short, "deny tool=**"), ";"))
	p, err := policy.Parse("p.toml", []byte(text), policy.Options{Home: "/home/u"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		lint.Run(p, []byte(text), lint.Options{})
	}
}
