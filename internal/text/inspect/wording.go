package inspect

import "github.com/clawai/clawai/internal/text/inspect/injection"

// findInjections finds stretches of text whose wording is like an attack. The kind is Injection, or
// InjectionStrict if the stretch reaches the higher level.
func findInjections(f *findings) {
	level := injection.Strict
	if f.wanted.hasKind(Injection) {
		level = injection.Likely
	}
	injection.FindStretches(f.text, level, func(start, end int, top injection.Level) {
		const what = "words like those of prompt injections"
		f.addFinding(Injection, what, start, end)
		if top >= injection.Strict {
			f.addFinding(InjectionStrict, what, start, end)
		}
	})
}
