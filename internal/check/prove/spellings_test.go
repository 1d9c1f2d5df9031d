package prove_test

import (
	"testing"

	"github.com/clawai/clawai/internal/check/prove"

	"github.com/clawai/clawai/internal/testing/slow"
)

// TestAnswersOfTwoReadings: a text that ends in a slash is judged with it and without,
// and what comes of the two together is a class that neither shows by itself.
func TestAnswersOfTwoReadings(t *testing.T) {
	slow.Test(t)
	for name, policies := range map[string][2]string{
		"args_only": {rules(`prompt tool=* args.q=?`) + "args_only = true\n" +
			rules(`allow tool=a,* args.p=/* args.q=a?`) + "args_only = [\"q\", \"z\"]\n" +
			rules(`deny tool=a,a args.p=?**,/a args.q=a/`, `deny tool=* args.p=/ args.q=**a`, `allow tool=* args.p=* args.q=/a,a**`),
			rules(`prompt tool=* args.q=?`) + "args_only = true\n" +
				rules(`allow tool=* args.q=*/`) + "args_open = true\n" +
				rules(`allow tool=a,* args.p=/* args.q=a?`) + "args_only = [\"q\", \"z\"]\n" +
				rules(`deny tool=a,a args.p=?**,/a args.q=a/`, `deny tool=* args.p=/ args.q=**a`, `allow tool=* args.p=* args.q=/a,a**`)},
		"not": {
			rules(`prompt tool=a args.q=a not.server=s`, `deny tool=a not.tool=b args.q=**/ not.args.q=b/`, `allow tool=a args.q=a/ not.server=s`),
			rules(`prompt tool=a args.q=a not.server=s`, `allow tool=a args.q=a/ not.server=s`),
		},
	} {
		before, after := parse(t, policies[0]), parse(t, policies[1])
		found := false
		for _, c := range prove.Difference(before, after, prove.Options{}) {
			found = found || !c.Undecided && word(before.Decide(c.Witness)) == "deny" && word(after.Decide(c.Witness)) == "prompt"
		}
		if !found {
			t.Errorf("%s: what goes from deny to prompt is not listed", name)
		}
	}
}
