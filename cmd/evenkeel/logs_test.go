package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// podJSON returns a pod of a release, which a Job may own.
func podJSON(name, created, job string) string {
	owner := ""
	if job != "" {
		owner = `,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"` + job + `","uid":"` + job + `","controller":true}]`
	}
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"default","creationTimestamp":"` + created + `"` + owner +
		`},"spec":{"containers":[{"name":"proxy"},{"name":"evenkeel"}]}}`
}

// runLogs runs the command logs against a server with these answers.
func runLogs(t *testing.T, paths map[string]http.HandlerFunc, args ...string) programResult {
	t.Helper()
	r := badInput{server: &serverFault{paths: paths}}
	dir := r.prepare(t)
	r.serve(t, dir)
	return invoke(t, connectTimeout, append([]string{"logs", "--kubeconfig", dir + "/kubeconfig.yaml", "--lease-namespace", "default"}, args...), "")
}

// TestLogsFindsTheLeader: two replicas run, and the command prints the log of the one that holds the Lease, with the
// options of the command line, and safe for a terminal.
func TestLogsFindsTheLeader(t *testing.T) {
	isolateFromCluster(t)
	const pods = "/api/v1/namespaces/default/pods"
	asText := func(text string) http.HandlerFunc { return respondText(200, "text/plain", text) }
	asJSON := func(text string) http.HandlerFunc { return respondText(200, "application/json", text) }
	list := func(items ...string) http.HandlerFunc {
		return asJSON(`{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[` + strings.Join(items, ",") + `]}`)
	}
	var query string
	leading := map[string]http.HandlerFunc{
		leases + "/evenkeel":         asJSON(leaseJSON("", time.Now())),
		leases + "/evenkeel-dry-run": asJSON(leaseJSON("ek-b_0011aabb", time.Now())),
		pods + "/ek-b":               asJSON(podJSON("ek-b", "2026-01-01T00:00:00Z", "")),
		pods + "/ek-b/log": func(w http.ResponseWriter, r *http.Request) {
			query = r.URL.Query().Encode()
			asText("level=INFO msg=move\n\x1b[2Jlast")(w, r)
		},
	}
	got := runLogs(t, leading, "-f", "--since", "90s", "--tail", "5", "--previous", "--request-timeout", "9s")
	if got.exit != 0 || got.stdout != "level=INFO msg=move\n\\x1b[2Jlast" || got.stderr != "evenkeel: log of pod default/ek-b (it leads)\n" ||
		query != "container=evenkeel&follow=true&previous=true&sinceSeconds=90&tailLines=5" {
		t.Errorf("%q: %+v", query, got)
	}

	leading[pods+"/ek-b/log"] = respondStatus(403, "Forbidden", "no")
	got = runLogs(t, leading)
	if want := "permission to get pods/log in namespace default is missing"; got.exit != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("want %q: %+v", want, got)
	}
	leading[pods+"/ek-b"] = respondStatus(403, "Forbidden", "no")
	got = runLogs(t, leading)
	if want := "permission to get pods in namespace default is missing"; got.exit != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("want %q: %+v", want, got)
	}

	// Nobody leads: the pods of the newest job, in their order, or else the newest pod.
	idle := map[string]http.HandlerFunc{
		leases + "/evenkeel": respondNotFound, leases + "/evenkeel-dry-run": respondNotFound,
		pods: list(podJSON("b-2", "2026-01-03T00:00:00Z", "b"), podJSON("a-1", "2026-01-01T00:00:00Z", "a"), podJSON("b-1", "2026-01-02T00:00:00Z", "b")),
	}
	for _, name := range []string{"a-1", "b-1", "b-2"} {
		idle[pods+"/"+name+"/log"] = asText(name + "\n")
	}
	if got = runLogs(t, idle); got.exit != 0 || got.stdout != "b-1\nb-2\n" || !strings.Contains(got.stderr, "default/b-2 (the newest job is b)") {
		t.Errorf("jobs: %+v", got)
	}
	idle[pods] = list(podJSON("b-1", "2026-01-02T00:00:00Z", ""), podJSON("a-1", "2026-01-01T00:00:00Z", ""))
	if got = runLogs(t, idle); got.exit != 0 || got.stdout != "b-1\n" || !strings.Contains(got.stderr, "default/b-1 (no pod leads; it is the newest)") {
		t.Errorf("without a leader: %+v", got)
	}
	idle[pods] = list()
	if got = runLogs(t, idle); got.exit != 1 || !strings.Contains(got.stderr, "namespace default has no pod with the labels app.kubernetes.io/name=evenkeel") {
		t.Errorf("without a pod: %+v", got)
	}
	idle[pods] = respondStatus(403, "Forbidden", "no")
	if got = runLogs(t, idle); got.exit != 1 || !strings.Contains(got.stderr, "permission to list pods in namespace default is missing") {
		t.Errorf("forbidden: %+v", got)
	}
}
