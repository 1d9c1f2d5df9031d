package lint

import (
	"slices"

	"github.com/clawai/clawai/internal/check"
)

// Codes of findings. A released code never changes.
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
	SandboxCloses     = "sandbox-closes"
	SandboxOpens      = "sandbox-opens"
	IdlePreview       = "idle-preview"
	FewApprovers      = "few-approvers"
	UnreadFolder      = "unread-folder"

	ActsAmongApprovers = "acts-among-approvers"
)

// Kinds returns the kinds of all findings. The most serious kind comes first.
func Kinds() []check.FindingKind {
	return []check.FindingKind{
		{Code: DenyNeverWins, Severity: check.Error, Summary: "A deny or prompt stands below an allow that takes all its calls.",
			Why: "The first rule that matches decides, so calls that this rule would refuse are allowed."},
		{Code: BreakDodges, Severity: check.Error, Summary: "A regex of a deny or prompt misses a text that has a line break.",
			Why: "An agent can add a line break, and then the rule no longer refuses or asks."},
		{Code: UnreachableRule, Severity: check.Warning, Summary: "Rules above take every call that a rule matches.",
			Why: "The rule has no effect."},
		{Code: DuplicateRule, Severity: check.Warning, Summary: "A rule has the same conditions as one above.",
			Why: "The first rule that matches decides, so the second has no effect."},
		{Code: AllowAboveDeny, Severity: check.Warning, Summary: "An allow takes some of the calls that a deny below it names.",
			Why: "The deny refuses none of the calls that both match."},
		{Code: StarStops, Severity: check.Warning, Summary: "A deny has a * where ** seems to be meant, and texts with a slash there are allowed.",
			Why: "* stops at a slash, so the rule covers the files in a folder, but not those in its subfolders."},
		{Code: DeepStarCrosses, Severity: check.Warning, Summary: "A ** in a URL's host, or straight after it, matches other hosts.",
			Why: "** also matches slashes and dots, so a stranger can register an address that matches."},
		{Code: GlobOnCommand, Severity: check.Warning, Summary: "An allow compares a shell command or SQL with a glob.",
			Why: "The server also runs a text that follows the intended one."},
		{Code: WideAnswer, Severity: check.Warning, Summary: "A rule that \"always\" wrote about a command of one folder holds in every folder.",
			Why: "In another folder, the same words mean another program or file."},
		{Code: UnseenProgram, Severity: check.Warning, Summary: "A command pattern has a wildcard behind a program that runs other programs, or is not known.",
			Why: "The rule seems to allow these commands, but they are denied or asked about."},
		{Code: LiteralBracket, Severity: check.Warning, Summary: "Brackets, braces or a backslash that read like wildcards or escapes.",
			Why: "In a glob these characters have no special meaning, so the rule matches less than it seems to."},
		{Code: UnknownTool, Severity: check.Warning, Summary: "A tool that no server declares.",
			Why: "The rule matches nothing that exists; a misspelt deny denies nothing."},
		{Code: OtherArgumentName, Severity: check.Warning, Summary: "A deny names an argument, and the same value under another name is allowed.",
			Why: "A condition on an argument that a call does not have does not match."},
		{Code: SandboxCloses, Severity: check.Warning, Summary: "A rule allows a server what its sandbox does not open.",
			Why: "The call goes through, and the server answers that it cannot do it."},
		{Code: SandboxOpens, Severity: check.Note, Summary: "A sandbox opens what no rule asks its server for.",
			Why: "A server that turns hostile can use it without being asked."},
		{Code: FurtherArguments, Severity: check.Note, Summary: "How a rule treats arguments that it does not name.",
			Why: "A condition is only about its own argument; args_only and args_open decide which other arguments an allow accepts."},
		{Code: IdleException, Severity: check.Warning, Summary: "An exception excludes no call that its rule matches.",
			Why: "The rule has no such calls; perhaps another name was meant."},
		{Code: IdleAllow, Severity: check.Warning, Summary: "A narrower allow has no effect, because an allow below allows all its calls.",
			Why: "A call that the narrow allow does not match goes on to the wide one."},
		{Code: IdleLimit, Severity: check.Warning, Summary: "A limit that counts no call, or that a tighter limit always reaches first.",
			Why: "The limit never stops a call; perhaps other tools or another number were meant."},
		{Code: RedactedDoubt, Severity: check.Warning, Summary: "A rule removes texts that are often no secrets.",
			Why: "In every fourth source file, a value after a word such as password looks like a secret; an agent that reads and rewrites such a file destroys it."},
		{Code: IdleTrust, Severity: check.Warning, Summary: "A table about the trust in a server has no effect.",
			Why: "Without a level in [flow], or a rule with after, no earlier call affects a later one."},
		{Code: IdlePreview, Severity: check.Warning, Summary: "A rule wants previews, and no call that it asks about runs a command.",
			Why: "A preview runs the command of a call; without one, the question has none."},
		{Code: FewApprovers, Severity: check.Warning, Summary: "A rule wants more approvals than it names persons.",
			Why: "Nobody can ever allow such a call: it is denied each time, after a question."},
		{Code: ActsAmongApprovers, Severity: check.Warning, Summary: "An allow lets an agent write or click where approvers are asked.",
			Why: "It can write there what looks like a question or like the words of a colleague."},
		{Code: UnreadFolder, Severity: check.Warning, Summary: "Rules let tools act in a folder, and none lets them read there.",
			Why: "An agent that may change what it cannot see asks again and again, or works blindly; perhaps the list of folders to read has lost a name."},
		{Code: RepeatedGlob, Severity: check.Note, Summary: "A list has a glob that another glob of the list makes superfluous.",
			Why: "Without it the rule matches the same calls; perhaps another name was meant."},
		{Code: ClosedSubjects, Severity: check.Note, Summary: "The rules are only about tools.",
			Why: "Resources, prompts, sampling and elicitation stay closed until rules of their own open them."},
		{Code: LinksLeadOut, Severity: check.Note, Summary: "An allow for a folder does not look at symbolic links.",
			Why: "A link in the folder can lead out of it, and a glob compares only the text."},
		{Code: OpenArguments, Severity: check.Note, Summary: "An allow has no condition on the powerful arguments of its tool.",
			Why: "It matches any path, command, query or address in them."},
	}
}

func kindOf(code string) check.FindingKind {
	kinds := Kinds()
	return kinds[slices.IndexFunc(kinds, func(k check.FindingKind) bool { return k.Code == code })]
}
