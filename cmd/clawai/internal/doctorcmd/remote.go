package doctorcmd

import (
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
)

// endsSoon is a time span: doctor warns about a certificate that expires within this time.
const endsSoon = 30 * 24 * time.Hour

// checkRemote shows the certificates and proxies that clawai would use for remote servers. It opens
// no connection.
func checkRemote(p *machine) (all []finding) {
	if p.foldersErr != nil {
		return nil
	}
	n := egress.Network{Folders: p.folders}
	r := n.Report()
	for _, err := range r.Problems {
		all = append(all, finding{Health: broken, Text: err.Error(), Fix: "correct it; docs/remote.md, \"Authorities, certificates and proxies\", has every setting"})
	}
	for _, f := range r.Files {
		all = append(all, judgeCertificate(f, time.Now()))
	}
	for _, line := range r.Proxies {
		all = append(all, healthyFinding("%s", line)...)
	}
	if len(r.Problems) == 0 {
		all = append(all, describeServers(p, n)...)
	}
	if all == nil {
		all = healthyFinding("the system's authorities, no client certificate, no proxy")
	}
	return all
}

// describeServers returns a finding for each remote server of the hub: the route on which clawai
// would reach the server.
func describeServers(p *machine, n egress.Network) (all []finding) {
	hub, err := config.LoadHub(p.folders, os.LookupEnv)
	if err != nil {
		return nil // the hub's own commands report this error
	}
	for _, s := range hub.Servers {
		u, err := url.Parse(s.URL)
		if s.URL == "" || err != nil || s.Unusable != nil {
			continue
		}
		if how, err := n.DescribeRoute(u); err == nil {
			all = append(all, healthyFinding("upstream.%s (%s): %s", s.ID, u.Host, how)...)
		}
	}
	return all
}

// judgeCertificate returns the finding about one file of certificates.
func judgeCertificate(f egress.CertificateFile, now time.Time) finding {
	what := "authorities"
	if f.Own {
		what = "client certificate"
	}
	text := fmt.Sprintf("%s: %s (%s): %q, until %s", what, f.Path, f.From, f.Name, f.Ends.Format(time.DateOnly))
	if f.Many > 1 {
		text = fmt.Sprintf("%s: %s (%s): %s, the last until %s", what, f.Path, f.From, cmdline.CountText(f.Many, "1 certificate", "%d certificates"), f.Ends.Format(time.DateOnly))
	}
	switch left := f.Ends.Sub(now); {
	case left < 0:
		return finding{Health: broken, Text: text + ", which is over", Fix: "put a new certificate into " + f.Path}
	case left < endsSoon:
		return finding{Health: doubtful, Text: text + ", which is soon", Fix: "put a new certificate into " + f.Path + " before that"}
	}
	return finding{Health: healthy, Text: text}
}
