package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/events"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	zonesConfig  = "strategies: {zones: {type: ZoneSpread, schedule: \"@hourly\"}}\n"
	crashConfig  = "strategies: {crash: {type: Restarts, schedule: \"@hourly\", args: {minRestarts: 5}}}\n"
	byLoadConfig = "load: {source: metricsServer}\nstrategies: {hot: {type: NodeLoad, schedule: \"@hourly\", args: {basis: load, target: {cpu: 0.5}}}}\n"
)

// answerVersion answers as a server of this minor version.
func answerVersion(minor string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, map[string]string{"major": "1", "minor": minor, "gitVersion": "v1." + minor + ".0"})
	}
}

// podsOfScheduler answers with the pods of the example, but another scheduler places them.
func podsOfScheduler(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case q.Get("sendInitialEvents") == "true":
			respondStatus(422, "Invalid", "no streaming lists here")(w, r)
		case q.Get("watch") == "true":
			neverAnswer(w, r)
		default:
			text, err := json.Marshal(exampleObjects()[pods])
			if err != nil {
				panic(err)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(bytes.ReplaceAll(text, []byte(`"containers":`), []byte(`"schedulerName":"`+name+`","containers":`)))
		}
	}
}

// TestNothingJudged shows for each cause why a pass could judge nothing: the first line of each report, the exit code
// and the error of each command, the metric, and the event. testdata/nothing_judged.txt has the results.
func TestNothingJudged(t *testing.T) {
	isolateFromCluster(t)
	denied := respondStatus(403, "Forbidden", `pods is forbidden: User "a" cannot list resource "pods"`)
	var out strings.Builder
	for _, c := range []struct {
		name, conf string
		paths      map[string]http.HandlerFunc
	}{
		{"the server version is not supported", zonesConfig, map[string]http.HandlerFunc{"/version": answerVersion("32")}},
		{"the scheduler has no profile", zonesConfig, map[string]http.HandlerFunc{pods: podsOfScheduler("fancy")}},
		{"the usage source gives no answer", byLoadConfig, nil},
		{"a permission is missing", zonesConfig, map[string]http.HandlerFunc{pods: denied}},
		{"no strategy is configured", "strategies: {}\n", nil},
		{"no node is in scope", "nodeSelector: pool=gold\n" + zonesConfig, nil},
		{"no namespace is in scope", "namespaces: {include: [shpo]}\n" + zonesConfig, nil},
		{"no node is in the scope of the only strategy", strings.Replace(zonesConfig, "}", ", nodeSelector: pool=gold}", 1), nil},
		{"no namespace is in the scope of the only strategy", strings.Replace(zonesConfig, "}", ", namespaces: {include: [shpo]}}", 1), nil},
		{"no pod is in the scope of the only strategy", strings.Replace(zonesConfig, "}", ", podSelector: app=nothing}", 1), nil},
		{"no pod is in the scope of one of two strategies", strings.Replace(zonesConfig, "}", "}, other: {type: ZoneSpread, schedule: \"@hourly\", "+
			"podSelector: app=nothing}", 1), nil},
		{"no pod is in the scope of the only strategy, which is about violations", strings.Replace(crashConfig, "}}", "}, podSelector: app=nothing}", 1), nil},
		{"no node is in the scope of the only strategy, which is about violations", strings.Replace(crashConfig, "}}", "}, nodeSelector: pool=gold}", 1), nil},
		{"no violation", crashConfig, nil},
		{"no violation, and another strategy lacks goals", strings.Replace(crashConfig, "strategies: {", "strategies: {apart: {type: InterPodAntiAffinity, schedule: \"@hourly\"}, "+
			"racks: {type: ZoneSpread, schedule: \"@hourly\", args: {topologyKey: rack}}, ", 1), nil},
		{"two causes", strings.Replace(byLoadConfig, "strategies: {", "strategies: {zones: {type: ZoneSpread, schedule: \"@hourly\"}, ", 1),
			map[string]http.HandlerFunc{"/version": answerVersion("32")}},
		{"all goals are met, so no prediction is necessary", `strategies: {high: {type: NodeLoad, schedule: "@hourly", args: {target: {cpu: 1}}}}` + "\n",
			map[string]http.HandlerFunc{"/version": answerVersion("32")}},
	} {
		r := badInput{server: &serverFault{paths: c.paths}}
		dir := r.prepare(t)
		r.serve(t, dir)
		must.Succeed(t, os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(configHead+"dryRun: true\n"+c.conf), 0o600))
		fmt.Fprintf(&out, "# %s\n", c.name)
		var o v1alpha1.RebalancePlan
		var judged string
		for _, command := range []string{"plan --detailed-exitcode", "run --once", "run --once --log-report lines -o json"} {
			got := invoke(t, connectTimeout, argsInDir(dir, command+" --kubeconfig kubeconfig.yaml --config c.yaml"), "")
			if strings.HasSuffix(command, "json") {
				if err := json.Unmarshal([]byte(got.stdout), &o); err != nil {
					t.Fatalf("%s: %v\n%s", c.name, err, got.stdout)
				}
				_, judged, _ = strings.Cut(got.stderr, " nothingJudged=")
				continue
			}
			first, _, _ := strings.Cut(got.stdout, "\n")
			fmt.Fprintf(&out, "%s: exit %d\n  first line: %s\n", command, got.exit, first)
			for _, line := range strings.Split(got.stdout, "\n") {
				if strings.HasPrefix(line, "Strategy ") {
					fmt.Fprintf(&out, "  line: %s\n", line)
				}
			}
			fmt.Fprintf(&out, "  error: %s\n", withoutWarnings(got.stableMessage(dir)))
		}
		var report plan.RunReport
		for code := range strings.SplitSeq(strings.Trim(strings.Split(judged+" ", " ")[0], `"`), ",") {
			if i := slices.IndexFunc(o.Spec.Notices, func(n v1alpha1.Notice) bool { return n.Code == code }); i >= 0 {
				fmt.Fprintf(&out, "JSON: spec.notices: %s\n", code)
				report.Plan.NothingJudged = append(report.Plan.NothingJudged, plan.Reason{Code: plan.Code(code), Message: o.Spec.Notices[i].Message})
			}
		}
		writeMetricAndEvent(t, &out, report)
		out.WriteString("\n")
	}
	text := strings.TrimSuffix(out.String(), "\n")
	for _, v := range unstableTexts {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	golden.Equal(t, "testdata/nothing_judged.txt", []byte(text))
}

// withoutWarnings returns the lines that are not warnings.
func withoutWarnings(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(l, "evenkeel: warning: ") }), "\n")
}

// writeMetricAndEvent writes the metric and the event that follow from a report.
func writeMetricAndEvent(t *testing.T, out *strings.Builder, r plan.RunReport) {
	t.Helper()
	m := metrics.New("v", "h")
	m.RecordPass(r)
	families := must.Get(m.Registry.Gather())(t)
	for _, f := range families {
		for _, x := range f.GetMetric() {
			if f.GetName() == "evenkeel_nothing_judged" && x.GetGauge().GetValue() > 0 {
				fmt.Fprintf(out, "metric: %s{reason=%q} %v\n", f.GetName(), x.GetLabel()[0].GetValue(), x.GetGauge().GetValue())
			}
		}
	}
	fake := events.NewFakeRecorder(1)
	evictor.EventRecorder{Recorder: fake, Namespace: "evenkeel"}.JudgedNothing(plan.Plan{}, r.Plan)
	select {
	case e := <-fake.Events:
		fmt.Fprintf(out, "event: %s\n", e)
	default:
		out.WriteString("event: none\n")
	}
}
