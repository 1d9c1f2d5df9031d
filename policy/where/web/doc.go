// Package web holds the constraints on a URL: host, scheme and public.
//
// Programs do not agree on what a URL names: a browser (the WHATWG URL standard), a
// library (RFC 3986) and curl can connect to different hosts for the same text, and
// attackers use this to bypass filters (Orange Tsai, "A New Era of SSRF", Black Hat
// USA 2017). So a text is read by a grammar that is narrower than all of them. A text
// that the grammar accepts has one reading. A text that it does not accept is a maybe
// if it could have a host, and a no if it has none.
//
// The package is pure. It asks no name server, so it cannot tell where a public name
// leads.
package web
