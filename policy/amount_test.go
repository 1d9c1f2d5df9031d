package policy

import (
	"math/big"
	"strings"
	"testing"
)

func TestSums(t *testing.T) {
	p, err := Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"pay\"\nlimit = { rate = \"1000.5/day\", sum = \"args.order.total\" }\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Rules()[0].Rate; !r.HasLimit() || r.AtMost() != "at most 1000.5 of args.order.total a day" || r.MaxAmount() != "1000.5" || r.Count != 0 || r.Key == "" {
		t.Errorf("%+v: %s", r, r.AtMost())
	}
	if counted := (Rate{Count: 5}); counted.MaxAmount() != "" {
		t.Error(counted.MaxAmount())
	}
	for args, want := range map[string]int64{
		`{"order":{"total":12}}`: 12_000_000, `{"order":{"total":0}}`: 0, `{"order":{"total":0.000001}}`: 1, `{"order":{"total":"12.50"}}`: 12_500_000,
		`{"order":{"total":999999999999.999999}}`: 999_999_999_999_999_999,

		`{}`: NoAmount, ``: NoAmount, `{"order":12}`: NoAmount, `{"order":{"total":null}}`: NoAmount, `{"order":{"Total":1}}`: NoAmount, `{"order":[{"total":1}]}`: NoAmount,
		`{"order":{"total":-1}}`: NoAmount, `{"order":{"total":-0}}`: NoAmount, `{"order":{"total":1e3}}`: NoAmount, `{"order":{"total":0.0000001}}`: NoAmount,
		`{"order":{"total":1000000000000}}`: NoAmount, `{"order":{"total":[1]}}`: NoAmount, `{"order":{"total":true}}`: NoAmount, `{"order":{"total":""}}`: NoAmount,
		`{"order":{"total":"007"}}`: NoAmount, `{"order":{"total":" 1"}}`: NoAmount, `{"order":{"total":"1\n"}}`: NoAmount, `{"order":{"total":"1,000"}}`: NoAmount, `{"order":{"total":"+1"}}`: NoAmount,
		`{"order":{"total":"0x10"}}`: NoAmount, `{"order":{"total":"NaN"}}`: NoAmount, `{"order":{"total":".5"}}`: NoAmount, `{"order":{"total":"1."}}`: NoAmount, `{"order":{"total":"١"}}`: NoAmount,
	} {
		d := p.Decide(&Call{Method: "tools/call", Subject: ToolSubject, Names: []string{"pay"}, Args: []byte(args)})
		if len(d.Rates) != 1 || d.Rates[0].Amount != want {
			t.Errorf("%s: %+v, want %d", args, d.Rates, want)
		}
	}
}

func TestSumErrors(t *testing.T) {
	for limit, want := range map[string]string{
		`{ sum = "args.a" }`:                                "limit without a rate",
		`{ rate = "5/day", sum = "amount" }`:                `limit.sum: "amount" names no argument`,
		`{ rate = "5/day", sum = "args" }`:                  `names no argument`,
		`{ rate = "5/day", sum = "args.a.*" }`:              `names no argument`,
		`{ rate = "5/day", sum = 5 }`:                       "limit.sum",
		`{ rate = "0/day", sum = "args.a" }`:                `"0" is not a sum above 0`,
		`{ rate = "0.0000001/day", sum = "args.a" }`:        "not a rate",
		`{ rate = "-1/day", sum = "args.a" }`:               "not a sum above 0",
		`{ rate = "1000000000000/day", sum = "args.a" }`:    "not a sum above 0",
		`{ rate = "5/fortnight", sum = "args.a" }`:          "not a rate",
		`{ rate = "2.5/day" }`:                              "not a rate",
		`{ rate = "x/day", sum = "args.a" }`:                "not a ",
		`{ rate = "10001/day" }`:                            "not between 1 and 10000",
		`{ rate = "5/day", sum = "args.a", sum = "args.b"}`: "sum",
	} {
		_, err := Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"pay\"\nlimit = "+limit+"\n"), Options{})
		if err == nil || !strings.Contains(err.Error(), want) && !(want == "not a rate" && strings.Contains(err.Error(), "not a sum above 0")) {
			t.Errorf("%s: %v, want %s", limit, err, want)
		}
	}
	if _, err := Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\nresource = \"**\"\nlimit = { rate = \"5/day\", sum = \"args.a\" }\n"), Options{}); err == nil || !strings.Contains(err.Error(), "only tool and prompt rules have arguments") {
		t.Error(err)
	}
}

// FuzzAmount holds what is read against exact arithmetic, and reading against writing.
func FuzzAmount(f *testing.F) {
	for _, s := range []string{"0", "12.50", "999999999999.999999", "1e3", "-0", "007", "0.0000001", "1/2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := readAmount(s)
		if n == NoAmount {
			return
		}
		r, ok := new(big.Rat).SetString(s)
		if !ok || r.Mul(r, big.NewRat(oneAmount, 1)).Cmp(new(big.Rat).SetInt64(n)) != 0 || strings.Trim(s, "0123456789.") != "" {
			t.Errorf("%q is read as %d", s, n)
		}
		if readAmount(writeAmount(n)) != n {
			t.Errorf("%q is written %q", s, writeAmount(n))
		}
	})
}
