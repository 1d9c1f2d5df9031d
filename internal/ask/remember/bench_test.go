package remember

import (
	"strings"
	"testing"
)

// What a question costs before it is asked: with the policy of a person, and
// with one that a machine wrote.
func BenchmarkOffers(b *testing.B) {
	for name, rules := range map[string]int{"10 rules": 10, "1000 rules": 1000} {
		b.Run(name, func(b *testing.B) {
			src := strings.Repeat("[[rule]]\naction='deny'\ntool='shell_*'\nargs.path='/etc/**'\n", rules-1) + homePolicy
			k, q := ask(b, src, tool("write_file", `{"path":"/home/user/p/x/a.txt","content":"hi"}`))
			for b.Loop() {
				if offers, _ := k.Offers(q); len(offers) != 4 {
					b.Fatal(offers)
				}
			}
		})
	}
}
