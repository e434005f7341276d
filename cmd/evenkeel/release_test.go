package main

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

const allLeases = "/apis/coordination.k8s.io/v1/leases"

// releasesIn answers a list of the Leases of all namespaces. Each namespace has the Lease evenkeel, with this holder.
// The answer honours the field selector, because without it the list contains one Lease per node.
func releasesIn(holders map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		items := []map[string]any{}
		for namespace, holder := range holders {
			if r.URL.Query().Get("fieldSelector") == "metadata.name=evenkeel" {
				items = append(items, map[string]any{"metadata": map[string]any{"name": "evenkeel", "namespace": namespace},
					"spec": map[string]any{"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")}})
			}
		}
		writeJSON(w, 200, apiList("coordination.k8s.io/v1", "Lease", items))
	}
}

// runWithReleases runs a command without --lease-namespace against a server whose releases are in these namespaces.
// It returns the paths of the requests about ConfigMaps and the objects of evenkeel.io.
func runWithReleases(t *testing.T, list http.HandlerFunc, args string) (got programResult, configMaps []string) {
	t.Helper()
	isolateFromCluster(t)
	seen := make(chan string, 1000)
	paths := map[string]http.HandlerFunc{allLeases: list}
	for _, namespace := range []string{"default", "ek", "trial"} {
		for _, api := range []string{"/api/v1/namespaces/", "/apis/evenkeel.io/v1alpha1/namespaces/"} {
			paths[api+namespace+"/"] = func(w http.ResponseWriter, r *http.Request) {
				seen <- r.Method + " " + strings.TrimPrefix(r.URL.Path, api)
				if r.Method == http.MethodPost {
					respondText(201, "application/json", rebalancerJSON(namespace))(w, r)
					return
				}
				respondNotFound(w, r)
			}
		}
	}
	r := badInput{server: &serverFault{paths: paths}}
	dir := r.prepare(t)
	r.serve(t, dir)
	got = invoke(t, connectTimeout, argsInDir(dir, args+" --kubeconfig kubeconfig.yaml"), somePlan)
	close(seen)
	for s := range seen {
		configMaps = append(configMaps, s)
	}
	return got, configMaps
}

func rebalancerJSON(namespace string) string {
	return fmt.Sprintf(`{"apiVersion":"evenkeel.io/v1alpha1","kind":"Rebalancer","metadata":{"name":"evenkeel","namespace":%q}}`, namespace)
}

// TestPauseFindsRelease checks that a pause without --lease-namespace is written where Evenkeel runs, and not in the
// namespace default.
func TestPauseFindsRelease(t *testing.T) {
	_, requests := runWithReleases(t, releasesIn(map[string]string{"ek": "node-7"}), "pause")
	if want := "POST ek/rebalancers"; !slices.Contains(requests, want) {
		t.Errorf("requests %v, want %s", requests, want)
	}
}

// TestReleaseIsAmbiguous checks that commands that must reach the release fail if they find none or several, and that
// the message names the releases and the flag. Plans are made without the state, and a warning says so first.
func TestReleaseIsAmbiguous(t *testing.T) {
	const none = "no release of Evenkeel was found: no namespace has a Lease evenkeel or evenkeel-dry-run; set --lease-namespace to the namespace of Evenkeel"
	const several = `2 releases of Evenkeel were found: in namespace ek (led by node-7), in namespace trial (no leader now, last renewed `
	const denied = "the release of Evenkeel cannot be found: permission to list leases in all namespaces is missing; set --lease-namespace to the namespace of Evenkeel: "
	for name, c := range map[string]struct {
		list http.HandlerFunc
		want string
	}{
		"none":      {releasesIn(nil), none},
		"several":   {releasesIn(map[string]string{"ek": "node-7", "trial": ""}), several},
		"forbidden": {respondStatus(403, "Forbidden", "leases is forbidden"), denied},
	} {
		for command, unchanged := range map[string]string{"pause": "evictions are not paused: ", "resume": "the pause is unchanged: ", "apply -": "nothing was evicted: "} {
			t.Run(name+"/"+command, func(t *testing.T) {
				got, requests := runWithReleases(t, c.list, command)
				if got.exit != 1 || !strings.HasPrefix(got.stderr, "evenkeel: "+unchanged+c.want) || got.stdout != "" {
					t.Errorf("exit %d, stdout %q, stderr %q, want %q", got.exit, got.stdout, got.stderr, c.want)
				}
				if len(requests) > 0 {
					t.Errorf("requests about ConfigMaps: %v, want none", requests)
				}
			})
		}
		for _, command := range []string{"plan", "explain node n3"} {
			t.Run(name+"/"+command, func(t *testing.T) {
				got, requests := runWithReleases(t, c.list, command+" --config builtin")
				if want := "evenkeel: warning: " + c.want; got.exit != 0 || !strings.HasPrefix(got.stderr, want) || got.stdout == "" {
					t.Errorf("exit %d, stderr %q, want %q", got.exit, got.stderr, want)
				}
				if len(requests) > 0 {
					t.Errorf("requests about ConfigMaps: %v, want none", requests)
				}
				if unknown := strings.Contains(got.stdout, "the planner state is unknown"); command == "plan" && unknown != (name != "none") {
					t.Errorf("the plan says that the state is unknown: %v\n%s", unknown, got.stdout)
				}
			})
		}
	}
}

// TestPlansWarnWithoutLease checks that plan and explain warn if the namespace of --lease-namespace has no Lease:
// without the warning, a wrong name would hide a pause. If the namespace has a Lease, nothing is printed. If its holder
// executes only plans of another configuration, plan does not advise to apply this one.
func TestPlansWarnWithoutLease(t *testing.T) {
	isolateFromCluster(t)
	const absent = "evenkeel: warning: namespace default has no Lease evenkeel"
	for name, c := range map[string]struct {
		lease http.HandlerFunc
		want  string
		other bool
	}{
		"a wrong namespace":         {respondNotFound, absent, false},
		"the namespace of a leader": {respondText(200, "application/json", leaseJSON("node-7", time.Now())), "", false},
		"a leader with another configuration": {respondText(200, "application/json", strings.Replace(leaseJSON("node-7", time.Now()),
			`"metadata":{`, `"metadata":{"labels":{"evenkeel.io/config-hash":"c2"},`, 1)), "", true},
		"no permission": {respondStatus(403, "Forbidden", "no"), "", false},
	} {
		for _, command := range []string{"plan", "explain node n3"} {
			t.Run(name+"/"+command, func(t *testing.T) {
				r := badInput{server: &serverFault{paths: map[string]http.HandlerFunc{
					leases + "/evenkeel": c.lease, leases + "/evenkeel-dry-run": respondNotFound}}}
				dir := r.prepare(t)
				r.serve(t, dir)
				got := invoke(t, connectTimeout, argsInDir(dir, command+" --config builtin --lease-namespace default --kubeconfig kubeconfig.yaml"), "")
				if got.exit != 0 || !strings.HasPrefix(got.stderr, c.want) || c.want == "" && got.stderr != "" {
					t.Errorf("exit %d: %q, want %q", got.exit, got.stderr, c.want)
				}
				if command == "plan" && strings.Contains(got.stdout, "evenkeel apply plan.yaml") == c.other {
					t.Errorf("the plan advises to apply it: %t\n%s", !c.other, got.stdout)
				}
			})
		}
	}
}

// TestKubeconfigOfTheEnvironment checks that the message names the files of KUBECONFIG if they select no cluster.
func TestKubeconfigOfTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	empty, missing, other := dir+"/empty", dir+"/missing", dir+"/other"
	must.Succeed(t, os.WriteFile(empty, nil, 0o600))
	for env, want := range map[string]string{
		missing:               "KUBECONFIG names files that do not exist: " + missing,
		missing + ":" + other: "KUBECONFIG names files that do not exist: " + missing + ", " + other,
		empty + ":" + missing: "KUBECONFIG names files that do not exist: " + missing,
		empty:                 "KUBECONFIG=" + empty + " selects no cluster; check its current-context, contexts and clusters",
	} {
		isolateFromCluster(t)
		t.Setenv("KUBECONFIG", env)
		got := invoke(t, connectTimeout, []string{"plan"}, "")
		want = "evenkeel: finding the cluster: " + want + "; or set -f FILE to read a snapshot\n"
		if got.exit != 1 || got.stderr != want {
			t.Errorf("KUBECONFIG=%s: exit %d, %q, want %q", env, got.exit, got.stderr, want)
		}
	}
}
