// Package reply carries out what rules say of a message that comes back: it finds what
// the message's strings carry, and gives the message with the findings taken out, with
// marks around it, or without some entries of a list. Every byte outside the parts it
// names stays as it was; what it gives is admitted by internal/wire/frame again.
//
// It is pure: a message, what is looked for, what shall be done, and the bytes of the
// result. Which rule says so is for the caller.
package reply
