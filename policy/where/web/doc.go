// Package web holds the constraints on a URL: host, scheme and public.
//
// Programs do not agree on what a URL names: a browser (the WHATWG URL standard), a library (RFC
// 3986) and curl can connect to different hosts for the same text, and attackers use this to bypass
// filters (Orange Tsai, "A New Era of SSRF", Black Hat USA 2017). So this package accepts fewer
// texts than any of these programs. All programs find the same host in a text that it accepts. For
// any other text the answer is Maybe if the text could have a host, and No if it has none.
//
// The package is pure. It asks no name server, so it does not know the addresses of a public name.
package web
