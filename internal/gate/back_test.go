package gate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// guest is a caller who can be asked, and may be away.
type guest struct {
	None
	here chan struct{}
}

func (g *guest) Client() Client        { return g }
func (g *guest) Back() <-chan struct{} { return g.here }
func (g *guest) Name() (string, string) {
	return "client", "1.0"
}

func (g *guest) Elicit(context.Context, string, []byte) (Elicited, error) { return Elicited{}, nil }

func visit(j *journal) (*Exchange, *guest) {
	x := j.call("prompt")
	g := &guest{here: make(chan struct{})}
	x.Caller = g
	return x, g
}

func TestAQuestionCarriesTheCallersForm(t *testing.T) {
	j := newJournal()
	var forms []Client
	j.person = func(ctx context.Context, q Question) (Answer, error) {
		forms = append(forms, q.Client)
		return says(AllowOnce)(ctx, q)
	}
	s := session(t, j, byName)
	x, g := visit(j)
	close(g.here)
	s.Do(t.Context(), x)
	s.askers.Wait()
	s.Do(t.Context(), j.call("prompt"))
	s.askers.Wait()
	if len(forms) != 2 || forms[0] != Client(g) || forms[1] != nil {
		t.Errorf("asked with %v", forms)
	}
	j.expect(t, x, "forward")
}

// Whatever was answered meanwhile, a caller that is away hears it when it
// returns, and the rules of that moment hold.
func TestAnAnswerWaitsForACallerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.person = says(AllowOnce)
		s := session(t, j, byName)
		allowed, back := visit(j)
		s.Do(t.Context(), allowed)
		time.Sleep(30 * time.Second)
		j.expect(t, allowed, "0 ends: []")
		close(back.here)
		s.askers.Wait()
		j.expect(t, allowed, "forward")

		denied, back := visit(j)
		s.Do(t.Context(), denied)
		time.Sleep(time.Second)
		s.SetPolicy(always(denyRule))
		close(back.here)
		s.askers.Wait()
		j.expect(t, denied, CodeDeniedByRule)
	})
}

func TestACallerThatNeverReturnsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, person := range []func(context.Context, Question) (Answer, error){says(AllowOnce), nil} {
			j := newJournal()
			j.person = person
			s := session(t, j, byName)
			x, _ := visit(j)
			began := time.Now()
			s.Do(t.Context(), x)
			s.askers.Wait()
			j.expect(t, x, CodeCallerAway)
			if waited := time.Since(began); waited != 45*time.Second {
				t.Errorf("given up after %s", waited)
			}

			x, _ = visit(j)
			s.Do(t.Context(), x)
			synctest.Wait()
			if !s.Withdraw(x) {
				t.Error("forwarded for a caller that is away")
			}
			s.askers.Wait()
			j.expect(t, x, CodeWithdrawn)

			x, _ = visit(j)
			s.Do(t.Context(), x)
			synctest.Wait()
			s.Close()
			j.expect(t, x, CodeClosed)
		}
	})
}
