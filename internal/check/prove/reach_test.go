package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.toml", []byte(text), policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

// rules writes a policy of rules in short form: action, then keys, separated by
// blanks: `allow tool=* args.path=/x/**`.
func rules(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		words := strings.Fields(line)
		fmt.Fprintf(&b, "[[rule]]\naction = %q\n", words[0])
		for _, w := range words[1:] {
			k, v, _ := strings.Cut(w, "=")
			if strings.Contains(v, ",") {
				fmt.Fprintf(&b, "%s = [", k)
				for part := range strings.SplitSeq(v, ",") {
					fmt.Fprintf(&b, "%q, ", part)
				}
				fmt.Fprintln(&b, "]")
				continue
			}
			fmt.Fprintf(&b, "%s = %q\n", k, v)
		}
	}
	return b.String()
}

// short writes findings so that a table can hold them.
func short(fs []prove.Finding) string {
	var out []string
	for _, f := range fs {
		switch f.Status {
		case prove.Reached:
			c := f.Witness
			s := strings.Join(c.Names, "|")
			if c.Server != "" && c.Server != "x" {
				s += "@" + c.Server
			}
			if c.Args != nil {
				s += string(c.Args)
			}
			if f.Perhaps {
				s += "?"
			}
			out = append(out, s)
		case prove.Covered:
			s := fmt.Sprintf("covered%v", f.By)
			if f.AsWritten {
				s += "~"
			}
			out = append(out, s)
		default:
			out = append(out, "undecided")
		}
	}
	return strings.Join(out, " ")
}

func TestReach(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules []string
		want  string
	}{
		{"one", []string{"allow tool=*"}, "x"},
		{"covered", []string{"allow tool=*", "deny tool=read_*"}, "x covered[0]"},
		{"slash", []string{"allow tool=*", "deny tool=**"}, "x /"},
		{"by a union", []string{"deny tool=a*", "deny tool=?*", "deny tool=a", "allow tool=**"}, "a x covered[0] x/"},
		{"servers", []string{"allow tool=* server=a*", "allow tool=* server=?", "deny tool=r server=a"}, "x@a x covered[0]"},
		{"other subject", []string{"allow tool=**", "allow prompt=**"}, "x x"},
		{"argument may lack", []string{"deny tool=* args.path=**", "allow tool=*"}, `x{"path":"x"} x`},
		{"unknown base", []string{"allow tool=* args.path=/home/**", "deny tool=r args.path=/home/u/.ssh/*"}, `x{"path":"/home/x"} r{"path":".."}?`},
		{"text", []string{"allow tool=* args.cmd=git*", "deny tool=r args.cmd=git_push*"}, `x{"cmd":"git"} covered[0]`},
		{"home", []string{"allow tool=* args.path=~/**", "deny tool=r args.path=/home/u/x/**"}, `x{"path":"/home/u/x"} r{"path":".."}?`},
		{"list", []string{"allow tool=* args.p=a*", "allow tool=* args.p=b*", "deny tool=* args.p=a?,b?"}, `x{"p":"a"} x{"p":"b"} x{"p":"a/"}`},
		{"union of a list", []string{"allow tool=* args.p=a**", "allow tool=* args.p=b*", "deny tool=* args.p=a?,bb"}, `x{"p":"a"} x{"p":"b"} covered[0 1]`},
		{"two arguments", []string{"allow tool=* args.a=x*", "allow tool=* args.b=y*", "deny tool=* args.a=*x* args.b=*y*"}, `x{"a":"x"} x{"b":"y"} x{"a":"yx","b":"xy"}`},
		{"arguments together", []string{"allow tool=* args.a=x*", "deny tool=* args.a=?* args.b=x*", "deny tool=* args.a=** args.b=x?"}, `x{"a":"x"} x{"a":"y","b":"x"} x{"a":"y/y","b":"xy"}`},
		{"member", []string{"allow tool=* args.o.m=x", "deny tool=* args.o=x"}, `x{"o":{"m":"x"}} x{"o":"x"}`},
		{"resource", []string{"allow resource=file:///p/**", "deny resource=file:///p/x*"}, `file:///p/x ..?`},
		{"method", []string{`deny method=tasks/*`, `allow method=tasks/get`}, `tasks/ covered[0]`},
		{"sampling", []string{`deny sampling=**`, `allow sampling=*`}, `x covered[0]`},
		{"only in capitals", []string{"deny tool=* args.p=a,**/?*", "deny tool=* args.p=**/a"}, `x{"p":"a"} x{"p":"A"}?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parse(t, rules(c.rules...))
			if got := short(prove.Reach(p, prove.Options{})); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", rules(c.rules...), got, c.want)
			}
		})
	}
}
