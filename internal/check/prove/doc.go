// Package prove decides questions about policies by the languages of their
// globs, not by samples: which rules no call can reach, and which calls two
// policies answer differently. A positive result comes with a call as witness,
// which the real policy has checked. A negative result is proved. All other
// results are called undecided.
//
// # The model
//
// A call is a subject, one name, a server with a known name, and at most one
// text for each argument that the rules name. A rule matches a product of
// languages: of its name glob, of its server glob, and for each argument of the
// union of its globs. A rule also matches some calls only perhaps
// (policy.GlobForms): relative paths under **/rest, and paths from an unknown
// base under absolute globs. A rule is reached when it may match some call that
// no rule above surely matches. So the question is whether a product of
// languages lies within a union of products.
//
// Several names (of a sampling request) and several values (of a list) are
// readings. Each is judged by itself, so one of each is enough.
//
// # Readings
//
// A value is judged by readings of it. Transformations make the readings, and
// each reading is compared with the globs after the same transformations. So
// the question is asked again for every set of transformations that changes one
// of the globs, in the languages of the changed globs. It is also asked for the
// readings of plain text that only path globs see; other globs then see the
// value as sent. The two are treated as independent, which can only make a
// proof harder. Transformations that change no glob add nothing: they make
// readings that are texts like any other, and those texts were asked about. A
// reading also matches as texts other than its own (without its closing slash,
// with its host in lower case). These texts were asked about as well, and they
// only let a rule above match more. AsWritten marks a proof that holds for the
// globs as written but not for all readings.
//
// A rule about texts that hold JSON applies to the values inside them as well.
// Such a value is judged together with its text, which the model does not have.
// So such a rule leaves a comparison undecided, and a proof is only about
// values as written.
//
// For calls in the model it is unknown in which folder relative paths start.
// Where the folder would make a difference, proofs are called undecided
// (folder.go).
//
// The model leaves out values that are refused. A refused value matches no
// allow, and matches every deny or prompt on its argument whatever the globs.
//
// # Typed constraints and times
//
// A constraint (where) or a time (when) is a condition that no glob expresses.
// A rule with one covers only rules with textually the same one, for values on
// which the condition can be decided. Witnesses use examples of the constraint;
// for under, they use texts from the other conditions on the argument, placed
// in the folder. A comparison of two policies also counts values on which the
// constraint cannot be decided.
//
// A regex is a language, too (expression.go). A rule with a regex covers rules
// whose expression matches no more texts, and rules whose texts it matches. Two
// rules whose expressions share no text share no call, unless one of them
// matches texts that the policy also judges in another form: texts that may be
// JSON, and texts with line breaks.
package prove
