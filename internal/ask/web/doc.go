// Package web is a page in the person's own browser that shows the questions
// waiting in the queue and takes the answers. It decides nothing: an answer goes
// to the queue, under the id and digest of the request the page showed, and the
// first answer wins.
//
// The server listens on a loopback address only, knows the browser by a key
// it handed out for a link that works once, and no cookie, and refuses every request
// that another site could have caused. It never answers to another name than the
// printed one, never serves a file of the disk, and never sends text that
// package view or term has not made harmless; the page puts text into text
// nodes and nowhere else. docs/approvals.md says what this protects from.
package web
