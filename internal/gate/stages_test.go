package gate

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// opinion is what a made-up stage does.
type opinion struct {
	Says   policy.Action // any byte
	Speaks bool
	Falls  bool
}

func (o opinion) stage(name Stage, called *[]Stage) stage {
	return stage{name, everyMessage, func(_ *Session, _ *Exchange, v *Verdict) bool {
		*called = append(*called, name)
		if o.Falls {
			panic("fell")
		}
		v.Action = o.Says // also where it says that it has no opinion
		return o.Speaks
	}}
}

var anyOpinion = rapid.Custom(func(t *rapid.T) opinion {
	return opinion{
		policy.Action(rapid.IntRange(0, 7).Draw(t, "says")), rapid.Bool().Draw(t, "speaks"), rapid.IntRange(0, 9).Draw(t, "falls") == 0,
	}
})

// However stages are made: none allows what an earlier one refused, none is asked
// after a deny, a panic denies, and what stands has the name of a stage that gave it.
func TestStagesOnlyTighten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		stood := oneAction.Draw(rt, "stood")
		opinions := rapid.SliceOfN(anyOpinion, 0, 8).Draw(rt, "opinions")
		var stages []stage
		var called, asked []Stage
		want, name, panics := stood, Stage("before"), false
		for i, o := range opinions {
			n := Stage(fmt.Sprint(i))
			stages = append(stages, o.stage(n, &called))
			if want == policy.Deny && len(asked) > 0 && (panics || name != "before") {
				continue
			}
			asked = append(asked, n)
			switch {
			case o.Falls:
				want, name, panics = policy.Deny, n, true
			case o.Speaks && (o.Says > policy.Allow || o.Says.AltersContent()):
				want, name = policy.Deny, n
			case o.Speaks:
				want, name = min(want, o.Says), n
			}
		}
		x := newJournal().call("allow")
		x.verdict = Verdict{Action: stood, Stage: "before"}
		(&Session{}).runStages(stages, x)
		x.noteVerdict(&x.verdict)
		if v := x.verdict; v.Action != want || v.Stage != name || (v.Code == CodePanic) != panics {
			rt.Fatalf("%+v on %v: %+v", opinions, stood, v)
		}
		if x.Event.Stage != string(name) || x.Event.Decision != want.String() {
			rt.Fatalf("recorded %s by %s", x.Event.Decision, x.Event.Stage)
		}
		if !slices.Equal(called, asked) {
			rt.Fatalf("asked %v, not %v", called, asked)
		}
	})
}

// instead puts another stage in the place of one of list while the test runs.
func instead(t *testing.T, list []stage, i int, with stage) {
	t.Helper()
	old := list[i]
	list[i] = with
	t.Cleanup(func() { list[i] = old })
}

// Each stage of the real order, in its place: a panic, a deny and nonsense refuse,
// under its name, and nothing that stands after it is asked.
func TestEachStageRefusesUnderItsName(t *testing.T) {
	names := []Stage{StageGate, StageReply, StageLabels, StagePolicy, StagePins, StageRate, StageLabels, StageLabels, StageAsk, StageAsk, StageAsk}
	for i, name := range names {
		for _, o := range []opinion{{Falls: true}, {Says: policy.Deny, Speaks: true}, {Says: 7, Speaks: true}} {
			t.Run(fmt.Sprintf("%d %s %+v", i, name, o), func(t *testing.T) {
				list, at, call := order, i, "allow"
				if i >= len(order) {
					list, at, call = beforeAsking, i-len(order), "prompt"
				}
				if list[at].name != name || len(names) != len(order)+len(beforeAsking) {
					t.Fatalf("stage %d is %s", i, list[at].name)
				}
				var called []Stage
				instead(t, list, at, o.stage(name, &called))
				j := newJournal()
				s := session(t, j, byName)
				x, y := j.call(call), j.call(call)
				s.Do(t.Context(), x)
				s.Observe(t.Context(), y)
				for n, x := range []*Exchange{x, y} {
					ev := j.events[n]
					if j.became(x) == "forward" || ev.Stage != string(name) || ev.Decision != "deny" || ev.Kind != event.Decision {
						t.Errorf("%s: became %s, recorded %s", name, j.became(x), line(ev))
					}
				}
				if slices.Contains(j.lines, "ask") {
					t.Error("a person was asked")
				}
			})
		}
	}
}

// A stage that wants to open what stands is not followed, wherever it is.
func TestNoStageOpensADeny(t *testing.T) {
	for i := range order {
		if order[i].name == StagePolicy {
			continue // it is the one that denies
		}
		for _, call := range []string{"deny", "malformed", "?"} {
			t.Run(fmt.Sprint(i, call), func(t *testing.T) {
				var called []Stage
				instead(t, order, i, opinion{Says: policy.Allow, Speaks: true}.stage(order[i].name, &called))
				j := newJournal()
				s := session(t, j, byName)
				x := j.call(call)
				s.Do(t.Context(), x)
				if got := j.became(x); got == "forward" {
					t.Errorf("%s before %s: %s", order[i].name, call, got)
				}
			})
		}
	}
}
