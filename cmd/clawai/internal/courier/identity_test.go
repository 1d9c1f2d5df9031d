package courier

import (
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/centretest"
	"github.com/clawai/clawai/policy"
)

// roles returns the roles of this laptop's caller, and what a rule for one of them says of a call.
func (l *laptop) roles() ([]string, policy.Action) {
	l.Helper()
	l.must(os.WriteFile(l.folders.PolicyFile(), []byte("[[rule]]\naction = \"allow\"\ntool = \"deploy\"\nrole = \"oncall\"\n"), 0o600))
	loaded, err := base.Files{}.Load(l.folders)
	l.must(err)
	call := policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"deploy"}}
	base.NewCaller(l.folders.State, loaded.Policy).Identify(&call.Facts)
	return call.Roles.List(), loaded.Policy.Decide(&call).Action
}

func (l *laptop) wantsRoles(what string, action policy.Action, roles ...string) {
	l.Helper()
	if got, a := l.roles(); !slices.Equal(got, roles) || a != action {
		l.Errorf("%s: %q, %v; want %q, %v", what, got, a, roles, action)
	}
}

// A role that the centre gives counts after the next poll, and one that it takes away does not.
func TestRolesComeFromTheCentre(t *testing.T) {
	t.Parallel()
	centre := centretest.Start(t)
	l := enrol(t, centre)
	poll := func() {
		t.Helper()
		_, err := l.poll()
		l.must(err)
	}
	poll()
	l.wantsRoles("a centre that knows nobody", policy.Deny)
	who := enrolment.Identity{Who: "ana@team.example", Key: "i#ana", GroupsKnown: true, Roles: []string{"dev", "oncall"}}
	centre.Tell(&who)
	poll()
	l.wantsRoles("given", policy.Allow, "dev", "oncall")
	who.Roles = []string{"dev"}
	centre.Tell(&who)
	poll()
	l.wantsRoles("taken away", policy.Deny, "dev")
	who.Roles = []string{"oncall"}
	centre.Tell(&who)
	poll()
	centre.Fail(http.StatusBadGateway)
	if _, err := l.poll(); err == nil {
		t.Error("a centre that fails is no error")
	}
	l.wantsRoles("the centre is away", policy.Allow, "oncall")
	centre.Fail(0)
	who.Roles = []string{"\n"}
	centre.Tell(&who)
	poll()
	l.wantsRoles("nonsense", policy.Deny)
	if p := l.progress(); p.Error == "" {
		t.Error("nobody is told of it")
	}
	who.Roles = []string{"oncall"}
	centre.Tell(&who)
	poll()
	l.wantsRoles("again", policy.Allow, "oncall")
	centre.Forget()
	if _, err := l.poll(); err == nil {
		t.Error("a laptop that is not known any more is no error")
	}
	l.wantsRoles("not known any more", policy.Deny)
	l.must(EndEnrolment(t.Context(), l.folders.State))
	l.wantsRoles("not enrolled", policy.Deny)
}

// A caller that was found is looked for again while a process runs.
func TestRunningProcessHearsOfRoles(t *testing.T) {
	t.Parallel()
	centre := centretest.Start(t)
	l := enrol(t, centre)
	centre.Tell(&enrolment.Identity{Who: "ana", GroupsKnown: true, Roles: []string{"oncall"}})
	_, err := l.poll()
	l.must(err)
	caller := base.NewCaller(l.folders.State, &policy.Policy{})
	var f policy.Facts
	if caller.Identify(&f); !slices.Equal(f.Roles.List(), []string{"oncall"}) {
		t.Fatalf("%+v", f)
	}
	centre.Tell(&enrolment.Identity{Who: "ana", GroupsKnown: true})
	_, err = l.poll()
	l.must(err)
	for deadline := time.Now().Add(time.Minute); len(f.Roles.List()) > 0; time.Sleep(20 * time.Millisecond) {
		if caller.Identify(&f); time.Now().After(deadline) {
			t.Fatalf("%+v", f)
		}
	}
}
