// Package textclass classifies text from strangers: which characters hide, move or imitate text;
// what a tool does, by its name; which names and places hold secrets. There is one table for each
// of these questions. If packages need different tables for one question, the comments of the
// tables give the reason. The package imports no other package of this module.
package textclass
