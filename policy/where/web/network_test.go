package web_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

func TestNetwork(t *testing.T) {
	for _, c := range []struct {
		network, url string
		want         where.Match
	}{
		{"10.0.0.0/8", "http://10.0.0.0/", where.Yes},
		{"10.0.0.0/8", "http://10.255.255.255:8080/x", where.Yes},
		{"10.0.0.0/8", "http://11.0.0.0/", where.No},
		{"10.0.0.0/8", "http://9.255.255.255/", where.No},
		{"192.168.1.128/25", "http://192.168.1.127/", where.No},
		{"192.168.1.128/25", "http://192.168.1.128/", where.Yes},
		{"127.0.0.1/32", "http://127.0.0.1/", where.Yes},
		{"127.0.0.1/32", "http://127.0.0.2/", where.No},
		{"0.0.0.0/0", "http://93.184.216.34/", where.Yes},
		{"0.0.0.0/0", "http://[2606:4700::1]/", where.No},
		{"fd00::/8", "http://[fd12::1]:99/", where.Yes},
		{"FD00::/8", "http://[FD12::1]/", where.Yes},
		{"fd00::/8", "http://[fe80::1]/", where.No},
		{"fd00::/8", "http://10.0.0.1/", where.No},
		{"::1/128", "http://[0:0:0:0:0:0:0:1]/", where.Yes},

		// An IPv4 address in another spelling, which some network or reader takes out.
		{"10.0.0.0/8", "http://[::ffff:10.1.2.3]/", where.Maybe},
		{"10.0.0.0/8", "http://[::ffff:11.1.2.3]/", where.No},
		{"10.0.0.0/8", "http://[64:ff9b::a01:203]/", where.Maybe},
		{"10.0.0.0/8", "http://[2002:a01:203::]/", where.Maybe},
		{"10.0.0.0/8", "http://0xa.1/", where.Maybe},
		{"10.0.0.0/8", "http://167772161/", where.Maybe},
		{"10.0.0.0/8", "http://012.0.0.1/", where.Maybe},
		{"10.0.0.0/8", "http://10.1/", where.Maybe},
		{"10.0.0.0/8", "http://10.0.0.1./", where.Maybe},
		{"10.0.0.0/8", "http://a@10.0.0.1/", where.Maybe},
		{"10.0.0.0/8", "http://１０.0.0.1/", where.Maybe},
		{"10.0.0.0/8", "10.0.0.1", where.Maybe},
		{"10.0.0.0/8", "11.0.0.1", where.No},
		{"10.0.0.0/8", "file:///10.0.0.1", where.No},

		// Names are in none for certain.
		{"10.0.0.0/8", "https://example.com/", where.No},
		{"10.0.0.0/8", "https://10.0.0.1.example.org/", where.Maybe},
		{"10.0.0.0/8", "https://10.0.0.1.nip.io/", where.Maybe},
		{"10.0.0.0/8", "https://printer/", where.Maybe},
		{"10.0.0.0/8", "https://db.internal/", where.Maybe},
		{"10.0.0.0/8", "https://vault.acme/", where.Maybe},
		{"10.0.0.0/8", "http://localhost/", where.No},
		{"127.0.0.0/8", "http://localhost:3000/", where.Maybe},
		{"::1/128", "http://app.localhost/", where.Maybe},
		{"140.82.112.0/20", "https://github.com/", where.No},
		{"140.82.112.0/20", "https://printer/", where.No},
		{"2606:4700::/32", "https://printer/", where.No},
		{"2001::/16", "https://printer/", where.Maybe},
		{"2001:db8::/32", "https://printer/", where.Maybe},
		{"::/0", "https://printer/", where.Maybe},
	} {
		for _, opens := range []bool{false, true} {
			if got := host(t, "b.example", c.network).JudgeValue(text(c.url), opens); got != c.want {
				t.Errorf("host = %q of %q: %d, want %d", c.network, c.url, got, c.want)
			}
		}
	}
}

func TestNetworkErrors(t *testing.T) {
	for network, want := range map[string]string{
		"10.0.0.0/33": "not a number of bits", "10.0.0.0/": "not a number of bits", "10.0.0.0/08": "not a number of bits", "10.0.0.0/-1": "not a number of bits", "::/129": "not a number of bits",
		"10.0.0.1/8": `write "10.0.0.0/8"`, "fd00::1/8": `write "fd00::/8"`, "::ffff:10.0.0.0/104": "IPv4 inside IPv6",
		"10.0.0/8": "not a host", "10.*/8": "not a host", "fe80::%eth0/64": "not a number of bits", "[fd00::]/8": "not a host", "example.com/8": "not a host", "/8": "not a host", "010.0.0.0/8": "not a host",
	} {
		if _, err := web.NewHosts([]string{network}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Host(%q): %v, want %s", network, err, want)
		}
	}
}

// FuzzNetwork holds membership against the standard library's: of addresses as they
// are written, and of any text, of which only an address in the block is a Yes.
func FuzzNetwork(f *testing.F) {
	f.Add([]byte{10, 0, 0, 0}, uint8(8), []byte{10, 1, 2, 3}, "http://0xa.1/")
	f.Add([]byte{127, 0, 0, 1}, uint8(32), []byte{127, 0, 0, 1}, "http://[::ffff:127.0.0.1]/")
	f.Add(netip.MustParseAddr("fd00::").AsSlice(), uint8(8), netip.MustParseAddr("fd00::1").AsSlice(), "https://fd00.example/")
	f.Fuzz(func(t *testing.T, from []byte, bits uint8, at []byte, other string) {
		base, ok := netip.AddrFromSlice(from)
		addr, valid := netip.AddrFromSlice(at)
		if !ok || !valid || base.Is4In6() || int(bits) > base.BitLen() {
			t.Skip()
		}
		block := netip.PrefixFrom(base, int(bits)).Masked()
		if block.Addr().Is4In6() {
			t.Skip()
		}
		c, err := web.NewHosts([]string{block.String()})
		if err != nil {
			t.Fatal(err)
		}
		name := addr.String()
		if addr.Is6() {
			name = "[" + name + "]"
		}
		if got := c.JudgeValue(text(fmt.Sprintf("http://%s:81/x", name)), true); (got == where.Yes) != block.Contains(addr) {
			t.Errorf("%s in %s: %d", addr, block, got)
		}
		if got := c.JudgeValue(text("http://"+name), false); block.Contains(addr.Unmap()) && got == where.No {
			t.Errorf("%s in %s is no", addr, block)
		}
		if c.JudgeValue(text(other), true) == where.Yes {
			u, err := url.Parse(other)
			if err != nil {
				t.Skip() // in what follows the host
			}
			if a, err := netip.ParseAddr(u.Hostname()); err != nil || !block.Contains(a) {
				t.Errorf("%q is in %s", other, block)
			}
		}
	})
}
