package egress

import (
	"crypto/x509"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Report lists the files and proxies that requests to remote servers use, and the problems of each.
type Report struct {
	Files    []CertificateFile
	Proxies  []string
	Problems []error
}

// CertificateFile describes a file of certificates for people. Ends is the time at which the last
// valid certificate of the file expires.
type CertificateFile struct {
	Path string
	From string // the setting that names the file
	Own  bool   // true for the owner's certificate for servers, false for authorities
	Many int    // number of certificates in the file
	Name string // subject of the first certificate
	Ends time.Time
}

// Report reads all settings and files in the same way as a request to each host would read them.
func (n Network) Report() (r Report) {
	p := readProxies(os.Getenv)
	for _, one := range []struct {
		scheme string
		by     *proxyAddress
	}{{"https", p.secure}, {"http", p.plain}} {
		switch {
		case one.by == nil:
		case one.by.err != nil:
			r.Problems = append(r.Problems, one.by.err)
		default:
			r.Proxies = append(r.Proxies, one.scheme+":// goes through "+one.by.String())
		}
	}
	s, err := n.readSettings(os.Getenv)
	if err != nil {
		r.Problems = append(r.Problems, err)
		return r
	}
	hosts := []string{""}
	for host := range s.owner.Hosts {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	for _, host := range hosts {
		t, err := s.makeTrust(host)
		if err != nil {
			r.addProblem(err)
			continue
		}
		for _, one := range t.read {
			r.addFile(CertificateFile{Path: one.path, From: one.from}, one.certs)
		}
		if t.client != nil {
			r.addClient(t.client)
		}
	}
	return r
}

func (r *Report) addProblem(err error) {
	if !slices.ContainsFunc(r.Problems, func(other error) bool { return other.Error() == err.Error() }) {
		r.Problems = append(r.Problems, err)
	}
}

func (r *Report) addClient(k *keyPair) {
	pair, err := k.load()
	if err != nil {
		r.addProblem(err)
		return
	}
	r.addFile(CertificateFile{Path: k.cert, From: "client_cert", Own: true}, []*x509.Certificate{pair.Leaf})
}

// addFile adds a file, unless the report has it already. The file's Ends is the latest end of its
// certificates.
func (r *Report) addFile(f CertificateFile, certs []*x509.Certificate) {
	if slices.ContainsFunc(r.Files, func(other CertificateFile) bool { return other.Path == f.Path && other.From == f.From }) {
		return
	}
	f.Many, f.Name = len(certs), certs[0].Subject.String()
	for _, cert := range certs {
		if cert.NotAfter.After(f.Ends) {
			f.Ends = cert.NotAfter
		}
	}
	r.Files = append(r.Files, f)
}

// DescribeRoute returns the route to a server in words for people.
func (n Network) DescribeRoute(u *url.URL) (string, error) {
	t := n.NewTransport(Options{})
	t.proxies = readProxies(os.Getenv)
	through, err := t.proxies.findProxy(u)
	if err != nil {
		return "", err
	}
	parts := []string{"without a proxy"}
	if through != nil {
		parts[0] = "through " + through.String()
	}
	if u.Scheme != "https" {
		return parts[0], nil
	}
	trusted, err := t.readTrust(u.Host)
	if err != nil {
		return "", err
	}
	parts = append(parts, "trusts "+trusted.listRead())
	if trusted.client != nil {
		parts = append(parts, "shows the certificate "+trusted.client.cert)
	}
	return strings.Join(parts, "; "), nil
}
