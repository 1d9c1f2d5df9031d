// Package prove decides which rules of a policy no call can reach, and which
// calls two policies answer differently. It does not try samples: it compares
// the languages of the globs, that is, the sets of texts that they match. A
// witness shows that a rule is reached, or that two policies differ. It is a
// call that the policy itself has judged. A proof shows the opposite. All other
// results are called undecided.
//
// # The model
//
// A call is a subject, one name, a server with a known name, and at most one
// text for each argument that the rules name. A rule matches a product of
// languages: of the union of its name globs, of the union of its server globs,
// and, for each argument, of the union of the globs on this argument. A rule
// matches some calls only perhaps, which means that it cannot be known whether
// it matches (policy.GlobForms): relative paths under **/rest, and paths from
// an unknown base under absolute globs. A rule is reached when it may match
// some call that no rule above surely matches. So the question is whether a
// product of languages lies within a union of products.
//
// A sampling request may have several names, and a list has several values. The
// policy judges each of them by itself, so the model needs only one.
//
// # Readings
//
// A server may read a value in several ways, so the policy judges several
// readings of the value. Transformations make the readings, and each reading is
// compared with the globs after the same transformations. So the question is
// asked again for every set of transformations that changes one of the globs,
// in the languages of the changed globs. It is also asked for values that are
// no paths: there, only path globs see the transformed value, and other globs
// see the value as sent. The model lets path globs and other globs see
// independent texts then, which can only make a proof harder. Transformations
// that change no glob need no question: their readings are texts like any
// other, and the first question is about all texts. A reading may also match as
// another text (without its closing slash, with its host in lower case). Such a
// text only lets a rule above match more. AsWritten marks a proof that holds
// for the globs as written but not for all readings.
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
// A rule with such a condition covers only rules that have the same condition
// in the same words, for values on which the condition can be decided.
// Witnesses use examples of values that meet the constraint. For the constraint
// `under`, they use texts from the other conditions on the argument, placed in the folder. A
// comparison of two policies also counts values on which the constraint cannot
// be decided.
//
// A regex is a language, too (expression.go). A rule with a regex covers rules
// whose regex or one_of matches no other texts. Two rules whose
// expressions share no text share no call, unless one of them matches texts
// that the policy also judges in another form: texts that may be JSON, and
// texts with line breaks.
package prove
