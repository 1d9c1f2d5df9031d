package proxy

import (
	"context"

	"github.com/clawai/clawai/internal/mcp"
)

// announceListChanges sends list_changed notifications to the client when the rules change. It
// sends them in the server's name, because the server does not know that its lists look different
// to the client now.
func (s *session) announceListChanges(ctx context.Context, rules <-chan struct{}, toClient, toServer Sink) {
	told := &Stream{&receiver{s: s, from: mcp.ServerToClient, out: toClient, back: toServer}}
	screened := s.o.Gate.Screens()
	for {
		select {
		case <-rules:
		case <-ctx.Done():
			return
		}
		before := screened
		rules, screened = s.o.Gate.RulesChanged(), s.o.Gate.Screens()
		kinds := s.lists.Load()
		if kinds == nil || !before && !screened {
			continue
		}
		for _, kind := range *kinds {
			told.HandleLines(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/`+kind+`/list_changed"}`))
		}
	}
}
