package lint

import (
	"slices"

	"github.com/clawai/clawai/policy/check/report"
)

// The codes of findings: stable words.
const (
	UnreachableRule   = "unreachable-rule"
	DuplicateRule     = "duplicate-rule"
	DenyNeverWins     = "deny-never-wins"
	AllowAboveDeny    = "allow-above-deny"
	StarStops         = "star-stops-at-slash"
	DeepStarCrosses   = "deep-star-crosses-host"
	LiteralBracket    = "literal-bracket"
	ClosedSubjects    = "closed-subjects"
	LinksLeadOut      = "links-lead-out"
	UnknownTool       = "unknown-tool"
	OtherArgumentName = "other-argument-name"
	OpenArguments     = "open-arguments"
	GlobOnCommand     = "glob-on-command"
	UnseenProgram     = "unseen-program"
	FurtherArguments  = "further-arguments"
)

// Kind is what a code stands for.
type Kind struct {
	Code     string
	Severity report.Severity // most findings of the code have this
	Summary  string
	Why      string
}

// Kinds lists all codes, the gravest first.
func Kinds() []Kind {
	return []Kind{
		{DenyNeverWins, report.Error, "A deny or prompt stands below an allow that takes all its calls.",
			"The first rule that matches decides, so what was to be refused is allowed."},
		{UnreachableRule, report.Warning, "Rules above take every call that a rule matches.",
			"The rule has no effect, whatever its author expects of it."},
		{DuplicateRule, report.Warning, "A rule has the same conditions as one above.",
			"The first rule that matches decides; the second is never asked."},
		{AllowAboveDeny, report.Warning, "An allow takes some of the calls that a deny below it names.",
			"Of the calls that both match, the deny refuses none."},
		{StarStops, report.Warning, "A deny has a * where ** seems to be meant, and what has a slash there is allowed.",
			"* stops at a slash, so the rule covers a folder's own files and nothing below."},
		{DeepStarCrosses, report.Warning, "A ** in a URL's host, or straight after it, matches other hosts.",
			"** matches slashes and dots as well, so a stranger's address can be made to fit."},
		{GlobOnCommand, report.Warning, "An allow compares a shell command or SQL with a glob.",
			"What follows the text that was meant is run as well."},
		{UnseenProgram, report.Warning, "A pattern of commands has a wildcard behind a program that nobody can see into.",
			"The commands that it seems to open are denied, or asked about."},
		{LiteralBracket, report.Warning, "Brackets, braces or a backslash that read like wildcards or escapes.",
			"In a glob they stand for themselves, so the rule matches less than it seems to."},
		{UnknownTool, report.Warning, "A tool that no server declares.",
			"The rule matches nothing that exists; a misspelt deny denies nothing."},
		{OtherArgumentName, report.Warning, "A deny names an argument, and the same value under another name is allowed.",
			"A condition on an argument that a call does not have does not match."},
		{FurtherArguments, report.Note, "What a rule says of the arguments that it does not name.",
			"A condition on one argument says nothing of the others; which of them an allow accepts is for args_only and args_open to say."},
		{ClosedSubjects, report.Note, "The rules speak of tools only.",
			"Resources, prompts, sampling and elicitation stay closed until rules of their own open them."},
		{LinksLeadOut, report.Note, "An allow for a folder does not look at symbolic links.",
			"A link inside the folder can lead out of it, and a glob sees only the text."},
		{OpenArguments, report.Note, "An allow says nothing of the arguments of a tool that has powerful ones.",
			"It matches whatever path, command, query or address they hold."},
	}
}

func kindOf(code string) Kind {
	kinds := Kinds()
	return kinds[slices.IndexFunc(kinds, func(k Kind) bool { return k.Code == code })]
}

func severityOf(code string) report.Severity { return kindOf(code).Severity }
func whyOf(code string) string               { return kindOf(code).Why }
