// Package web is a page in the person's own browser. It shows the pending questions of the queue
// and takes the answers. It decides nothing: it sends an answer to the queue with the id and digest
// of the request that the page showed, and the first answer in the queue wins. The page also shows
// views, such as the calls and sessions. Views makes them as trees of texts, because this package
// does not know the record.
//
// The server listens only on a loopback address. A browser gets in with a one-time link, and
// receives a key for it; cookies are not used. The server refuses every request that another site
// can have caused, and every host name other than the printed one. It never serves a file from
// disk, and never sends text that package view or package term has not made harmless. The page puts
// texts only into text nodes. docs/approvals.md lists the threats that this stops.
package web
