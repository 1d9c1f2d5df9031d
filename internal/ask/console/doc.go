// Package console is where a person answers the questions that wait in the
// queue: a full-screen list of them, or line by line where the screen cannot be
// painted. It decides nothing: an answer goes to the queue, under the id of the
// request that was under the person's eyes, and the first answer wins.
//
// It never shows text from a stranger that package view or term has not made
// harmless, never takes for an answer what was typed before the question could
// be read, and never leaves the terminal in another mode than it was found in.
package console
