// Package textclass classifies text from strangers: which characters hide, move or imitate text,
// what a tool does by its name, and which names and places hold secrets. There is one table for
// each question, with the reason for each difference between the packages that use it. It imports
// no other package of this module.
package textclass
