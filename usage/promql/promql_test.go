package promql

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "is empty (want PromQL)",
		"rate(x[5m]":               "is not PromQL: 1:11: unclosed left parenthesis",
		"x{a=b}":                   "is not PromQL: 1:5: unexpected identifier",
		"rate(x)":                  "is not PromQL: 1:6: expected type range vector in call to function \"rate\", got instant vector",
		"1":                        "returns a scalar (want an instant vector: one value per node or pod)",
		"scalar(x)":                "returns a scalar",
		"x[5m]":                    "returns a range vector",
		`"a"`:                      "returns a string",
		"sum by (instance) (x) > ": "is not PromQL: 1:25: unexpected end of input",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLabelsThatAQueryDrops(t *testing.T) {
	for text, want := range map[string]string{
		"x":                                   "",
		"sum by (instance) (x)":               "",
		"sum by (job) (x)":                    "sum by (job)",
		"sum(x)":                              "sum by ()",
		"(avg(x))":                            "avg by ()",
		"avg without (cpu) (x)":               "",
		"avg without (instance) (x)":          "avg without (instance)",
		"topk(3, x)":                          "",
		"topk by (job) (3, sum by (job) (x))": "sum by (job)",
		"1 - sum(x)":                          "sum by ()",
		"sum(x) / 4":                          "sum by ()",
		"-sum(x)":                             "sum by ()",
		"x or sum(y)":                         "sum by ()",
		"sum(y) or x":                         "sum by ()",
		"x / on (job) y":                      "/ on (job)",
		"x / on (instance) y":                 "",
		"x / on (job) group_left y":           "",
		"x / ignoring (instance) y":           "/ ignoring (instance)",
		"x > on (job) y":                      "",
		"x and on (job) y":                    "",
		"x unless sum(y)":                     "",
		"sum(x) and y":                        "sum by ()",
		"sum(x) unless y":                     "sum by ()",
		"sum(x) / sum(y)":                     "sum by ()",
		"1 - sum by (job) (x) / sum by (job) (y)":                          "sum by (job)",
		`label_replace(sum(x), "instance", "a")`:                           "not PromQL",
		`label_replace(sum by (job) (x), "instance", "$1", "job", "(.*)")`: "",
	} {
		q, err := Parse(text)
		if err == nil {
			err = q.CheckLabels("instance")
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestPercentages(t *testing.T) {
	for text, want := range map[string]bool{
		"x": false, "x * 100": true, "100 * x": true, "((x) * (100))": true, "max by (instance) (x * 100)": true,
		"(1 - a / b) * 100": true, "(a * 100) / b": false, "x * 1024": false,
		`100 - (avg by (instance) (rate(c{mode="idle"}[5m])) * 100)`: true, "(100 - x)": true, "1 - x": false, "x - 100": false,
		"(100 - x) / 100": false, "x * 100 / 100": false,
	} {
		q := must.Get(Parse(text))(t)
		if got := q.IsPercentage(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestWithoutAMetricNothingWasPushed(t *testing.T) {
	q := must.Get(Parse(`label_replace(vector(0.2), "node", "n1", "", "")`))(t)
	if got := q.PushTimeQuery("node"); got != "" {
		t.Errorf("got %s, want no query", got)
	}
}

func TestWhenItWasPushed(t *testing.T) {
	for text, want := range map[string]string{
		`m{job="a"} * 1048576`: `min by (node) (push_time_seconds and on (job, instance, node) m{job="a"})`,
		"a offset 1m / (a + rate(b[5m:10s]))": "min by (node) (push_time_seconds and on (job, instance, node) a or " +
			"push_time_seconds and on (job, instance, node) b)",
		"max_over_time(c[5m] @ 17) unless c":    "min by (node) (push_time_seconds and on (job, instance, node) c)",
		`{__name__=~"a|b"}`:                     `min by (node) (push_time_seconds and on (job, instance, node) {__name__=~"a|b"})`,
		`sum by (node) (label_join(a,"b",":"))`: "min by (node) (push_time_seconds and on (job, instance, node) a)",
	} {
		q := must.Get(Parse(text))(t)
		got := q.PushTimeQuery("node")
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
		if p, err := Parse(got); err != nil || p.CheckLabels("node") != nil {
			t.Errorf("%s: %v, %v", got, err, p.CheckLabels("node"))
		}
	}
}
