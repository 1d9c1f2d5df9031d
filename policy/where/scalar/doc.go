// Package scalar holds the constraints on one plain value: regex, one_of, min, max, max_length,
// type and present.
//
// JSON types are kept apart: the text "5" is not a number, and 5 is not a text. A less strict
// server may read one as the other. Then an allow rule does not match, and a deny or prompt rule
// matches with Maybe. Numbers are compared exactly, as decimals. But most servers compute in double
// precision (RFC 8259, section 6). If such a server would get another answer, the answer is Maybe.
package scalar
