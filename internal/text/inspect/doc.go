// Package inspect finds what a text from a server carries beside what a person reads
// in it: characters that hide, text for a model's template, secrets, numbers of cards
// and accounts. It looks at form alone. What a text asks for in plain words it does not
// find, and nothing here says that it does (docs/detection.md).
//
// It is pure: a text, the kinds that are looked for, and what was found where.
package inspect
