package guides

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answer is what fakePrometheus answers to a query with the part: a value for each of the nodes n1 to n3.
type answer struct {
	part   string
	values [3]float64
}

// fakePrometheus returns the address of a server that answers instant queries by the first part that they contain.
// Other queries, and queries for a range, have an empty answer, and so have queries for the time of a push. Queries for
// another timestamp are answered with the time.
func fakePrometheus(t *testing.T, answers ...answer) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		kind, query, now := "vector", r.FormValue("query"), time.Now().Unix()
		if strings.HasSuffix(r.URL.Path, "/query_range") {
			kind, query = "matrix", ""
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":[%s]}}`, kind, vector(query, now, answers))
	})
}

func vector(query string, now int64, answers []answer) string {
	values, found := [3]float64{float64(now), float64(now), float64(now)}, strings.Contains(query, "timestamp(")
	if strings.Contains(query, "push_time_seconds") {
		return ""
	}
	for _, a := range answers {
		if !found && query != "" && strings.Contains(query, a.part) {
			values, found = a.values, true
		}
	}
	if !found {
		return ""
	}
	var out []string
	for i, v := range values {
		out = append(out, fmt.Sprintf(`{"metric":{"instance":"n%d"},"value":[%d,"%v"]}`, i+1, now, v))
	}
	return strings.Join(out, ",")
}

// fakeLoadWatcher returns the address of a load-watcher with the CPU of the nodes n1 to n3 in percent.
func fakeLoadWatcher(t *testing.T, cpu [3]float64) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/watcher" {
			return
		}
		var nodes []string
		for i, v := range cpu {
			metric := func(kind, operator string, value float64) string {
				return fmt.Sprintf(`{"name":"","type":%q,"operator":%q,"rollup":"","value":%v}`, kind, operator, value)
			}
			nodes = append(nodes, fmt.Sprintf(`"n%d":{"metrics":[%s,%s],"tags":{},"metadata":{"dataCenter":""}}`, i+1,
				metric("CPU", "Latest", v), metric("Memory", "Latest", 20)))
		}
		now := time.Now().Unix()
		fmt.Fprintf(w, `{"timestamp":%d,"window":{"duration":"15m","start":%d,"end":%d},"source":"KubernetesMetricsServer",`+
			`"data":{"NodeMetricsMap":{%s}}}`, now, now-900, now, strings.Join(nodes, ","))
	})
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
