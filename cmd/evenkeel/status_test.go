package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	objectsPath   = "/apis/evenkeel.io/v1alpha1/namespaces/default/"
	rebalancer    = objectsPath + "rebalancers/evenkeel"
	storedPlans   = objectsPath + "rebalanceplans"
	rebalancerDoc = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Rebalancer","metadata":{"name":"evenkeel","namespace":"default"},"status":{"mode":"Live",
		"schedule":"Deployment","scorePerMille":931,"lastPass":{"finished":"2026-01-01T00:00:00Z","moves":1,"evicted":1,"asPredicted":1}}}`
	// firstPlans and lastPlans are two pages: shop/web-a was evicted, then its replacement web-b.
	firstPlans = `{"metadata":{"continue":"next"},"items":[{"metadata":{"name":"p1","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"moveCount":1,
		"strategyNames":"zones","mode":"Automatic","moves":[{"step":1,"wave":1,"pod":{"namespace":"shop","name":"web-a","uid":"a"},"owner":{"kind":"Deployment",
		"name":"web"},"strategy":"zones","reason":{"code":"ZoneSkewed"},"from":"n3","to":"n1"}]},"status":{"phase":"Completed","evicted":1,"asPredicted":1,
		"steps":[{"step":1,"state":"Evicted","evictedAt":"2026-01-01T00:00:05Z","replacement":{"namespace":"shop","name":"web-b","uid":"b"},"landed":"n1",
		"asPredicted":true,"readyAfter":"4s","decidedBy":"alice"}]}}]}`
	lastPlans = `{"metadata":{},"items":[{"metadata":{"name":"p2","creationTimestamp":"2026-01-02T00:00:00Z"},"spec":{"moveCount":3,"omitted":{"moves":2},
		"strategyNames":"cpu","mode":"Automatic","moves":[{"step":1,"wave":1,"pod":{"namespace":"shop","name":"web-b","uid":"b"},"owner":{"kind":"Deployment",
		"name":"web"},"strategy":"cpu","reason":{"code":"NodeOverUtilized"},"from":"n1","to":"n2"}]},"status":{"phase":"Completed","evicted":1,
		"steps":[{"step":1,"state":"Evicted","evictedAt":"2026-01-02T00:00:05Z","replacement":{"namespace":"shop","name":"web-c","uid":"c"},"landed":"n3",
		"reason":{"code":"LandedElsewhere","message":"landed on n3"}}]}}]}`
)

func jsonText(text string) http.HandlerFunc { return respondText(200, "application/json", text) }

// runShow runs status or history against a server with a release. Paths replace what the server answers.
func runShow(t *testing.T, paths map[string]http.HandlerFunc, args ...string) programResult {
	t.Helper()
	all := map[string]http.HandlerFunc{
		allLeases:            releasesIn(map[string]string{"default": "node-7"}),
		leases + "/evenkeel": jsonText(leaseJSON("node-7", time.Now())),
		rebalancer:           jsonText(rebalancerDoc),
		storedPlans: func(w http.ResponseWriter, r *http.Request) {
			switch q := r.URL.Query(); {
			case q.Get("fieldSelector") != "":
				jsonText(`{"items":[]}`)(w, r)
			case q.Get("limit") == "":
				respondStatus(400, "BadRequest", "a list without a limit")(w, r)
			case q.Get("continue") == "":
				jsonText(firstPlans)(w, r)
			default:
				jsonText(lastPlans)(w, r)
			}
		},
	}
	for path, h := range paths {
		all[path] = h
	}
	r := badInput{server: &serverFault{paths: all}}
	dir := r.prepare(t)
	r.serve(t, dir)
	return invoke(t, connectTimeout, append(args, "--kubeconfig", dir+"/kubeconfig.yaml"), "")
}

// TestStatus checks what status says about a release, with and without permissions, and without the definitions.
func TestStatus(t *testing.T) {
	isolateFromCluster(t)
	forbidden := respondStatus(403, "Forbidden", "no")
	for _, c := range []struct {
		paths map[string]http.HandlerFunc
		args  string
		exit  int
		want  []string
	}{
		{args: "status", want: []string{"all is well", "Nothing to do.", "node-7", "score 93.1", "1 move, 1 evicted, 1 as predicted"}},
		{args: "status -o json", want: []string{`"kind": "Rebalancer"`, `"scorePerMille": 931`}},
		{args: "status", paths: map[string]http.HandlerFunc{rebalancer: jsonText(strings.Replace(rebalancerDoc, `"status"`, `"spec":{"pause":{"by":"bob",
			"reason":"release 42"}},"status"`, 1))}, want: []string{"evictions are paused", "by bob", "release 42", "evenkeel resume"}},
		{args: "status", paths: map[string]http.HandlerFunc{leases + "/evenkeel": jsonText(leaseJSON("node-7", time.Now().Add(-time.Hour)))},
			want: []string{"no process leads", "kubectl -n default get"}},
		{args: "status", paths: map[string]http.HandlerFunc{rebalancer: respondText(404, "text/plain", "404 page not found")},
			want: []string{"its state is unknown", "evenkeel crds | kubectl apply", "node-7"}},
		{args: "status", paths: map[string]http.HandlerFunc{rebalancer: respondNotFound}, want: []string{"no pass yet", "node-7"}},
		{args: "status", paths: map[string]http.HandlerFunc{rebalancer: forbidden}, want: []string{"get rebalancers.evenkeel.io evenkeel in namespace default is missing", "node-7"}},
		{args: "status", paths: map[string]http.HandlerFunc{storedPlans: forbidden},
			want: []string{"as far as this account may see", "list and get rebalanceplans.evenkeel.io", "whether a pass evicts pods now", "score 93.1"}},
		{args: "status -o yaml", paths: map[string]http.HandlerFunc{rebalancer: forbidden}, exit: 1, want: []string{"there is no Rebalancer to print"}},
		{args: "status -o name", want: []string{"rebalancer.evenkeel.io/evenkeel"}},
		{args: "status -o jsonpath={.status.lastPass.moves}", want: []string{"1"}},
		{args: "status -o name", paths: map[string]http.HandlerFunc{rebalancer: forbidden}, exit: 1, want: []string{"run evenkeel status without -o name"}},
		{args: "status -o html", exit: 1, want: []string{"the status has no html form"}},
	} {
		got := runShow(t, c.paths, strings.Fields(c.args)...)
		text := strings.Join(strings.Fields(got.stdout+got.stderr), " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) || got.exit != c.exit {
				t.Errorf("%s: exit %d, want %d and %q:\n%s%s", c.args, got.exit, c.exit, want, got.stdout, got.stderr)
			}
		}
	}
}

// TestHistory checks the passes and the moves of a subject in two pages of plans, and what history says if it cannot
// read them.
func TestHistory(t *testing.T) {
	isolateFromCluster(t)
	none := map[string]http.HandlerFunc{storedPlans: jsonText(`{"items":[]}`)}
	p1 := strings.Replace(strings.TrimSuffix(firstPlans[strings.Index(firstPlans, "[")+1:], "]}"), `"status":{`, `"status":{"runID":"r1",`, 1)
	one := map[string]http.HandlerFunc{storedPlans + "/p1": jsonText(p1)}
	for _, c := range []struct {
		paths map[string]http.HandlerFunc
		args  string
		exit  int
		want  []string
	}{
		{args: "history", want: []string{"0 passes with moves in the last 24h", "The oldest plan that is kept is of 2026-01-01T00:00:00Z"}},
		{args: "history --since 9999d", want: []string{"2 passes with moves", "p2 ", "p1 ", "cpu 1 0 1 0 zones 1 1 0 0", "2 moves of large plans are not stored"}},
		{args: "history pod shop/web-b", want: []string{"2 moves of pod shop/web-b", "shop/web-a on n3 -> shop/web-b on n1 -> shop/web-c on n3",
			"2026-01-01 00:00:05 shop/web-a n3 n1 n1 4s web-b zones alice p1 evicted, as predicted"}},
		{args: "history pod web-c -n shop", want: []string{"2 moves of pod shop/web-c"}},
		{args: "history pod shop/web-b --since 1d", want: []string{"0 moves of pod shop/web-b in the last 24h"}},
		{args: "history pod", want: []string{"0 moves of all pods in the last 24h"}},
		{args: "history pod --since 9999d", want: []string{"2 moves of all pods", "shop/web-a", "shop/web-b"}},
		{args: "history pod --since 9999d -n pay", want: []string{"0 moves of all pods of namespace pay"}},
		{args: "history workload", exit: 1, want: []string{"want one name: history workload KIND/NAME"}},
		{args: "history workload deploy/web -n shop", want: []string{"2 moves of workload deploy/shop/web"}},
		{args: "history workload sts/shop/web", want: []string{"0 moves of workload sts/shop/web"}},
		{args: "history node n3", want: []string{"2 moves of node n3"}},
		{args: "history node n2", want: []string{"0 moves of node n2"}},
		{args: "history node n1 -o json", want: []string{`"replacement": { "namespace": "shop"`, `"landed": "n1"`}},
		{args: "history --since 9999d -o yaml", want: []string{"kind: RebalancePlanList", "name: p1", "decidedBy: alice"}},
		{args: "history --since 9999d -o name", want: []string{"rebalanceplan.evenkeel.io/p2 rebalanceplan.evenkeel.io/p1"}},
		{args: "history --since 9999d -o jsonpath={.items[*].spec.moves[*].pod.name}", want: []string{"web-b web-a"}},
		{args: "history node n3 -o name", exit: 1, want: []string{"-o name prints names of objects, and this PastMove is not an object of the cluster"}},
		{args: "history -o name --since 9999d", paths: none, want: []string{""}},
		{args: "history plan p1", paths: one, want: []string{"shop/web-a", "n3", "n1"}},
		{args: "history plan p1 -o yaml", paths: one, want: []string{"kind: RebalancePlan", "landed: n1"}},
		{args: "history plan p1 -o html", paths: one, want: []string{"<!doctype html>", "shop/web-a"}},
		{args: "history plan p1 -o name", paths: one, want: []string{"rebalanceplan.evenkeel.io/p1"}},
		{args: "history plan p1 --show-namespace pay", paths: one, want: []string{"Filtered: shows only namespace pay; 1 of 1 move is left out"}},
		{args: "history plan p1 --show-namespace pay -o html", paths: one, want: []string{"Filtered: shows only namespace pay; 1 of 1 move is left out"}},
		{args: "history plan p1 --show-node n1 -o json", paths: one, want: []string{`"kind": "FilteredRebalancePlan"`, `"name": "web-a"`, `"landed": "n1"`}},
		{args: "history plan p1 --show-node n9 -o jsonpath={.spec.omitted.moves}{.spec.moves}{.status.steps}", paths: one, want: []string{"1"}},
		{args: "history plan p3", paths: map[string]http.HandlerFunc{storedPlans + "/p3": respondNotFound}, exit: 1, want: []string{"namespace default has no plan p3"}},
		{args: "history plan", exit: 1, want: []string{"want one name: history plan NAME"}},
		{args: "history plan p1 --since 1d", exit: 1, want: []string{"--since has no meaning for one plan"}},
		{args: "history plan p1", paths: map[string]http.HandlerFunc{storedPlans + "/p1": respondStatus(403, "Forbidden", "no")}, exit: 1,
			want: []string{"get rebalanceplans.evenkeel.io"}},
		{args: "history --since 9999d --show-strategy zones", want: []string{"Filtered: shows only passes with moves of strategy zones; 1 other is left out. 1 pass with moves", "p1 "}},
		{args: "history --since 9999d --show-strategy zones -o name", want: []string{"rebalanceplan.evenkeel.io/p1"}},
		{args: "history pod --since 9999d --show-node n2", want: []string{"Filtered: shows only moves of node n2; 1 move is left out. 1 move of all pods"}},
		{args: "history pod --since 9999d --show-namespace pay --show-namespace shop", want: []string{"0 moves are left out. 2 moves of all pods"}},
		{args: "history pod web-b -n shop", paths: none, want: []string{"No plan is stored."}},
		{args: "history", paths: map[string]http.HandlerFunc{storedPlans: respondStatus(403, "Forbidden", "no")}, exit: 1,
			want: []string{"permission to list rebalanceplans.evenkeel.io in namespace default is missing"}},
		{args: "history", paths: map[string]http.HandlerFunc{storedPlans: respondText(404, "text/plain", "404 page not found")}, exit: 1,
			want: []string{"there is no history: the cluster does not know this kind:", "install the CustomResourceDefinitions of this version"}},
		{args: "history --since soon", exit: 1, want: []string{`--since: "soon" is not a time span`}},
		{args: "history pod a/b/c", exit: 1, want: []string{`"a/b/c" is not a pod (want NAMESPACE/NAME)`}},
		{args: "history workload web", exit: 1, want: []string{"is not a workload (want KIND/NAMESPACE/NAME"}},
		{args: "history shop/web-b", exit: 1, want: []string{`unknown command "evenkeel history shop/web-b" (did you mean evenkeel history pod shop/web-b?)`}},
		{args: "explain pod shop/web-b --config builtin", exit: 1, want: []string{"pod shop/web-b not found", "for earlier moves: evenkeel history pod shop/web-b"}},
	} {
		got := runShow(t, c.paths, strings.Fields(c.args)...)
		text := strings.Join(strings.Fields(got.stdout+got.stderr), " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) || got.exit != c.exit {
				t.Errorf("%s: exit %d, want %d and %q:\n%s%s", c.args, got.exit, c.exit, want, got.stdout, got.stderr)
			}
		}
	}
}

// TestHistoryWithoutHeadings checks that each line of a list without headings is a pass or a move.
func TestHistoryWithoutHeadings(t *testing.T) {
	isolateFromCluster(t)
	for args, want := range map[string]string{"history --since 9999d": "cpu|zones", "history pod --since 9999d": "shop/web-b|shop/web-a", "history": ""} {
		var got []string
		for line := range strings.Lines(runShow(t, nil, append(strings.Fields(args), "--no-headers")...).stdout) {
			got = append(got, strings.Fields(line)[2])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
