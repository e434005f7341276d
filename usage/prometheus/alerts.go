package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/usage"
)

// Alerts reads which alerts fire.
//
// Alerts queries the metric ALERTS instead of /api/v1/alerts: every server that evaluates rules writes this metric, or
// receives it, and the server selects the names, so the answer is small.
type Alerts struct {
	client apiClient
	query  string
	names  *regexp.Regexp
}

// CheckAlertPattern returns an error if the pattern is not a regular expression for names of alerts.
func CheckAlertPattern(pattern string) error {
	_, err := compileAlertPatterns([]string{pattern})
	return err
}

func compileAlertPatterns(patterns []string) (*regexp.Regexp, error) {
	for _, p := range patterns {
		if strings.TrimSpace(p) == "" {
			return nil, errors.New("is empty (want the name of an alert)")
		}
		if _, err := regexp.Compile(p); err != nil {
			return nil, fmt.Errorf("is not a regular expression: %w", err)
		}
	}
	return regexp.Compile("^(?:" + joinPatterns(patterns) + ")$")
}

func joinPatterns(patterns []string) string { return "(?:" + strings.Join(patterns, ")|(?:") + ")" }

// NewAlerts returns a reader of the alerts whose names match one of the patterns, which are regular expressions for the
// whole name. The reader uses the fields URL, Timeout and Client of the options.
func NewAlerts(o Options, patterns []string) (*Alerts, error) {
	names, err := compileAlertPatterns(patterns)
	if err != nil {
		return nil, err
	}
	client, err := newAPIClient(o.URL, o.Client, o.Timeout)
	if err != nil {
		return nil, err
	}
	query := `ALERTS{alertstate="firing",alertname=~` + strconv.Quote(joinPatterns(patterns)) + `}`
	return &Alerts{client, query, names}, nil
}

// Limits on the text of others in messages, in characters.
const (
	maxAlertName  = 80
	maxAlertError = 400
)

// Firing returns the names of the alerts that fire now, sorted. Firing returns an error if the server does not answer
// completely and plausibly. The server evaluates the query at its own time: with a clock that differs, an alert could
// seem to be over.
func (a *Alerts) Firing(ctx context.Context) ([]string, error) {
	form := url.Values{"query": {a.query}}
	samples, problem := a.client.query(ctx, "/api/v1/query", form, []string{"alertname"}, "vector")
	if problem != nil {
		return nil, errors.New(usage.Sanitize(problem.Detail, maxAlertError))
	}
	var names []string
	for _, s := range samples {
		name := usage.Sanitize(s.labels[0], maxAlertName)
		if !a.names.MatchString(s.labels[0]) {
			return nil, fmt.Errorf("the answer contains the alert %s, which the query does not select", name)
		}
		names = append(names, strings.Clone(name)) // without Clone, the whole answer would stay in memory
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
