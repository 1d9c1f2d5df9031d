// Package reading finds what a value of a call could mean to a server: each possible meaning is a
// reading. A path or a URL can be spelled in many ways, and the policy does not know which
// spellings a server resolves. So the package applies every transformation to a value that a server
// might apply. Each result is a reading. The package also reports what a text looks like: a path, a
// boolean, a place or a command.
//
// The package is pure and knows no rule.
package reading
