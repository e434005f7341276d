package metrics

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/usage"
)

// mention matches the name of a metric, with its labels if there are any.
var mention = regexp.MustCompile(`\b((?:evenkeel|rest_client|leader_election)_[a-z0-9_]+)(\{[^{}]*\})?`)

// matcher matches the name of a label at the beginning of a part of {...}.
var matcher = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=|$)`)

// quoted matches the value of a label.
var quoted = regexp.MustCompile(`"[^"]*"`)

// selected matches a label with the values that a query selects or leaves out.
var selected = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)\s*"([^"]*)"`)

// listed matches a value in the description of a label.
var listed = regexp.MustCompile("`([^`]*)`")

// targetLabels are labels that Prometheus or a push adds.
var targetLabels = []string{"job", "instance", "namespace", "pod", "container", "service", "endpoint", "cluster", "le", "release", "strategies"}

// TestMentionedMetricsExist checks that the chart (with its alerts and its dashboard), the documentation and the
// examples name only metrics and labels that exist.
func TestMentionedMetricsExist(t *testing.T) {
	mentioned := map[string]bool{}
	for _, root := range []string{"../charts", "../docs", "../examples", "../README.md"} {
		must.Succeed(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, problem := range checkMentions(string(text), mentioned) {
				t.Errorf("%s: %s", path, problem)
			}
			return nil
		}))
	}
	for _, s := range catalog {
		for _, d := range s.metrics {
			if !mentioned[d.name] {
				t.Errorf("%s is on no page", d.name)
			}
		}
	}
}

// checkMentions returns what is wrong with the metrics in a text, and marks those that exist.
func checkMentions(text string, mentioned map[string]bool) (problems []string) {
	for _, m := range mention.FindAllStringSubmatch(strings.ReplaceAll(text, `\"`, `"`), -1) {
		d := definitionOf(m[1])
		if d == nil {
			problems = append(problems, fmt.Sprintf("there is no metric %s", m[1]))
			continue
		}
		mentioned[d.name] = true
		for _, part := range strings.Split(strings.Trim(quoted.ReplaceAllString(m[2], ""), "{}"), ",") {
			label := matcher.FindStringSubmatch(part)
			if label != nil && !slices.Contains(d.labelNames(), label[1]) && !slices.Contains(targetLabels, label[1]) {
				problems = append(problems, fmt.Sprintf("%s has no label %s", m[1], label[1]))
			}
		}
		for _, s := range selected.FindAllStringSubmatch(m[2], -1) {
			for _, value := range strings.Split(s[2], "|") {
				if !isValue(d, s[1], value) {
					problems = append(problems, fmt.Sprintf("%s is never %q in %s", s[1], value, m[1]))
				}
			}
		}
	}
	return problems
}

// isValue reports whether a label of a metric can have a value. It reports true for labels whose values the program
// does not choose, such as names of the configuration, and for regular expressions.
func isValue(d *definition, label, value string) bool {
	i := slices.Index(d.labelNames(), label)
	if i < 0 || regexp.QuoteMeta(value) != value {
		return true
	}
	switch label {
	case "code":
		return boundedCode(value) == value
	case "method", "verb":
		return boundedMethod(value) == value
	case "stopped":
		return value == notStopped || slices.Contains(plan.StopCodes(), plan.Code(value))
	case "reason":
		return d != &defUnjudged || slices.Contains(plan.NothingJudgedCodes(), plan.Code(value))
	case "kind":
		return value == otherProblem || slices.Contains(problemKinds, usage.ProblemKind(value))
	case "strategy", "scheduler", "receiver", "rule", "zone", "limit", "name", "version", "revision", "goversion", "hash":
		return true
	}
	for _, v := range listed.FindAllStringSubmatch(d.labels[i].values, -1) {
		if v[1] == value {
			return true
		}
	}
	return false
}

// TestSeriesHaveListedValues checks the values of the labels of every series against those that queries may select.
func TestSeriesHaveListedValues(t *testing.T) {
	families := must.Get(withEverything().Registry.Gather())(t)
	for _, f := range families {
		d := definitionOf(f.GetName())
		for _, series := range f.GetMetric() {
			for _, l := range series.GetLabel() {
				if d != nil && !isValue(d, l.GetName(), l.GetValue()) {
					t.Errorf("%s has a series with %s=%q, which its description does not list", f.GetName(), l.GetName(), l.GetValue())
				}
			}
		}
	}
}

// definitionOf returns the definition of a metric or of a series of a histogram, or nil.
func definitionOf(name string) *definition {
	for _, s := range catalog {
		for _, d := range s.metrics {
			base := name
			if d.kind == histogram {
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					base = strings.TrimSuffix(base, suffix)
				}
			}
			if d.name == base {
				return d
			}
		}
	}
	return nil
}

func TestMentionsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`sum by (strategy) (rate(evenkeel_evictions_total{strategy="zones, all",namespace=~"$ns"}[5m])) > 0`: "",
		`rate(evenkeel_pass_duration_seconds_bucket{le="1"}[5m])`:                                            "",
		`{"expr": "evenkeel_passes_total{stopped!=\"none\"}"}`:                                               "",
		"`evenkeel_reloads_total{files,result=\"refused\"}` increases":                                       "",
		`evenkeel_moves_total{outcome="bloked"}`:                                                             `outcome is never "bloked" in evenkeel_moves_total`,
		`evenkeel_moves_total{outcome=~"evicted|blocked|unknow"}`:                                            `outcome is never "unknow" in evenkeel_moves_total`,
		`evenkeel_passes_total{stopped!~"none|Pause"}`:                                                       `stopped is never "Pause" in evenkeel_passes_total`,
		`evenkeel_nothing_judged{reason="NoUsage"}`:                                                          `reason is never "NoUsage" in evenkeel_nothing_judged`,
		`rest_client_requests_total{code="43",method="POST"}`:                                                `code is never "43" in rest_client_requests_total`,
		`evenkeel_usage_problems_total{kind="Missing"} + evenkeel_leader{namespace="ops"}`:                   "",
		"evenkeel_old_total > 0":                                                                             "there is no metric evenkeel_old_total",
		"evenkeel_evictions_bucket":                                                                          "there is no metric evenkeel_evictions_bucket",
		`evenkeel_passes_total{mode="live",reason="x"}`:                                                      "evenkeel_passes_total has no label reason",
		`{"expr": "rest_client_requests_total{host=\"a\"}"}`:                                                 "rest_client_requests_total has no label host",
	} {
		if got := strings.Join(checkMentions(text, map[string]bool{}), "; "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
