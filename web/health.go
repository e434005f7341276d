package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Check is a named part of /livez or /readyz.
type Check struct {
	// Name consists of lower case letters and dashes.
	Name string
	// Check returns an error if the part does not work. The error is shown to every client.
	Check func() error
}

// Health says whether this process works. Every list of checks begins with ping, which always succeeds.
type Health struct {
	// Live has the checks of /livez, which fail if only a restart helps.
	Live []Check
	// Ready has the checks of /readyz.
	Ready []Check
}

var ping = Check{"ping", func() error { return nil }}

// add adds /livez, /readyz and their single checks, which answer like those of an API server: `ok`, or 503 and the
// result of each check. With ?verbose, they always list the results. ?exclude=NAME leaves a check out.
func (h Health) add(mux *http.ServeMux) {
	for name, checks := range map[string][]Check{"livez": h.Live, "readyz": h.Ready} {
		checks = append([]Check{ping}, checks...)
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { answerHealth(w, r, name, checks) })
		for _, c := range checks {
			mux.HandleFunc("GET /"+name+"/"+c.Name, func(w http.ResponseWriter, r *http.Request) { answerHealth(w, r, name, []Check{c}) })
		}
	}
}

// answerHealth runs the checks. The name is livez or readyz.
func answerHealth(w http.ResponseWriter, r *http.Request, name string, checks []Check) {
	query := r.URL.Query()
	excluded := query["exclude"]
	var text strings.Builder
	failed := false
	for _, c := range checks {
		if slices.Contains(excluded, c.Name) {
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", c.Name)
		} else if err := c.Check(); err != nil {
			failed = true
			fmt.Fprintf(&text, "[-]%s failed: %v\n", c.Name, err)
		} else {
			fmt.Fprintf(&text, "[+]%s ok\n", c.Name)
		}
	}
	for _, e := range excluded {
		if !slices.ContainsFunc(checks, func(c Check) bool { return c.Name == e }) {
			fmt.Fprintf(&text, "warn: there is no check %q to exclude\n", e)
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache, private")
	switch {
	case failed:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "%s%s check failed\n", text.String(), name)
	case query.Has("verbose"):
		fmt.Fprintf(w, "%s%s check passed\n", text.String(), name)
	default:
		fmt.Fprint(w, "ok\n")
	}
}
