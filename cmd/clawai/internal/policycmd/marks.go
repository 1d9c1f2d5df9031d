package policycmd

import (
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

func newMark(color, pattern string) cmdline.Mark {
	return cmdline.Mark{Pattern: pattern, Color: color}
}

// These marks color the reports of the commands: the results, and the compared decisions.
var (
	checkMarks = []cmdline.Mark{
		newMark(cmdline.Green, `: (ok), .*revision [0-9a-f]+$`),
		newMark(cmdline.Red, `^\S.*?:\d+:\d+: (.*)`),
	}
	lintMarks = []cmdline.Mark{
		newMark(cmdline.Red, `^\S.*?:\d+:\d+: (error):`),
		newMark(cmdline.Yellow, `^\S.*?:\d+:\d+: (warning):`),
		newMark(cmdline.Dim, `^( +(?:\d+|why|fix|call) \|)`),
		newMark(cmdline.Yellow, `^\S.*?:\d+: (not decided)`),
		newMark(cmdline.Green, `^\S.*: \d+ rules?, (0 findings)`),
		newMark(cmdline.Yellow, `^\S.*: \d+ rules?, ([1-9]\d* findings?)`),
	}
	// ExplainMarks color the decision of each rule, and the final decision.
	ExplainMarks = slices.Concat(
		cmdline.AnswerMarks(`^(?:yes|no|maybe|-) +\S.*?:\d+ +`),
		cmdline.AnswerMarks(`^`),
		[]cmdline.Mark{
			newMark(cmdline.Bold, `^(yes)  `), newMark(cmdline.Yellow, `^(maybe)  `), newMark(cmdline.Dim, `^(no|-)  `),
			newMark(cmdline.Red, `^(refused) before`),
		})
	testMarks = slices.Concat([]cmdline.Mark{
		newMark(cmdline.Green, `^(ok) `), newMark(cmdline.Red, `^(FAIL) `), newMark(cmdline.Red, `^(ERROR) `),
		newMark(cmdline.Green, `^\d+ fixtures?: (\d+ as expected), 0 mis.* 0 unr`),
		newMark(cmdline.Red, `^\d+ fixtures?: .*, ([1-9]\d* mismatched)`),
		newMark(cmdline.Red, `^\d+ fixtures?: .*, ([1-9]\d* unreadable)`),
	}, cmdline.AnswerMarks(`^(?:ok|FAIL|-) +`))
	coverMarks = []cmdline.Mark{
		newMark(cmdline.Yellow, `^\S.*?:\d+: (never \w+|no fixture notices this change):`),
		newMark(cmdline.Green, `^\S.*: the fixtures \w+ .* (\(100\.0 %\))`),
		newMark(cmdline.Yellow, `^\S.*: the fixtures \w+ .* (\(\d\d?\.\d %\))`),
	}
	showMarks = []cmdline.Mark{
		newMark(cmdline.Bold, `^(\S.*)  \(`), newMark(cmdline.Green, `^ +(allowed|passed)  `),
		newMark(cmdline.Yellow, `^ +(asked|fenced|taken out|warned)  `), newMark(cmdline.Red, `^ +(refused|withheld)  `),
	}
	diffMarks = slices.Concat([]cmdline.Mark{
		newMark(cmdline.Bold, `^((?:Newly|No longer|Allowed under|Asked) .*)`),
		newMark(cmdline.Yellow, `^(Not decided)`),
		newMark(cmdline.Green, `^(no call is answered differently)`),
		newMark(cmdline.Yellow, `^(\d+ class(?:es)? of calls)`),
	}, cmdline.AnswerMarks(`^    (?:was|is ) `))
	replayMarks = slices.Concat([]cmdline.Mark{newMark(cmdline.Bold, `^((?:Answers, n|N)(?:ewly|ot) [\w ]+): `)},
		cmdline.AnswerMarks(`^    `), cmdline.AnswerMarks(`^    \w+ .* -> `))
)
