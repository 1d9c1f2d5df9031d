package policycmd

import (
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

func mark(color, pattern string) cmdline.Mark {
	return cmdline.Mark{Pattern: pattern, Color: color}
}

// What is colored of each report: how it ended, and the answers that it compares.
var (
	checkMarks = []cmdline.Mark{
		mark(cmdline.Green, `: (ok), .*revision [0-9a-f]+$`),
		mark(cmdline.Red, `^\S.*?:\d+:\d+: (.*)`),
	}
	lintMarks = []cmdline.Mark{
		mark(cmdline.Red, `^\S.*?:\d+:\d+: (error):`),
		mark(cmdline.Yellow, `^\S.*?:\d+:\d+: (warning):`),
		mark(cmdline.Dim, `^( +(?:\d+|why|fix|call) \|)`),
		mark(cmdline.Yellow, `^\S.*?:\d+: (not decided)`),
		mark(cmdline.Green, `^\S.*: \d+ rules?, (0 findings)`),
		mark(cmdline.Yellow, `^\S.*: \d+ rules?, ([1-9]\d* findings?)`),
	}
	// ExplainMarks are of what every rule says, and of the answer.
	ExplainMarks = slices.Concat(
		cmdline.Answers(`^(?:yes|no|maybe|-) +\S.*?:\d+ +`),
		cmdline.Answers(`^`),
		[]cmdline.Mark{
			mark(cmdline.Bold, `^(yes)  `), mark(cmdline.Yellow, `^(maybe)  `), mark(cmdline.Dim, `^(no|-)  `),
			mark(cmdline.Red, `^(refused) before`),
		})
	testMarks = slices.Concat([]cmdline.Mark{
		mark(cmdline.Green, `^(ok) `), mark(cmdline.Red, `^(FAIL) `), mark(cmdline.Red, `^(ERROR) `),
		mark(cmdline.Green, `^\d+ fixtures?: (\d+ as expected), 0 mis.* 0 unr`),
		mark(cmdline.Red, `^\d+ fixtures?: .*, ([1-9]\d* mismatched)`),
		mark(cmdline.Red, `^\d+ fixtures?: .*, ([1-9]\d* unreadable)`),
	}, cmdline.Answers(`^(?:ok|FAIL|-) +`))
	coverMarks = []cmdline.Mark{
		mark(cmdline.Yellow, `^\S.*?:\d+: (never \w+|no fixture notices this change):`),
		mark(cmdline.Green, `^\S.*: the fixtures \w+ .* (\(100\.0 %\))`),
		mark(cmdline.Yellow, `^\S.*: the fixtures \w+ .* (\(\d\d?\.\d %\))`),
	}
	diffMarks = slices.Concat([]cmdline.Mark{
		mark(cmdline.Bold, `^((?:Newly|No longer|Allowed under|Asked) .*)`),
		mark(cmdline.Yellow, `^(Not decided)`),
		mark(cmdline.Green, `^(no call is answered differently)`),
		mark(cmdline.Yellow, `^(\d+ class(?:es)? of calls)`),
	}, cmdline.Answers(`^    (?:was|is ) `))
	replayMarks = slices.Concat([]cmdline.Mark{mark(cmdline.Bold, `^((?:Answers, n|N)(?:ewly|ot) [\w ]+): `)},
		cmdline.Answers(`^    `), cmdline.Answers(`^    \w+ .* -> `))
)
