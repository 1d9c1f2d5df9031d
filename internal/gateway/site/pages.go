package site

import (
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
)

// Paths of pages.
const (
	SignInPath    = "/sign-in/" // followed by the token of a link that signs a person in once
	beginPath     = "/oidc/begin"
	callback      = "/oidc/callback"
	mePage        = "/me"
	enrollPage    = "/enroll"
	commandPage   = "/command"
	questionsPage = "/questions"
	laptopsPage   = "/laptops"
	recordsPage   = "/records"
	RecordPath    = recordsPage + "/" // followed by the number of a record
	bundlesPage   = "/bundles"
	keysPage      = "/keys"
	healthPage    = "/health"
	simulatePath  = "/simulate"
)

// visit is one request of a person.
type visit struct {
	s       *Site
	w       http.ResponseWriter
	r       *http.Request
	session string // secret of the session, from the cookie; "" if nobody is signed in
	who     principal.Principal
	form    url.Values
	files   map[string][]*multipart.FileHeader // files in the form
	again   int                                // see frame.Again
}

// route is one page, or one action of a form.
type route struct {
	method string
	open   bool     // works without a session
	roles  []string // the person must have one of these roles; nil: every person who is signed in
	serve  func(v *visit, rest string) error
}

// Roles that pages require; one of a list is enough.
var (
	readers   = []string{principal.Admin, principal.Auditor, principal.Payload}
	admins    = []string{principal.Admin}
	enrollers = []string{principal.Admin, principal.Enroll}

	simulators = []string{principal.Admin, principal.Payload}
)

// tabs are the pages to which the head of each page has links.
var tabs = []struct {
	path, title string
	roles       []string
}{{questionsPage, "Questions", nil}, {"/", "Overview", readers}, {laptopsPage, "Laptops", readers}, {recordsPage, "Records", readers}, {bundlesPage, "Bundles", readers}, {keysPage, "Keys", admins}, {healthPage, "Health", admins}, {enrollPage, "Enrol a laptop", enrollers}}

// routes holds the routes by path. A path that ends with / stands for all paths with one more element.
var routes = map[string][]route{
	questionsPage:       {{http.MethodGet, false, nil, (*visit).showQuestions}},
	questionsPage + "/": {{http.MethodGet, false, nil, (*visit).showQuestion}},
	"/answer":           {{http.MethodPost, false, nil, (*visit).answerQuestion}},
	"/":                 {{http.MethodGet, false, readers, (*visit).showOverview}},
	laptopsPage:         {{http.MethodGet, false, readers, (*visit).showLaptops}},
	laptopsPage + "/":   {{http.MethodGet, false, readers, (*visit).showLaptop}},
	"/revoke":           {{http.MethodPost, false, admins, (*visit).revokeLaptop}},
	recordsPage:         {{http.MethodGet, false, readers, (*visit).showRecords}},
	recordsPage + "/":   {{http.MethodGet, false, readers, (*visit).showRecord}},
	simulatePath:        {{http.MethodPost, false, simulators, (*visit).simulate}},
	bundlesPage:         {{http.MethodGet, false, readers, (*visit).showBundles}},
	bundlesPage + "/":   {{http.MethodGet, false, readers, (*visit).showBundle}},
	answerBundlePath:    {{http.MethodPost, false, admins, (*visit).answerBundle}},
	keysPage:            {{http.MethodGet, false, admins, (*visit).showKeys}},
	healthPage:          {{http.MethodGet, false, admins, (*visit).showHealth}},
	"/revoke-key":       {{http.MethodPost, false, admins, (*visit).revokeKey}},
	enrollPage:          {{http.MethodGet, false, enrollers, (*visit).showEnroll}, {http.MethodPost, false, enrollers, (*visit).decideEnroll}},
	commandPage:         {{http.MethodGet, false, nil, (*visit).showCommand}, {http.MethodPost, false, nil, (*visit).decideCommand}},
	mePage:              {{http.MethodGet, false, nil, (*visit).showMe}},
	SignInPath:          {{http.MethodGet, true, nil, (*visit).showSignIn}},
	"/sign-in":          {{http.MethodPost, true, nil, (*visit).signIn}},
	beginPath:           {{http.MethodGet, true, nil, (*visit).beginSignIn}},
	callback:            {{http.MethodGet, true, nil, (*visit).finishSignIn}},
	"/sign-out":         {{http.MethodPost, false, nil, (*visit).signOut}},
}

var (
	notFound = &page.Refusal{Status: http.StatusNotFound, Text: "There is nothing here."}
	stranger = &page.Refusal{Status: http.StatusUnauthorized, Text: "You are not signed in. Make a new link where the centre runs and open it: clawai-gateway link"}
	usedLink = &page.Refusal{Status: http.StatusForbidden, Text: "This link was used, or has expired, or a newer one was made. Make a new one where the centre runs: clawai-gateway link"}
	badForm  = &page.Refusal{Status: http.StatusForbidden, Text: "This form is not one of this session. Load the page again and try once more."}
)

// maxForm is the maximum size of a form, or of the query in an address, in bytes.
const maxForm = 8 << 10

// servePage answers a browser.
func (s *Site) servePage(w http.ResponseWriter, r *http.Request) error {
	if asset, kind, dest := assetOf(r.URL.Path); asset != nil {
		if err := page.CheckOrigin(r, s.origin, dest); err != nil {
			return err
		}
		w.Header().Set("Content-Type", kind)
		_, err := w.Write(asset)
		return err
	}
	if err := s.checkOrigin(r); err != nil {
		return err
	}
	if !isText(r.URL.EscapedPath()) || !isText(r.URL.RawQuery) {
		return refuse(http.StatusBadRequest, "The address has signs that are no text.")
	}
	list, rest := findRoutes(r.URL)
	if list == nil {
		return notFound
	}
	var methods []string
	for _, rt := range list {
		if rt.method == r.Method {
			v, err := s.beginVisit(w, r, rt)
			if err != nil {
				return err
			}
			if !rt.open && v.session == "" {
				return v.askSignIn()
			}
			if rt.roles != nil && !v.who.Has(rt.roles...) {
				return v.showLack(rt.roles)
			}
			return rt.serve(v, rest)
		}
		methods = append(methods, rt.method)
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	return refuse(http.StatusMethodNotAllowed, "Only "+strings.Join(methods, " and ")+" is answered here.")
}

// assetOf returns a file that pages load; nil for any other path.
func assetOf(path string) (body []byte, kind, dest string) {
	switch path {
	case "/page.css":
		return page.Style, "text/css; charset=utf-8", "style"
	case "/icon.svg":
		return page.Icon, "image/svg+xml", "image"
	}
	return nil, "", ""
}

func findRoutes(u *url.URL) (list []route, rest string) {
	if u.RawPath != "" || len(u.RawQuery) > maxForm {
		return nil, ""
	}
	if list = routes[u.Path]; list != nil && (u.Path == "/" || !strings.HasSuffix(u.Path, "/")) {
		return list, ""
	}
	at := strings.LastIndexByte(u.Path, '/') + 1
	if at > 1 && u.Path[at:] != "" {
		return routes[u.Path[:at]], u.Path[at:]
	}
	return nil, ""
}

// isText reports whether the text of a query or a form, once it is unescaped, can be stored in a database: valid
// UTF-8 without zero bytes. It returns true for a text that cannot be unescaped.
func isText(escaped string) bool {
	text, err := url.QueryUnescape(escaped)
	return err != nil || utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// beginVisit finds the person who sent a request. For a form, it checks that the form was made for the person's
// session.
func (s *Site) beginVisit(w http.ResponseWriter, r *http.Request, rt route) (*visit, error) {
	v := &visit{s: s, w: w, r: r}
	if c := r.CookiesNamed(s.cookie); len(c) == 1 {
		who, err := s.centre.FindPerson(r.Context(), c[0].Value)
		if err != nil && !errors.Is(err, store.ErrNone) {
			return nil, err
		}
		if err == nil {
			v.session, v.who = c[0].Value, who
		}
	}
	// Do not read the form of a person who may not send it, because the form may be large.
	if r.Method != http.MethodPost || !rt.open && (v.session == "" || rt.roles != nil && !v.who.Has(rt.roles...)) {
		return v, nil
	}
	if err := v.readForm(); err != nil {
		return nil, err
	}
	if !rt.open && !s.centre.IsFormToken(v.session, v.form.Get("form")) {
		return nil, badForm
	}
	return v, nil
}

// readForm reads the form of a request. Only the form of a simulation contains a file.
func (v *visit) readForm() error {
	kind := v.r.Header.Get("Content-Type")
	if v.r.URL.Path == simulatePath && strings.HasPrefix(kind, "multipart/form-data;") {
		return v.readFiles()
	}
	if kind != "application/x-www-form-urlencoded" {
		return refuse(http.StatusUnsupportedMediaType, "The request is not a form.")
	}
	body, err := readBody(v.w, v.r, maxForm)
	if err != nil {
		return err
	}
	if v.form, err = url.ParseQuery(string(body)); err != nil || !isText(string(body)) {
		return refuse(http.StatusBadRequest, "The form cannot be read.")
	}
	return nil
}

// show writes a page for the person who is signed in.
func (v *visit) show(name, title, tab string, data any) error {
	return v.write(http.StatusOK, name, title, tab, data)
}

func (v *visit) write(status int, name, title, path string, data any) error {
	f := frame{Title: title, Path: path, Who: v.who.Name, Data: data, Again: v.again}
	if v.session != "" {
		f.Form = v.s.centre.FormToken(v.session)
		for _, t := range tabs {
			if len(t.roles) == 0 || v.who.Has(t.roles...) {
				f.Tabs = append(f.Tabs, tab{t.path, t.title})
			}
		}
		var err error
		if f.Asked, err = v.s.centre.Store.CountPending(v.r.Context(), v.s.centre.Now()); err != nil {
			return err
		}
	}
	return writePage(v.w, status, name, f)
}

// writePageError shows an error as a page.
func (s *Site) writePageError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	s.report(r, err)
	status, text := statusOf(err)
	if writePage(w, status, "message", frame{Title: "Not shown", Data: text}) != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// goTo answers a form with a redirect to a page.
func (v *visit) goTo(path string) error {
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// enrollData is the data of the page of an enrolment.
type enrollData struct {
	Code    string
	Trouble string
	Wish    *wish
	Done    string
	MayList bool // the person may open the list of laptops
}

type wish struct{ Name, OS, Version, Address, Asked string }

func newWish(e *store.Enrolment, now time.Time) *wish {
	return &wish{e.Ask.Name, e.Ask.OS, e.Ask.Version, e.Address, centre.SpanText(now.Sub(e.Created)) + " ago"}
}

// explainCode returns a text for a person about an error of a typed code; ok is false for other errors.
func explainCode(err error) (text string, ok bool) {
	switch {
	case errors.Is(err, centre.ErrNoCode), errors.Is(err, centre.ErrTooOften):
		return strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + ".", true
	case errors.Is(err, store.ErrTwice):
		return "That code was allowed or denied before.", true
	}
	return "", false
}

// readCode returns the data of a page that shows the request with the code in the page's address.
func (v *visit) readCode(find func(ctx context.Context, typed string, who principal.Principal) (store.Enrolment, error)) (enrollData, error) {
	d := enrollData{Code: v.r.URL.Query().Get("code")}
	if d.Code == "" {
		return d, nil
	}
	e, err := find(v.r.Context(), d.Code, v.who)
	if err == nil && e.Status != store.Pending {
		err = store.ErrTwice
	}
	return v.showWish(d, &e, err)
}

// decideCode decides the request with the code in the form, and returns the data of the page that follows.
func (v *visit) decideCode(decide func(ctx context.Context, typed string, allow bool) (store.Enrolment, error)) (enrollData, error) {
	answer := v.form.Get("answer")
	if answer != "allow" && answer != "deny" {
		return enrollData{}, refuse(http.StatusBadRequest, "The answer is neither allow nor deny.")
	}
	e, err := decide(v.r.Context(), v.form.Get("code"), answer == "allow")
	d, err := v.showWish(enrollData{}, &e, err)
	if d.Wish != nil {
		d.Done = answer
	}
	return d, err
}

// showWish adds the request with a code to the data of a page. If there is no such request, it adds
// the reason.
func (v *visit) showWish(d enrollData, e *store.Enrolment, err error) (enrollData, error) {
	if text, ok := explainCode(err); ok {
		d.Trouble = text
		return d, nil
	}
	if err == nil {
		d.Wish = newWish(e, v.s.centre.Now())
	}
	return d, err
}

func (v *visit) showEnroll(string) error {
	d, err := v.readCode(v.s.centre.FindWish)
	if err != nil {
		return err
	}
	return v.show("enroll", "Enrol a laptop", enrollPage, d)
}

func (v *visit) decideEnroll(string) error {
	d, err := v.decideCode(func(ctx context.Context, typed string, allow bool) (store.Enrolment, error) {
		return v.s.centre.DecideWish(ctx, typed, allow, v.who)
	})
	if err != nil {
		return err
	}
	d.MayList = v.who.Has(readers...)
	return v.show("enroll", "Enrol a laptop", enrollPage, d)
}

// laptopRow is a laptop in a list.
type laptopRow struct {
	ID, Name, OS, Version, Look, Sign, State string
	Seen, Shipped, Enrolled, By, Error       string
	Owner, Ended                             string
	Records, Bytes                           string
	Counter                                  uint64
	Backlog                                  string
	Sessions, Findings                       int
	Revoked                                  bool
}

func (v *visit) newLaptopRow(l *store.Laptop, newest uint64) laptopRow {
	now := v.s.centre.Now()
	state := v.s.centre.StateOf(l, newest)
	owner, ended := "not known: it was enrolled before this centre knew people", ""
	if l.Owner.Subject != "" {
		owner = fmt.Sprintf("%s, who signed in %s", l.Owner, agoText(l.Owner.Seen, now))
	}
	if !l.Revoked.IsZero() {
		ended = l.Revoked.Format(time.DateTime) + " UTC"
		if l.RevokedBy != "" {
			ended += ", by " + l.RevokedBy
		}
	}
	return laptopRow{
		Owner: owner, Ended: ended,
		ID: l.ID, Name: l.Name, OS: l.OS, Version: l.Version, Look: state.Look.Word(), Sign: state.Look.Mark(), State: state.Word,
		Seen: agoText(l.Seen, now), Shipped: agoText(l.Shipped, now), Enrolled: l.Enrolled.Format(time.DateTime) + " UTC", By: l.By, Error: l.Report.Error,
		Records: numberText(l.Records), Bytes: sizeText(l.Bytes), Counter: l.Report.Counter, Backlog: sizeText(l.Report.Backlog),
		Sessions: l.Report.Sessions, Findings: l.Findings, Revoked: !l.Revoked.IsZero(),
	}
}

// listLaptops returns all laptops, the red ones first. red is the number of red laptops: somebody must look at
// them. newest is the counter of the newest bundle.
func (v *visit) listLaptops(ctx context.Context) (rows []laptopRow, red int, newest uint64, err error) {
	newest, err = v.s.centre.NewestCounter(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	all, err := v.s.centre.Store.ListLaptops(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	var calm []laptopRow
	for i := range all {
		row := v.newLaptopRow(&all[i], newest)
		if row.Look == view.Refused.Word() {
			rows = append(rows, row)
		} else {
			calm = append(calm, row)
		}
	}
	return append(rows, calm...), len(rows), newest, nil
}

func (v *visit) showLaptops(string) error {
	rows, _, _, err := v.listLaptops(v.r.Context())
	if err != nil {
		return err
	}
	return v.show("laptops", "Laptops", laptopsPage, struct {
		Laptops []laptopRow
		Address string
	}{rows, v.s.Address()})
}

// mostFindings is the maximum number of findings on a page.
const mostFindings = 100

type findingRow struct {
	Laptop, Name, Segment, What, Found string
	Line                               int
	Note                               bool
}

func (v *visit) listFindings(ctx context.Context, laptop, segment string, most int) (rows []findingRow, err error) {
	names, _, err := v.nameLaptops()
	if err != nil {
		return nil, err
	}
	all, err := v.s.centre.Store.ListFindings(ctx, laptop, segment, most)
	for _, f := range all {
		rows = append(rows, findingRow{f.Laptop, names[f.Laptop], f.Segment, f.What, f.Found.Format(time.DateTime) + " UTC", f.Line, f.Note})
	}
	return rows, err
}

func (v *visit) showLaptop(id string) error {
	ctx := v.r.Context()
	l, _, err := v.s.centre.Store.FindLaptop(ctx, id)
	if errors.Is(err, store.ErrNone) {
		return notFound
	}
	if err != nil {
		return err
	}
	newest, err := v.s.centre.NewestCounter(ctx)
	if err != nil {
		return err
	}
	findings, err := v.listFindings(ctx, id, "", mostFindings)
	if err != nil {
		return err
	}
	records, err := v.s.centre.Store.ListRecords(ctx, store.Query{Laptop: id, Kind: "decision", Most: 20})
	if err != nil {
		return err
	}
	return v.show("laptop", "Laptop", laptopsPage, struct {
		Laptop    laptopRow
		MayRevoke bool
		Findings  []findingRow
		Records   []recordRow
		Calls     string
	}{v.newLaptopRow(&l, newest), v.who.Has(admins...), findings, v.newRecordRows(records, map[string]string{l.ID: l.Name}), page.Address(recordsPage, "laptop", id)})
}

func (v *visit) revokeLaptop(string) error {
	id := v.form.Get("laptop")
	err := v.s.centre.Store.RevokeLaptop(v.r.Context(), id, v.who.String(), v.s.centre.Now())
	switch {
	case errors.Is(err, store.ErrNone):
		return notFound
	case err != nil && !errors.Is(err, store.ErrTwice):
		return err
	}
	return v.goTo(laptopsPage + "/" + url.PathEscape(id))
}

// agoText returns a text such as "5 min ago"; "never" for the zero time.
func agoText(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return centre.SpanText(now.Sub(t)) + " ago"
}

// sizeText returns a number of bytes in its largest unit.
func sizeText(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

// numberText returns a number with a comma between thousands.
func numberText(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
