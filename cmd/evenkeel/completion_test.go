package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// complete returns the words that a shell would offer after a command line, without their descriptions.
func complete(t *testing.T, answers map[string]http.HandlerFunc, line ...string) []string {
	t.Helper()
	isolateFromCluster(t)
	r := badInput{server: &serverFault{paths: answers}}
	dir := r.prepare(t)
	r.serve(t, dir)
	got := invoke(t, connectTimeout, slices.Concat([]string{"__complete", "--kubeconfig", dir + "/kubeconfig.yaml"}, line), "")
	if rest := strings.TrimSpace(got.stderr); got.exit != 0 || strings.Count(rest, "\n") > 0 || !strings.HasPrefix(rest, "Completion ended with directive: ") {
		t.Errorf("%q: exit %d, stderr %q", line, got.exit, got.stderr)
	}
	var words []string
	for text := range strings.Lines(got.stdout) {
		if word, _, _ := strings.Cut(strings.TrimSpace(text), "\t"); !strings.HasPrefix(word, ":") {
			words = append(words, word)
		}
	}
	return words
}

// typed returns the words of a line. The word ? means that the next word is still empty.
func typed(line string) []string {
	words := strings.Fields(line)
	if last := len(words) - 1; words[last] == "?" {
		words[last] = ""
	}
	return words
}

func TestCompletion(t *testing.T) {
	const ours = configHead + "strategies:\n  ours: {type: ZoneSpread, schedule: \"@hourly\"}\n  own: {type: ZoneSpread, schedule: \"@hourly\"}\n"
	answers := releaseObjects(ours)
	list := func(apiVersion, kind string, names ...string) http.HandlerFunc {
		var items []map[string]any
		for _, n := range names {
			items = append(items, map[string]any{"metadata": map[string]any{"name": n}})
		}
		return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, apiList(apiVersion, kind, items)) }
	}
	answers["/api/v1/namespaces/default/pods"] = list("v1", "Pod", "web-1", "web-2", "db-1")
	answers["/api/v1/namespaces/bank/pods"] = list("v1", "Pod", "vault-1")
	answers["/api/v1/namespaces/shop/replicationcontrollers"] = func(w http.ResponseWriter, r *http.Request) { // two pages
		page := apiList("v1", "ReplicationController", []map[string]any{{"metadata": map[string]any{"name": "r1"}}})
		if r.URL.Query().Get("continue") == "next" {
			page = apiList("v1", "ReplicationController", []map[string]any{{"metadata": map[string]any{"name": "r2"}}})
		} else {
			page["metadata"] = map[string]any{"continue": "next"}
		}
		writeJSON(w, 200, page)
	}
	answers["/apis/coordination.k8s.io/v1/namespaces/ops/leases/evenkeel"] = respondText(200, "application/json", leaseJSON("node-7", time.Now()))
	plans := "/apis/evenkeel.io/v1alpha1/namespaces/ops/rebalanceplans"
	answers[plans] = newApprovalServer(t).plans
	answers[plans+"/"] = answers[plans]
	answers["/api/v1/namespaces"] = list("v1", "Namespace", "default", "shop")
	answers["/apis/apps/v1/namespaces/shop/deployments"] = list("apps/v1", "Deployment", "d", "e")
	for line, want := range map[string]string{
		"explain pod web-":                            "web-1 web-2",
		"explain pod bank/":                           "bank/vault-1",
		"explain pod -n bank ?":                       "vault-1",
		"explain pod web-1 ?":                         "",
		"explain node n":                              "n1 n2 n3",
		"explain workload de":                         "deployment/",
		"explain workload deploy/shop/":               "deploy/shop/d deploy/shop/e",
		"explain workload -n shop deployment/d":       "deployment/d",
		"explain workload herd/shop/":                 "",
		"hints clear n1 n":                            "n1 n2 n3",
		"plan --strategy o":                           "ours own",
		"plan --config builtin --strategy ?":          "hot-nodes spread-constraints zones",
		"trigger ou":                                  "ours",
		"trigger ours ow":                             "own",
		"plan -o ?":                                   "table wide json yaml html markdown",
		"explain pod web-1 -o w":                      "wide",
		"config convert -o ?":                         "config values",
		"version -o ?":                                "text json yaml",
		"plan --namespace sh":                         "shop",
		"plan --lease-namespace ?":                    "default",
		"plan --context ?":                            "a",
		"plan --log-format ?":                         "text json",
		"run --log-report ?":                          "none lines full",
		"pl":                                          "plan",
		"pause ?":                                     "",
		"approve -n ops ?":                            waitingPlan,
		"explain reason ZoneS":                        "ZoneSkewed",
		"explain workload replicationc":               "replicationcontroller/",
		"explain workload rc/shop/":                   "rc/shop/r1 rc/shop/r2",
		"plan --lease-namespace nowhere --strategy ?": "hot-nodes spread-constraints zones",
	} {
		if got := strings.Join(complete(t, answers, typed(line)...), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestCompletionIsBoundedAndSilent checks that a server that does not answer, or denies, leaves the line as it is.
func TestCompletionIsBoundedAndSilent(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, fault := range map[string]http.HandlerFunc{"no answer": hang, "forbidden": respondStatus(403, "Forbidden", "no")} {
		for _, line := range []string{"explain pod ?", "explain workload deploy/", "approve ?", "plan --lease-namespace ?"} {
			begun := time.Now()
			words := complete(t, map[string]http.HandlerFunc{"/api/": fault, "/apis/": fault}, typed(line)...)
			if len(words) > 0 {
				t.Errorf("%s: %s: %q, want nothing", name, line, words)
			}
			if took := time.Since(begun); took > 10*time.Second { // 2 s, on a machine without load
				t.Errorf("%s: %s took %s", name, line, took)
			}
		}
	}
}
