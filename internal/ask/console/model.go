package console

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
)

// tab is the number of a list on the screen, from pendingTab on.
type tab uint8

const (
	pendingTab tab = iota
	historyTab
	grantsTab
	callsTab
	sessionsTab
)

// model is the bubbletea model of the console. Only Update changes it.
type model struct {
	o             Options
	startTask     func(dialog.Task) // starts background work; its messages go to Update
	width, height int
	tab           tab
	pending, past list
	grants        grantList
	pages         []*page          // pages of the overview; their tabs begin at callsTab
	fault         string           // why the policy does not load; "" if it does
	search        *search          // search in the record for the filter of the page of calls; nil: none
	shown         *dialog.Question // page about the subject under the cursor
	shownName     string           // name of the subject in shown
	facts         *Facts           // facts of the subject in shown, if it is a request
	ask           *question        // the console's own question, drawn on top of shown; nil for none
	fits          bool             // the window is large enough for the questions
	edit          *editor
	whole         bool // show very long values completely
	grace         dialog.Grace
	known         map[string]*Facts
	notes         map[string]string
	sending       map[string]bool   // ids of requests whose answer is on its way to the queue
	answered      map[string]bool   // ids of requests that were answered in this console
	awaited       map[string]string // titles, by id, of answered requests whose outcome is unknown
	news          []string
	loading       bool
	stale         bool // the queue changed during a load: load again
	loaded        bool // the queue has been loaded once
	result        Result
	over          bool // the console must close
	err           error
}

// Messages to Update from background work.
type (
	changedMsg struct{}            // the queue has changed
	drawMsg    struct{}            // the wait after a redraw is over: keys count as answers now
	secondMsg  struct{}            // a second has passed: redraw the remaining times
	failedMsg  struct{ err error } // the console must end with an error
	loadedMsg  struct {
		pending, past []queue.Request
		grants        []queue.Grant
		looked        map[string]queue.Request // by id: requests that the console looked up one by one, because they are no longer pending
		err           error
	}
	decidedMsg struct {
		id     string
		answer queue.Answer
		now    queue.Request
		err    error
	}
	revokedMsg struct {
		what string
		err  error
	}
)

// job is background work whose result is a message. ctx ends with the console.
type job func(ctx context.Context) tea.Msg

func newModel(o Options, startTask func(dialog.Task)) *model {
	m := &model{
		o: o, startTask: startTask, grace: dialog.Grace{For: o.Grace, Now: o.Now}, known: map[string]*Facts{}, notes: map[string]string{},
		sending: map[string]bool{}, answered: map[string]bool{}, awaited: map[string]string{},
	}
	m.pending.text, m.past.text, m.past.newest = m.filterText, m.filterText, true
	m.pending.care = func(r *queue.Request) bool { return m.briefFacts(r).NeedsCare() }
	m.pending.at = o.Only
	if o.Calls != nil && o.Only == "" {
		for _, p := range append([]Page{o.CallsPage}, o.Pages...) {
			m.pages = append(m.pages, &page{Page: p})
		}
	}
	return m
}

func (m *model) Init() tea.Cmd {
	if m.o.Notice != "" {
		m.addNews("%s", m.o.Notice)
	}
	m.loadQueue()
	m.startTask(m.watchQueue)
	if len(m.pages) > 0 {
		m.loadPages()
		m.startTask(m.followCalls)
	}
	m.sendDelayed(time.Second, secondMsg{})
	return nil
}

// runJob runs f in the background. If f panics, the console gets a message, so that it can restore
// the terminal.
func (m *model) runJob(f job) {
	m.startTask(func(ctx context.Context, send func(tea.Msg)) {
		defer func() {
			if r := recover(); r != nil {
				send(failedMsg{panicError(r)})
			}
		}()
		send(f(ctx))
	})
}

func panicError(r any) error { return fmt.Errorf("the console failed: %q", fmt.Sprint(r)) }

// sendDelayed sends msg to Update after the time d.
func (m *model) sendDelayed(d time.Duration, msg tea.Msg) {
	m.runJob(func(ctx context.Context) tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(d):
			return msg
		}
	})
}

// Update handles a message. It recovers from a panic, because the terminal must be restored.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m.err = panicError(r)
			next, cmd = m, tea.Quit
		}
	}()
	m.handleMessage(msg)
	m.refreshDetail()
	if m.over {
		return m, tea.Quit
	}
	return m, nil
}

func (m *model) handleMessage(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.startGrace()
	case tea.PasteMsg:
		if m.edit != nil {
			m.edit.insertText(msg.Content)
			return
		}
		m.startGrace() // a pasted text is meant for another program
	case tea.KeyPressMsg:
		m.pressKey(msg)
	case changedMsg:
		m.loadQueue()
	case secondMsg:
		m.loadPages()
		m.sendDelayed(time.Second, secondMsg{})
	case loadedMsg:
		m.applyState(msg)
	case decidedMsg:
		m.reportDecision(msg)
	case revokedMsg:
		m.reportRevocation(msg)
	case searchMsg:
		m.applySearch(msg)
	case callsMsg:
		m.pages[0].list.addCalls(msg)
		if m.tab == callsTab {
			m.redrawDetail() // the call under the cursor may have its reply now, so its details change
		}
	case noticeMsg:
		m.addNews("%s", string(msg))
	case pageMsg:
		m.applyPage(msg)
	case openedMsg:
		m.askToOpen(msg)
	case wroteMsg:
		m.reportWritten(msg)
	case explainedMsg:
		m.showExplanation(msg)
	case recordMsg:
		m.endRecord(msg.err)
	case failedMsg:
		m.err, m.over = msg.err, true
	}
}

// startGrace starts the time in which no key counts as an answer.
func (m *model) startGrace() {
	m.grace.BeginWait()
	m.sendDelayed(m.o.Grace, drawMsg{})
}

// addNews adds a line below the question. The text must be harmless.
func (m *model) addNews(format string, a ...any) {
	m.news = append(m.news, m.o.Now().Local().Format(time.TimeOnly)+"  "+fmt.Sprintf(format, a...))
	m.news = m.news[max(0, len(m.news)-20):]
}

// tabNames returns the names of the tabs, in order.
func (m *model) tabNames(waiting int) []string {
	names := []string{fmt.Sprintf("1 Waiting (%d)", waiting), "2 History", "3 Answers"}
	if m.o.OnceOnly {
		return names[:grantsTab]
	}
	for _, p := range m.pages {
		names = append(names, fmt.Sprintf("%d %s", len(names)+1, p.Name))
	}
	return names
}

// tabFilter returns the filter text of the current page; nil if the page has no filter.
func (m *model) tabFilter() *string {
	if p := m.page(); p != nil {
		return &p.list.filter
	}
	if l := m.tabList(); l != nil {
		return &l.filter
	}
	return nil
}

// tabList returns the requests of the current page; nil if the page has no requests.
func (m *model) tabList() *list {
	switch m.tab {
	case pendingTab:
		return &m.pending
	case historyTab:
		return &m.past
	default:
		return nil
	}
}

// endConsole closes the console with a result.
func (m *model) endConsole(r Result) { m.result, m.over = r, true }
