package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
)

// requestServer is an API server that stores one request for a pass. Each read of the request sees the next status; the
// last one stays.
type requestServer struct {
	mu       sync.Mutex
	stored   *v1alpha1.RebalanceRun
	statuses []v1alpha1.RebalanceRunStatus
	// changed says that the request changes before it is withdrawn. withdrawn says that it was.
	changed, withdrawn bool
}

func (s *requestServer) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		s.stored = &v1alpha1.RebalanceRun{}
		if err := json.NewDecoder(r.Body).Decode(s.stored); err != nil {
			respondStatus(400, "BadRequest", err.Error())(w, r)
			return
		}
		s.stored.Name, s.stored.UID, s.stored.ResourceVersion = s.stored.GenerateName+"x1", "u1", "1"
	case s.stored == nil:
		respondNotFound(w, r)
		return
	case r.Method == http.MethodDelete && s.changed:
		respondStatus(409, "Conflict", "the object has been modified")(w, r)
		return
	case r.Method == http.MethodDelete:
		s.stored, s.withdrawn = nil, true
		writeJSON(w, 200, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Success"})
		return
	case len(s.statuses) > 0:
		s.stored.Status = s.statuses[0]
		s.statuses = s.statuses[min(1, len(s.statuses)-1):]
	}
	writeJSON(w, 200, s.stored)
}

const requestsPath = "/apis/evenkeel.io/v1alpha1/namespaces/default/rebalanceruns"

// run runs the command trigger against the server, where other paths may be answered otherwise.
func (s *requestServer) run(t *testing.T, others map[string]http.HandlerFunc, args ...string) programResult {
	t.Helper()
	paths := (&pauseServer{username: "alice"}).paths()
	paths[requestsPath], paths[requestsPath+"/zones-x1"] = s.handle, s.handle
	for path, answer := range others {
		paths[path] = answer
	}
	r := badInput{server: &serverFault{paths: paths}}
	dir := r.prepare(t)
	r.serve(t, dir)
	return invoke(t, connectTimeout, append([]string{"trigger", "--kubeconfig", dir + "/kubeconfig.yaml"}, args...), "")
}

func TestTrigger(t *testing.T) {
	isolateFromCluster(t)
	waits := v1alpha1.RebalanceRunStatus{}
	running := v1alpha1.RebalanceRunStatus{Phase: v1alpha1.RunRunning, Holder: "node-7"}
	completed := v1alpha1.RebalanceRunStatus{Phase: v1alpha1.RunCompleted, Holder: "node-7", RunID: "1a2b3c4d"}
	stopped := completed
	stopped.Message = "the pass ended early: Paused: evictions are paused by bob"
	rejected := v1alpha1.RebalanceRunStatus{Phase: v1alpha1.RunRejected, Message: "no such strategy"}
	const taken = "Namespace default: node-7 runs strategy zones now (request zones-x1); see `evenkeel logs`.\n"
	idle := map[string]http.HandlerFunc{leases + "/evenkeel": respondText(200, "application/json", leaseJSON("", time.Now()))}
	for name, c := range map[string]struct {
		statuses  []v1alpha1.RebalanceRunStatus
		changed   bool
		others    map[string]http.HandlerFunc
		args      string
		out, err  string
		withdrawn bool
	}{
		"it ends": {statuses: []v1alpha1.RebalanceRunStatus{waits, running, completed}, args: "zones",
			out: taken + "Its pass (run 1a2b3c4d) has ended.\n"},
		"two strategies": {statuses: []v1alpha1.RebalanceRunStatus{completed}, args: "zones hot",
			out: "Namespace default: node-7 runs strategies zones, hot now (request zones-x1); see `evenkeel logs`.\nIts pass (run 1a2b3c4d) has ended.\n"},
		"its pass stops": {statuses: []v1alpha1.RebalanceRunStatus{stopped}, args: "zones",
			out: taken + "Its pass (run 1a2b3c4d) has ended: the pass ended early: Paused: evictions are paused by bob.\n"},
		"it goes on": {statuses: []v1alpha1.RebalanceRunStatus{running}, args: "zones --wait 1s",
			out: taken + "Its pass has not ended yet; to watch it: kubectl get rebalancerun --namespace default zones-x1 --watch\n"},
		"rejected": {statuses: []v1alpha1.RebalanceRunStatus{rejected}, args: "zones", err: "the request zones-x1 is rejected: no such strategy"},
		"its process ends": {statuses: []v1alpha1.RebalanceRunStatus{running, rejected}, args: "zones", out: taken,
			err: "the request zones-x1 is rejected: no such strategy"},
		"not taken": {args: "zones --wait 10ms", err: "node-7 did not take the request within 10ms, so it was withdrawn", withdrawn: true},
		"taken while it is withdrawn": {statuses: []v1alpha1.RebalanceRunStatus{waits, running}, changed: true, args: "zones --wait 10ms",
			out: taken},
		"not withdrawn": {changed: true, args: "zones --wait 10ms",
			err: "it is not known whether node-7 has taken the request; to withdraw it: kubectl delete rebalancerun --namespace default zones-x1"},
		"deleted": {others: map[string]http.HandlerFunc{requestsPath + "/zones-x1": respondNotFound}, args: "zones", err: "the request zones-x1 was deleted"},
		"no leader": {others: idle, args: "zones",
			out: "Namespace default: no process leads now. The next one takes the request zones-x1, for example the next job of a CronJob.\n" +
				"To start a job now: kubectl create job --namespace default --from=cronjob/NAME JOB\n" +
				"To withdraw the request: kubectl delete rebalancerun --namespace default zones-x1\n"},
		"no permission": {others: map[string]http.HandlerFunc{requestsPath: respondStatus(403, "Forbidden", "no")}, args: "zones",
			err: "nothing was triggered: permission to create rebalanceruns is missing; grant it to this account: no"},
		"no definition": {others: map[string]http.HandlerFunc{requestsPath: respondText(404, "text/plain", "404 page not found")}, args: "zones",
			err: "nothing was triggered: the cluster does not know this kind: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := &requestServer{statuses: c.statuses, changed: c.changed}
			got := s.run(t, c.others, strings.Fields(c.args)...)
			if (got.exit != 0) != (c.err != "") || got.stdout != c.out || !strings.HasPrefix(strings.TrimPrefix(got.stderr, "evenkeel: "), c.err) ||
				c.err == "" && got.stderr != "" || s.withdrawn != c.withdrawn {
				t.Errorf("%+v, withdrawn %t, want %q %q", got, s.withdrawn, c.out, c.err)
			}
			if s.stored != nil && (s.stored.Spec.By != "alice" || s.stored.Spec.Strategies[0] != "zones") {
				t.Errorf("the request is %+v", s.stored.Spec)
			}
		})
	}
}

// A dry run takes no requests, also if its jobs hold no Lease, or if its pods have not read their configuration yet.
func TestADryRunIsNotTriggered(t *testing.T) {
	isolateFromCluster(t)
	idle := respondText(200, "application/json", leaseJSON("", time.Now()))
	jobs := releaseObjects(configHead + "dryRun: true\n")
	jobs[leases+"/evenkeel"], jobs[leases+"/evenkeel-dry-run"] = idle, respondNotFound
	changed := releaseObjects(configHead + "dryRun: true\n")
	changed[leases+"/evenkeel"] = respondText(200, "application/json", leaseJSON("node-7", time.Now()))
	for want, others := range map[string]map[string]http.HandlerFunc{
		"the configuration of the release in namespace default has dryRun: true, and a dry run takes no triggers; node-7 may not have read it yet": changed,
		"node-9 leads a dry run in namespace default, which takes no triggers": {leases + "/evenkeel": idle,
			leases + "/evenkeel-dry-run": respondText(200, "application/json", leaseJSON("node-9", time.Now()))},
		"the release in namespace default is a dry run, which takes no triggers": jobs,
	} {
		s := &requestServer{}
		if got := s.run(t, others, "zones"); got.exit != 1 || !strings.Contains(got.stderr, "nothing was triggered: "+want) || s.stored != nil {
			t.Errorf("%+v, stored %v, want %s", got, s.stored, want)
		}
	}
}

// A request that waits is withdrawn as soon as a dry run leads.
func TestARequestEndsWhenTheReleaseBecomesADryRun(t *testing.T) {
	isolateFromCluster(t)
	var reads atomic.Int32
	lease := func(holders ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			holder := holders[min(int(reads.Add(1))-1, len(holders)-1)]
			respondText(200, "application/json", leaseJSON(holder, time.Now()))(w, r)
		}
	}
	s := &requestServer{}
	begun := time.Now()
	got := s.run(t, map[string]http.HandlerFunc{leases + "/evenkeel": lease("node-7", "node-7", ""),
		leases + "/evenkeel-dry-run": respondText(200, "application/json", leaseJSON("node-8", time.Now()))}, "zones", "--wait", "1m")
	const want = "evenkeel: the request was withdrawn: node-8 leads a dry run in namespace default, which takes no triggers"
	if got.exit != 1 || !strings.HasPrefix(got.stderr, want) || !s.withdrawn || time.Since(begun) > 30*time.Second {
		t.Errorf("after %s: %+v, withdrawn %t", time.Since(begun), got, s.withdrawn)
	}
}
