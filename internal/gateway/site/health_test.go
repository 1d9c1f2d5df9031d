package site

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gateway/principal"
)

// Administrators see what is wrong with the centre. One look is taken at a time.
func TestHealth(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.signInAs("p", principal.Admin)
	if status, _ := w.visit(healthPage); status != http.StatusNotFound {
		t.Errorf("without checks: %d", status)
	}
	looking, goOn := make(chan struct{}), make(chan struct{})
	w.site.Health = func(context.Context) []Check {
		looking <- struct{}{}
		<-goOn
		return []Check{{true, "database: it answers"}, {false, "laptop 1 (<b>\x1b[2J</b>): silent"}}
	}
	first := make(chan string)
	go func() {
		_, body := w.visit(healthPage)
		first <- body
	}()
	<-looking
	if status, body := w.visit(healthPage); status != http.StatusTooManyRequests || !strings.Contains(body, "Another look is being taken") {
		t.Errorf("a second look: %d\n%s", status, body)
	}
	close(goOn)
	body := <-first
	for _, want := range []string{"1 wrong", ">in order</span></span> database: it answers", ">wrong</span></span> laptop 1 (&lt;b&gt;"} {
		if !strings.Contains(body, want) {
			t.Errorf("without %q\n%s", want, body)
		}
	}
	checkHarmless(t, healthPage, body)
	w.signInAs("p", principal.Auditor, principal.Payload)
	if status, _ := w.visit(healthPage); status != http.StatusForbidden {
		t.Errorf("an auditor: %d", status)
	}
}
