package oauth

// NewHTTP is the way to what a server names.
var NewHTTP = newHTTP

// Near reports the addresses of a server in the owner's own network.
var Near = allPrivate

// MatchResource compares the resource of metadata with a server.
var MatchResource = matchResource
