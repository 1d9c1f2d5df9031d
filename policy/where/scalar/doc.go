// Package scalar holds the constraints on one plain value: regex, one_of, min,
// max, max_length, type and present.
//
// JSON types are kept apart: the text "5" is no number, 5 is no text. A server
// may be less strict, and take one for the other. A rule that opens is not
// matched then; one that denies or asks is perhaps matched. In the same way
// numbers are compared exactly, as decimals, and where a server that computes in
// double precision (most do; RFC 8259, section 6) would see another answer, it
// is a maybe.
package scalar
