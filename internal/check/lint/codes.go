package lint

import (
	"slices"

	"github.com/clawai/clawai/internal/check"
)

// The codes of findings. They are stable.
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
	RepeatedGlob      = "repeated-glob"
	IdleException     = "idle-exception"
	BreakDodges       = "line-break-dodges"
	IdleAllow         = "idle-allow"
	IdleLimit         = "idle-limit"
	RedactedDoubt     = "redacted-doubt"
	IdleTrust         = "idle-trust"
	WideAnswer        = "wide-answer"
)

// Kinds returns all codes, gravest first.
func Kinds() []check.FindingKind {
	return []check.FindingKind{
		{Code: DenyNeverWins, Severity: check.Error, Summary: "A deny or prompt stands below an allow that takes all its calls.",
			Why: "The first rule that matches decides, so what was to be refused is allowed."},
		{Code: BreakDodges, Severity: check.Error, Summary: "A regex of a deny or prompt misses a text for a line break in it.",
			Why: "Whoever makes the call puts one in, and what was to be refused or asked about is not."},
		{Code: UnreachableRule, Severity: check.Warning, Summary: "Rules above take every call that a rule matches.",
			Why: "The rule has no effect, whatever its author expects of it."},
		{Code: DuplicateRule, Severity: check.Warning, Summary: "A rule has the same conditions as one above.",
			Why: "The first rule that matches decides; the second is never asked."},
		{Code: AllowAboveDeny, Severity: check.Warning, Summary: "An allow takes some of the calls that a deny below it names.",
			Why: "Of the calls that both match, the deny refuses none."},
		{Code: StarStops, Severity: check.Warning, Summary: "A deny has a * where ** seems to be meant, and what has a slash there is allowed.",
			Why: "* stops at a slash, so the rule covers a folder's own files and nothing below."},
		{Code: DeepStarCrosses, Severity: check.Warning, Summary: "A ** in a URL's host, or straight after it, matches other hosts.",
			Why: "** matches slashes and dots as well, so a stranger's address can be made to fit."},
		{Code: GlobOnCommand, Severity: check.Warning, Summary: "An allow compares a shell command or SQL with a glob.",
			Why: "What follows the text that was meant is run as well."},
		{Code: WideAnswer, Severity: check.Warning, Summary: "A rule that \"always\" wrote about a command of one folder holds in every folder.",
			Why: "The same letters name another program or file in another folder."},
		{Code: UnseenProgram, Severity: check.Warning, Summary: "A pattern of commands has a wildcard behind a program that nobody can see into.",
			Why: "The commands that it seems to open are denied, or asked about."},
		{Code: LiteralBracket, Severity: check.Warning, Summary: "Brackets, braces or a backslash that read like wildcards or escapes.",
			Why: "In a glob they stand for themselves, so the rule matches less than it seems to."},
		{Code: UnknownTool, Severity: check.Warning, Summary: "A tool that no server declares.",
			Why: "The rule matches nothing that exists; a misspelt deny denies nothing."},
		{Code: OtherArgumentName, Severity: check.Warning, Summary: "A deny names an argument, and the same value under another name is allowed.",
			Why: "A condition on an argument that a call does not have does not match."},
		{Code: FurtherArguments, Severity: check.Note, Summary: "What a rule says of the arguments that it does not name.",
			Why: "A condition on one argument says nothing of the others; which of them an allow accepts is for args_only and args_open to say."},
		{Code: IdleException, Severity: check.Warning, Summary: "An exception leaves out nothing that its rule matches.",
			Why: "What it names is not among the rule's calls; perhaps another name was meant."},
		{Code: IdleAllow, Severity: check.Warning, Summary: "An allow below takes all that a narrower allow does, which so restricts nothing.",
			Why: "A call that the narrow allow does not match goes on to the wide one."},
		{Code: IdleLimit, Severity: check.Warning, Summary: "A limit that no call counts against, or that a tighter one never lets it come to.",
			Why: "It holds nothing back; perhaps other tools or another number were meant."},
		{Code: RedactedDoubt, Severity: check.Warning, Summary: "A rule takes out what is often something else.",
			Why: "What stands behind a word such as password is taken for a secret in every fourth source file; an agent that reads one and writes it back destroys it."},
		{Code: IdleTrust, Severity: check.Warning, Summary: "A table says how far a server is trusted, and nothing looks at it.",
			Why: "Without a level of [flow], or a rule with after, no call is judged by what came before it."},
		{Code: RepeatedGlob, Severity: check.Note, Summary: "A list has a glob that another one of it makes superfluous.",
			Why: "The rule matches the same without it; perhaps another name was meant."},
		{Code: ClosedSubjects, Severity: check.Note, Summary: "The rules speak of tools only.",
			Why: "Resources, prompts, sampling and elicitation stay closed until rules of their own open them."},
		{Code: LinksLeadOut, Severity: check.Note, Summary: "An allow for a folder does not look at symbolic links.",
			Why: "A link inside the folder can lead out of it, and a glob sees only the text."},
		{Code: OpenArguments, Severity: check.Note, Summary: "An allow says nothing of the arguments of a tool that has powerful ones.",
			Why: "It matches whatever path, command, query or address they hold."},
	}
}

func kindOf(code string) check.FindingKind {
	kinds := Kinds()
	return kinds[slices.IndexFunc(kinds, func(k check.FindingKind) bool { return k.Code == code })]
}
