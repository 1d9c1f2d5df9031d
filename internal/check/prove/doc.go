// Package prove decides about policies by the languages of their globs, not by
// samples: which rules no call can reach, and which calls two policies answer
// differently. What it says is possible comes with a call as witness, checked by
// the real policy; what it says is impossible is proved; the rest it calls
// undecided.
//
// # The model
//
// A call is a subject, one name, a server whose name is known, and for each
// argument that the rules speak of one text or none. A rule matches a product of
// languages: of its name glob, its server glob, and for each argument the union
// of its globs. Beside what it surely matches there is what it may match
// (policy.GlobForms): relative paths under **/rest, paths from an unknown base under
// absolute globs. A rule is reached when some call that it may match is matched
// surely by no rule above it; so it is asked whether a product of languages lies
// within a union of products.
//
// Several names (of a sampling request) and several values (of a list) are
// readings, each judged by itself, so nothing is lost by taking one of each.
//
// # Readings
//
// A value is judged by readings of it, made by transformations, and a reading is
// compared with the globs put through the same transformations. So the question
// is put again for every set of transformations that changes a glob concerned,
// in the languages of what the globs become, and for the readings of plain text
// that only globs about paths see (others then see the value as sent; the two are
// taken as independent, which can only make a proof harder). Transformations that
// change no glob make readings that are texts like others, and the value that is
// such a text has been asked about. What a reading matches beside its own text
// (without its closing slash, its host in lower case) are texts that have been
// asked about as well, and a rule above can match the more by it. A proof that
// holds for the globs as written and not for all of these says so (AsWritten).
//
// A rule about texts that hold JSON speaks for the values in them as well; a value is
// then judged together with its text, of which the model knows nothing. Such a rule
// leaves a comparison undecided, and a proof is about values as they are written.
//
// Calls are such of which it is not known in which folder relative paths start. Where
// that would make a difference, proofs are called undecided (folder.go).
//
// Left out are values that are refused: they pass every allow and meet every
// deny or prompt on their argument, whatever its globs.
//
// # Typed constraints and times
//
// A constraint (where) or time (when) is a condition that no glob tells. A
// rule that has one is taken to cover only what has textually the same one, for
// values of which it can be decided; witnesses are sought among examples of it, and
// for under among what is asked of the same argument, put into the folder. Where two
// policies are compared, values of which it cannot be decided count as well.
//
// A regex is a language, too (expression.go): a rule that has one covers what must
// match an expression that holds no more, or be one of texts that it matches. Two
// rules whose expressions share no text share no call, unless one of the two holds
// texts that the policy also judges by others: those that may be JSON, and those
// with breaks.
package prove
