package modelcmd

import (
	"sync"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/clientfiles"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
)

// coversFor is how long clawai uses the result of reading a client's files, before it reads them
// again.
const coversFor = 5 * time.Second

// newCovers returns a function that says what already judges a call: a proxy, a hook or nothing.
// address is the client's end of the connection of the call. If the parameter hooks is false, the
// function ignores the client's hooks. If the connection belongs to another program than the
// client, the result is Uncovered.
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
