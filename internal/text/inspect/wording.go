package inspect

import "github.com/clawai/clawai/internal/text/inspect/injection"

// findInjections finds stretches that are worded like attacks, at either level.
func findInjections(f *findings) {
	level := injection.Strict
	if f.wanted.has(Injection) {
		level = injection.Likely
	}
	injection.Find(f.text, level, func(start, end int, top injection.Level) {
		const what = "words like those of prompt injections"
		f.add(Injection, what, start, end)
		if top >= injection.Strict {
			f.add(InjectionStrict, what, start, end)
		}
	})
}
