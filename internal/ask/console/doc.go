// Package console is where a person answers pending questions of the queue: in a full-screen list,
// or line by line where a screen cannot be drawn. It decides nothing. It sends the answer to the
// queue with the id of the request that was visible, and the first answer in the queue wins.
//
// The package shows foreign text only after package view or package term has made the text
// harmless. Input that was typed before the question could be read is never an answer. The package
// always restores the terminal's original mode.
package console
