package ui

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/html"
)

//go:embed templates/*.html
var templateFiles embed.FS

// style and script are those of the live pages only. They add to those of the reports.
//
//go:embed static/ui.css
var style string

//go:embed static/ui.js
var script string

// pages are the templates of the pages, by name.
var pages = parsePages()

func parsePages() map[string]*template.Template {
	layout := template.Must(html.Templates().Funcs(template.FuncMap{"count": plural.Count, "choose": plural.Choose, "rows": newRows, "passes": newPasses, "bound": newBound}).
		ParseFS(templateFiles, "templates/layout.html"))
	out := map[string]*template.Template{}
	files, _ := fs.Glob(templateFiles, "templates/*.html")
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(f, "templates/"), ".html")
		if name != "layout" {
			out[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, f))
		}
	}
	return out
}

// assets are the files of the pages, by path.
var assets = map[string]struct{ kind, text string }{
	"report.css": {"text/css; charset=utf-8", html.Style},
	"ui.css":     {"text/css; charset=utf-8", style},
	"report.js":  {"text/javascript; charset=utf-8", html.Script},
	"ui.js":      {"text/javascript; charset=utf-8", script},
}

func showAsset(w http.ResponseWriter, r *http.Request) {
	a, found := assets[r.PathValue("name")]
	if !found {
		http.Error(w, unknown.text, unknown.status)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	_, _ = io.WriteString(w, a.text) // the browser may be gone
}

// rows are a part of a page with links.
type rows struct {
	Base string
	Rows any
}

func newRows(base string, of any) rows { return rows{base, of} }

// passTable is a table of passes.
type passTable struct {
	Base     string
	Rows     []passRow
	HasScore bool // a plan that waited for a decision stores none
}

func newPasses(base string, of []passRow) passTable {
	return passTable{base, of, slices.ContainsFunc(of, func(r passRow) bool { return r.Before != "" })}
}

// bound are the hidden fields of a decision: it is about one version of a plan.
type bound struct{ Token, UID, Version, Steps, Verb string }

func newBound(token, uid, version, steps string, verb waiting.Verb) bound {
	return bound{token, uid, version, steps, string(verb)}
}

// page is what every page shows.
type page struct {
	Base, Template, Section, Title string
	Cluster, Namespace, User       string
	Waiting                        int
	At                             string
	// Version changes with what the pages show, and each minute, because pages say how long ago something was.
	Version string
	// NotLive is the time since which the API server has not answered, and Why its error; empty while it answers.
	NotLive, Why string
	// Token is that of the forms; empty if no decision can be made now.
	Token   string
	Paused  bool
	CanStop bool // may pause and resume
	// CanDecide: may approve and discard. Otherwise plans wait, but not for this person.
	CanDecide bool
	Say       string
	Missing   []missing
	Polls     bool // the person may not watch
	Posted    bool // the page answers a form, so it cannot be read again
	Body      any
}

// request is one request for a page, with what the API server said.
type request struct {
	*http.Request
	*moment
	page
	now time.Time
}

// answer returns a handler that shows the page that show makes, or its error.
func (s *Server) answer(show func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := show(w, r); err != nil {
			s.Log.Debug("a page could not be made", "path", r.URL.Path, "error", err)
			http.Error(w, "The page could not be made: "+err.Error(), http.StatusInternalServerError)
		}
	})
}

// begin reads what the API server says, and returns a page about it.
func (s *Server) begin(r *http.Request, template, section string) *request {
	m, err := s.source.now(r.Context())
	now := s.Clock.Now().UTC()
	q := &request{Request: r, moment: m, now: now, page: page{Base: s.guard.base, Template: template, Section: section, Cluster: s.Cluster,
		Token: s.guard.token(r), Posted: r.Method == http.MethodPost, At: now.Format(time.TimeOnly)}}
	if q.moment == nil {
		q.moment = &moment{gap: "The history is unknown."}
	}
	if err != nil {
		q.Why, q.NotLive, q.Token = observe.PlainError(err).Error()+".", "the start", ""
		if !q.at.IsZero() {
			q.NotLive = q.at.UTC().Format(time.TimeOnly)
		}
	}
	q.Namespace, q.Missing = q.namespace(), slices.Clone(q.missing)
	q.Version = q.version + " " + now.Format("15:04")
	q.User = s.source.user(r.Context(), err == nil)
	for i := range q.plans.Waiting {
		if len(q.plans.Waiting[i].WaitingMoves()) > 0 {
			q.Waiting++
		}
	}
	q.Paused = q.pause() != nil
	if q.client != nil && q.Token != "" {
		q.CanDecide = s.rights.may(r.Context(), ofEvenkeel("update", "rebalanceplans", q.Namespace))
		q.CanStop = s.rights.may(r.Context(), ofEvenkeel("update", "rebalancers", q.Namespace))
		q.Polls = !s.rights.may(r.Context(), ofEvenkeel("watch", "rebalanceplans", q.Namespace))
	}
	q.Say = q.say()
	return q
}

// pause returns the pause that holds now, or nil.
func (q *request) pause() *plan.Pause {
	if q.release == nil {
		return nil
	}
	return state.ActivePause(q.release, q.now)
}

// say returns what a screen reader says when it changes. It has no clock and no count that changes by itself.
func (q *request) say() string {
	switch {
	case q.NotLive != "":
		return "Not live: the API server does not answer."
	case q.Paused:
		return "Evictions are paused."
	case q.status().Breaker != nil:
		return "The breaker is open."
	case q.running != nil:
		return fmt.Sprintf("A pass of %s runs: wave %d.", q.running.Spec.StrategyNames, waveNow(q.running))
	case q.Waiting > 0:
		return "No pass runs. " + plural.Count(q.Waiting, "plan") + plural.Choose(q.Waiting, " waits", " wait") + " for a decision."
	case q.status().LastPass != nil:
		return "No pass runs."
	}
	return ""
}

// write writes the page.
func (s *Server) write(w http.ResponseWriter, q *request, status int, body any) error {
	q.page.Body = body
	var out bytes.Buffer
	if err := pages[q.Template].ExecuteTemplate(&out, "live", q.page); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	for line := range bytes.Lines(out.Bytes()) { // names and messages of others may have characters that turn the text around
		_, _ = io.WriteString(w, terminal.Escape(strings.TrimSuffix(string(line), "\n"))+"\n") // the browser may be gone
	}
	return nil
}

// clockTime writes a time of today without its day.
func (q *request) clockTime(t time.Time) string {
	t = t.UTC()
	switch {
	case t.IsZero():
		return "an unknown time"
	case t.Format(time.DateOnly) == q.now.Format(time.DateOnly):
		return t.Format("15:04")
	case t.Year() == q.now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

// span writes a duration with at most two units.
func span(d time.Duration) string {
	switch m := int(d.Round(time.Minute).Minutes()); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case m < 60:
		return fmt.Sprintf("%d min", m)
	case m < 48*60 && m%60 == 0:
		return fmt.Sprintf("%d h", m/60)
	case m < 48*60:
		return fmt.Sprintf("%d h %d min", m/60, m%60)
	default:
		return fmt.Sprintf("%d days", m/(24*60))
	}
}

// modeWord is the mode of a strategy or a plan in words.
func modeWord(m v1alpha1.Mode) string {
	switch m {
	case v1alpha1.ModeApprove:
		return "approve"
	case v1alpha1.ModeDryRun:
		return "dry run"
	}
	return "automatic"
}

// user returns the name of the person. That of the API server does not change while the program runs; another one is
// asked for again. Unless the API server answers, it may be "".
func (s *source) user(ctx context.Context, answers bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.person != "" || !answers {
		return s.person
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rightTimeout)
	defer cancel()
	name, known := s.options.User(ctx)
	if known {
		s.person = name
	}
	return name
}
