// Package web holds the constraints on a URL: host, scheme and public.
//
// Programs do not agree on what a URL names: a browser (the WHATWG URL
// standard), a library (RFC 3986) and curl can each connect elsewhere for the
// same text, and that is how filters are passed (Orange Tsai, "A New Era of
// SSRF", Black Hat USA 2017). So a text is read by a grammar that is narrower
// than all of them. What it admits has one reading; what it does not, and could
// have a host, is a maybe; what has no host is a no.
//
// The package is pure. It asks no name server, so it knows nothing of where a
// public name leads.
package web
