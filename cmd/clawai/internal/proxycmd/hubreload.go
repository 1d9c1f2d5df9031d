package proxycmd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
)

// members are the servers as the hub is given them.
func members(all []config.Upstream, open func(config.Upstream) (proxy.Upstream, error)) (given []hub.Server) {
	for _, s := range all {
		given = append(given, hub.Server{
			ID: s.ID, Prefix: s.Prefix, Idle: s.Idle, Timeout: s.Timeout, Offers: offered(s), Digest: digest(s),
			Open: func() (proxy.Upstream, error) { return open(s) },
		})
	}
	return given
}

// digest is of all that the configuration says of a server, with its variables put in.
func digest(s config.Upstream) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %q %q %s %s %v",
		s.ID, s.Prefix, s.Command, s.URL, s.Env, s.Header, s.Dir, s.Tools, s.Hide, s.Idle, s.Timeout, s.Unusable)))
}

// follow puts other servers in force when config.toml has them, until ctx ends. A file that
// is broken leaves those that are there.
func (h *hubRun) follow(ctx context.Context, guard *gate.Session, put func([]config.Upstream)) {
	inForce := digests(h.hub.Servers)
	config.WatchHub(ctx, h.run.folders, os.LookupEnv, func(now config.Hub, err error) {
		if err != nil {
			fmt.Fprintf(os.Stderr, "clawai: the servers stay as they are: %v\n", err)
			_ = guard.Note(&event.Event{Kind: event.Chatter, Code: "servers", Detail: err.Error()})
			return
		}
		next := slices.DeleteFunc(h.chosen(now.Servers), func(s config.Upstream) bool {
			late := h.run.here && isElsewhere(s)
			if late {
				fmt.Fprintf(os.Stderr, "clawai: upstream.%s begins with the next session: it runs elsewhere, and the paths of this session's servers are looked up on this disk\n", s.ID)
			}
			return late
		})
		if slices.Equal(digests(next), inForce) {
			return
		}
		inForce = digests(next)
		put(next)
		_ = guard.Note(&event.Event{Kind: event.Chatter, Code: "servers", Detail: "servers of the hub are " + ids(next)})
		for _, s := range next {
			if s.Unusable != nil {
				fmt.Fprintf(os.Stderr, "clawai: upstream.%s is not started: %v\n", s.ID, s.Unusable)
			}
		}
	})
}

func digests(all []config.Upstream) (sums []string) {
	for _, s := range all {
		sums = append(sums, digest(s))
	}
	return sums
}

func ids(all []config.Upstream) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.ID
	}
	return strings.Join(names, ", ")
}
