package oauth

// NewHTTP is the way to what a server names.
var NewHTTP = newHTTP
