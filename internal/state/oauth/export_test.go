package oauth

import (
	"net/http"
	"net/url"

	"github.com/clawai/clawai/internal/state/egress"
)

// NewHTTP is the way to what a server names.
func NewHTTP(server *url.URL) *http.Client { return newHTTP(server, egress.Network{}) }

// Near reports the addresses of a server in the owner's own network.
var Near = allPrivate

// MatchResource compares the resource of metadata with a server.
var MatchResource = matchResource

// ReadPasted reads what the owner pasted.
var ReadPasted = readPasted

// AdviseNext is what a person reads of a refusal with this code.
func AdviseNext(code string, chosen Choices, id, server string) error {
	return terms{Choices: chosen, id: id}.adviseNext(&refusal{"the server", errorCode(code)}, server)
}
