// Package console is where a person answers pending questions of the queue: in a full-screen
// list, or line by line where a screen cannot be drawn. It decides nothing: an answer goes to the
// queue, with the id of the request that was visible, and the first answer wins.
//
// It never shows text from a stranger that package view or term has not made harmless. It never
// takes input as an answer that was typed before the question could be read. It always restores
// the terminal's original mode.
package console
