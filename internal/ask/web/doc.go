// Package web is a page in the person's own browser that shows the pending questions of the queue
// and takes the answers. It decides nothing: an answer goes to the queue, with the id and digest
// of the request that the page showed, and the first answer wins. Beside the questions it shows
// views, which it is given as trees of texts (Views); it knows nothing of the record.
//
// The server listens only on a loopback address. It recognizes the browser by a key that it
// exchanged for a one-time link, not by a cookie, and refuses every request that another site
// could have caused. It never answers to another host name than the printed one, never serves a
// file from disk, and never sends text that package view or term has not made harmless; the page
// puts text only into text nodes. docs/approvals.md lists the threats that this stops.
package web
