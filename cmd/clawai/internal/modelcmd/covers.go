package modelcmd

import (
	"sync"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/clientfiles"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
)

// coversFor is how long the result of reading a client's files is used before they are read again.
const coversFor = 5 * time.Second

// newCovers returns a function that finds the other transport that judges a call. address is the address
// of the connection that the call came on. If hooks is false, hooks do not count. Calls of another program
// than the client are uncovered.
func newCovers(row *client.Row, project string, hooks bool, from *peers) func(address string, req *client.Request) model.Cover {
	var mu sync.Mutex
	var read time.Time
	var hooked bool
	proxied := map[string]bool{}
	return func(address string, req *client.Request) model.Cover {
		if from.isOther(address, row) {
			return model.Uncovered
		}
		mu.Lock()
		defer mu.Unlock()
		if time.Since(read) > coversFor {
			read, hooked = time.Now(), hooks && clientfiles.IsHooked(row, project)
			clear(proxied)
		}
		behind := req.MCP
		for i := range req.Calls {
			server := req.Calls[i].Server
			if _, known := proxied[server]; req.MCP && server != "" && !known {
				proxied[server] = clientfiles.IsProxied(row, server, project)
			}
			behind = behind && proxied[server]
		}
		switch {
		case behind:
			return model.ByProxy
		case hooked && !from.changesHooks(address, row):
			return model.ByHook
		}
		return model.Uncovered
	}
}
