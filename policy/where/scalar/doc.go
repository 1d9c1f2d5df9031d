// Package scalar holds the constraints on one plain value: regex, one_of, min,
// max, max_length, type and present.
//
// JSON types are kept apart: the text "5" is not a number, and 5 is not a text. A less
// strict server may read one as the other. Then a rule that allows does not match, and
// a rule that denies or asks perhaps matches. In the same way numbers are compared
// exactly, as decimals. When a server that computes in double precision (most do; RFC
// 8259, section 6) would get another answer, the answer is a maybe.
package scalar
