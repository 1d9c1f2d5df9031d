//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/scripted"
)

// agentStep is one call of an agent, which makes the file of that name, and what is done
// meanwhile.
type agentStep struct {
	name   string
	row    string                           // of the table in docs/hooks.md; "" for what goes well
	runs   string                           // the clients that make the file; "all", or by their ids
	why    string                           // what the agent is told where it does not; "" where only the client speaks
	ends   []string                         // the clients whose run ends here
	within []string                         // the files that an agent of the agent makes instead
	make   func(s *agentSite) (undo func()) // nil where nothing is to be done, or nothing can
}

// walk has the agent take the steps, and begin anew where it ends at a no.
func (s *agentSite) walk(m *models, steps []agentStep) {
	s.t.Helper()
	for len(steps) > 0 {
		taken := s.session(m, steps)
		if taken == 0 {
			s.t.Fatalf("%s ended before %s", s.id, steps[0].name)
		}
		steps = steps[taken:]
	}
}

// session is one run of the agent. It tells how many of the steps were taken.
func (s *agentSite) session(m *models, steps []agentStep) (taken int) {
	s.t.Helper()
	var turns []scripted.Turn
	for _, st := range steps {
		if st.within != nil {
			turns = append(turns, s.helperTurn())
			continue
		}
		turns = append(turns, scripted.Turn{Tool: s.shell, Args: s.args("touch " + st.name)})
	}
	asked, answered := 0, 0
	var undo func()
	m.before = func(n int) {
		asked, undo = n+1, func() {}
		if st := &steps[n]; st.within != nil {
			m.send(s, st.within)
		} else if st.make != nil {
			undo = st.make(s)
		}
	}
	end := func(n int, answer string) {
		if undo == nil { // it could not be made
			return
		}
		undo()
		if steps[n].within != nil {
			m.back(s, steps[n].within)
			return
		}
		s.holds(&steps[n], answer)
	}
	m.after = func(n int, answer string) {
		answered++
		end(n, answer)
	}
	m.begin(turns...)
	s.play()
	if asked > answered {
		end(answered, "")
	}
	for i, st := range steps[:asked] {
		ended, should := i == answered, s.stops && !st.runsFor(s.id) && st.within == nil || slices.Contains(st.ends, s.id)
		if ended != should {
			s.t.Errorf("%s ended at %s: %v, and should: %v", s.id, st.name, ended, should)
		}
	}
	return asked
}

func (st *agentStep) runsFor(id string) bool {
	for _, of := range strings.Fields(st.runs) {
		if of == "all" || of == id {
			return true
		}
	}
	return false
}

// holds compares what happened with what should.
func (s *agentSite) holds(st *agentStep, answer string) {
	ran, should := s.made(st.name), st.runsFor(s.id)
	if ran != should || !ran && answer != "" && !strings.Contains(answer, st.why) {
		s.t.Errorf("%s: the tool ran: %v, and should: %v; the agent was told %s", st.name, ran, should, answer)
	}
}

func (s *agentSite) made(file string) bool {
	_, err := os.Stat(filepath.Join(s.projects(), file))
	return err == nil
}

// errand is what an agent of the agent is asked for, and is told by.
const errand = "run-this-errand"

// helperTurn is the call that starts an agent of the agent.
func (s *agentSite) helperTurn() scripted.Turn {
	args := object{}
	for name, value := range s.helper.more {
		args[name] = value
	}
	args[s.helper.prompt] = errand
	return scripted.Turn{Tool: s.helper.tool, Args: args}
}

// send is the model of an agent of the agent, from now on.
func (m *models) send(s *agentSite, files []string) {
	child := &scripted.Model{}
	for _, file := range files {
		child.Turns = append(child.Turns, scripted.Turn{Tool: s.shell, Args: s.args("touch " + file)})
	}
	if s.helper.last != "" {
		child.Turns = append(child.Turns, scripted.Turn{Tool: s.helper.last, Args: object{"result": "done"}})
	}
	m.child.Store(child)
	m.helper = s.helper.name()
}

// back waits for an agent of the agent, which some let go on by itself, and tells what it did.
func (m *models) back(s *agentSite, files []string) {
	child := m.child.Load()
	for end := time.Now().Add(patience); child.CountAsked() <= len(files) && !s.stops; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Errorf("an agent of %s was asked %d of %d calls", s.id, child.CountAsked(), len(files))
			return
		}
	}
	for _, file := range files {
		if ran := s.made(file); ran != strings.HasPrefix(file, "allowed") {
			s.t.Errorf("%s ran in an agent of %s: %v", file, s.id, ran)
		}
	}
}
