// Package reading finds what a value of a call could mean to a server: text in, readings out. A
// path or a URL can be spelled in many ways, and it is not known which spellings a server
// resolves. So a value is put through every transformation that a server might apply, and each
// result is a reading. The package also reports what a text looks like: a path, a boolean, a
// place or a command.
//
// The package is pure and knows no rule.
package reading
