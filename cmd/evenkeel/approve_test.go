package main

import (
	"cmp"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// approvalServer is an API server that stores the ConfigMaps of the approvals.
type approvalServer struct {
	paused     string // the pause in JSON; "" for none
	mu         sync.Mutex
	configMaps map[string]*corev1.ConfigMap
	holder     string // of the Lease evenkeel
	dryRun     bool   // whether a dry run leads
	// approvalsOff reports that the holder executes no approved plans. offAfter lets it begin after so many reads.
	approvalsOff bool
	offAfter     int
	released     bool // the Lease has no holder any more
}

// lease answers a read of the Lease evenkeel.
func (s *approvalServer) lease(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := leaseJSON(s.holder, time.Now())
	if s.offAfter--; s.approvalsOff && s.offAfter < 0 {
		text = strings.Replace(text, `"metadata":{`, `"metadata":{"labels":{"`+leader.ApprovalsLabel+`":"off"},`, 1)
	}
	if s.holder == "" && !s.released {
		respondNotFound(w, r)
		return
	}
	respondText(200, "application/json", text)(w, r)
}

func (s *approvalServer) paths() map[string]http.HandlerFunc {
	lease := func(held bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !held {
				respondNotFound(w, r)
				return
			}
			respondText(200, "application/json", leaseJSON("node-7", time.Now()))(w, r)
		}
	}
	return map[string]http.HandlerFunc{
		configMapsPath: s.handle, configMapsPath + "/" + waiting.ConfigMapName: s.handle,
		configMapsPath + "/" + approval.ConfigMapName: s.handle, rebalancerPath: s.rebalancer,
		leases + "/evenkeel":         s.lease,
		leases + "/evenkeel-dry-run": lease(s.dryRun),
		"/apis/authentication.k8s.io/v1/selfsubjectreviews": func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 201, map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
				"status": map[string]any{"userInfo": map[string]any{"username": "alice"}}})
		},
	}
}

func (s *approvalServer) rebalancer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pausedRelease(cmp.Or(s.paused, "null"))(w, r)
}

// pausedRelease answers with a Rebalancer with that pause, in JSON.
func pausedRelease(pause string) http.HandlerFunc {
	return respondText(200, "application/json", `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Rebalancer",`+
		`"metadata":{"name":"evenkeel","namespace":"default"},"spec":{"pause":`+pause+`}}`)
}

func (s *approvalServer) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := path.Base(r.URL.Path)
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		body, _ := io.ReadAll(r.Body)
		o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			respondStatus(400, "BadRequest", err.Error())(w, r)
			return
		}
		m := o.(*corev1.ConfigMap)
		if name = m.Name; r.Method == http.MethodPost && s.configMaps[name] != nil {
			respondStatus(409, "AlreadyExists", "already exists")(w, r)
			return
		}
		s.configMaps[name] = m
	}
	m := s.configMaps[name]
	if m == nil {
		respondNotFound(w, r)
		return
	}
	m.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	writeJSON(w, 200, m)
}

// newApprovalServer returns a server with a waiting plan of four steps, of which 1 and 3 belong together.
func newApprovalServer(t *testing.T) (*approvalServer, string) {
	t.Helper()
	p := plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", ConfigHash: "c1"}
	for i, uid := range []string{"a", "b", "c", "d"} {
		m := plan.Move{Step: i + 1, Wave: i + 1, Strategy: "zones", From: "n1", To: "n2", Reason: plan.Reason{Message: "uneven"},
			Pod: plan.PodRef{Namespace: "shop", Name: "web-" + uid, UID: uid}}
		if uid == "a" {
			m.DisplacedFor = &plan.PodRef{Namespace: "shop", Name: "web-c", UID: "c"}
		}
		if uid == "d" {
			m.Strategy = "hot"
		}
		p.Moves = append(p.Moves, m)
	}
	client := fake.NewClientset()
	var id string
	must.Succeed(t, waiting.New(client, "default").Update(t.Context(), func(w waiting.Plans) (waiting.Plans, error) {
		w, _ = w.Keep(waiting.Proposal{Plan: &p, Strategies: []string{"zones", "hot"}, ConfigHash: "c1", Now: time.Now(), ValidFor: time.Hour})
		id = w.Waiting[0].ID
		return w, nil
	}))
	m := must.Get(client.CoreV1().ConfigMaps("default").Get(t.Context(), waiting.ConfigMapName, metav1.GetOptions{}))(t)
	return &approvalServer{configMaps: map[string]*corev1.ConfigMap{waiting.ConfigMapName: m}, holder: "node-7"}, id
}

func (s *approvalServer) run(t *testing.T, args ...string) programResult {
	t.Helper()
	r := badInput{server: &serverFault{paths: s.paths()}}
	dir := r.prepare(t)
	r.serve(t, dir)
	return invoke(t, connectTimeout, append(args, "--kubeconfig", dir+"/kubeconfig.yaml", "--lease-namespace", "default"), "")
}

// requestedSteps returns the steps of the stored approval.
func (s *approvalServer) requestedSteps(t *testing.T) []int {
	t.Helper()
	o := s.configMaps[approval.ConfigMapName]
	if o == nil {
		return nil
	}
	r, err := approval.New(fake.NewClientset(withNamespace(o)), "default").Pending(t.Context())
	if err != nil || r == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	var steps []int
	for _, m := range r.Plan.Moves {
		steps = append(steps, m.Step)
	}
	return steps
}

func withNamespace(o *corev1.ConfigMap) *corev1.ConfigMap {
	o = o.DeepCopy()
	o.Namespace = "default"
	return o
}

func TestApproveAndDiscard(t *testing.T) {
	isolateFromCluster(t)
	s, id := newApprovalServer(t)
	expect := func(got programResult, exit int, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if got.exit != exit || !strings.Contains(got.stdout+got.stderr, want) {
				t.Errorf("exit %d, stdout %q, stderr %q; want exit %d and %q", got.exit, got.stdout, got.stderr, exit, want)
			}
		}
	}
	expect(s.run(t, "approve"), 0, "Plan "+id+", since ", "  1     zones     shop/web-a  n1    n2  waiting  uneven\n", "To approve: evenkeel approve "+id)
	expect(s.run(t, "discard", id, "--steps", "3"), 0, "Discarded 2 steps of plan "+id+": 1,3.\nStep 1 is included: ")
	expect(s.run(t, "approve"), 0, "discarded by alice", "Discarded moves, which their strategies do not propose again yet", "by alice at ")
	expect(s.run(t, "discard", "--undo", id, "--steps", "1"), 0, "Undid the discard of 2 steps of plan "+id+": 1,3.", "Step 3 is included: ")
	expect(s.run(t, "discard", "--undo", id), 1, "nothing was discarded: no discarded move belongs to the choice in plan ")
	expect(s.run(t, "discard", id, "--steps", "3"), 0, "Discarded 2 steps of plan "+id+": 1,3.\n")
	expect(s.run(t, "approve", "x"), 1, `nothing was approved: no waiting plan has an ID that begins with "x" (the waiting plan: `+id+")")
	expect(s.run(t, "approve", id, "--strategy", "other"), 1, `has no move of strategy "other"`)
	expect(s.run(t, "approve", id, "--steps", "9"), 1, "has no step 9 (want 1 to 4)")
	if s.requestedSteps(t) != nil {
		t.Fatal("a rejected approval was stored")
	}
	expect(s.run(t, "approve", id[:6], "--strategy", "zones"), 0, "Approved 1 of 4 steps of plan "+id+": 2.\n",
		"node-7 holds the Lease in namespace default and executes the steps")
	if got := s.requestedSteps(t); len(got) != 1 || got[0] != 2 {
		t.Errorf("approved steps %v", got)
	}
	expect(s.run(t, "approve", id), 1, "a part of plan "+id+", approved by alice at ", "is waiting for the leader; wait until it ends")
	expect(s.run(t, "approve"), 0, "Steps of this plan are approved, and wait for the leader or are being executed.\n")
	expect(s.run(t, "discard", id, "--strategy", "hot"), 0, "Discarded 1 step of plan "+id+": 4.\nAn approval of this plan is not executed yet. ",
		"reports the discarded ones as")
	expect(s.run(t, "discard", "--undo", id, "--steps", "4"), 0, "Undid the discard of 1 step")

	delete(s.configMaps, approval.ConfigMapName)
	s.holder = ""
	expect(s.run(t, "approve", id, "--steps", "1,4"), 0, "Approved 3 of 4 steps", "Step 3 is included", "No process holds the Lease")
	s.dryRun = true
	expect(s.run(t, "approve", id), 1, "nothing was approved: namespace default has a dry run (dryRun: true), which keeps and executes no plan")
	delete(s.configMaps, waiting.ConfigMapName)
	expect(s.run(t, "approve"), 0, "No plan waits for approval in namespace default.\nThe release in this namespace is a dry run")
	s.dryRun, s.holder = false, "node-7"
	expect(s.run(t, "approve", id), 1, "no plan waits for approval")
}

// TestNoApprovalDuringAPause checks that steps which the pause would drop are not approved.
func TestNoApprovalDuringAPause(t *testing.T) {
	isolateFromCluster(t)
	s, id := newApprovalServer(t)
	s.paused = `{"by":"bob","reason":"release 42","since":"2026-01-01T00:00:00Z"}`
	const want = "nothing was approved: evictions are paused since 2026-01-01T00:00:00Z by bob: release 42; approved steps would be dropped (run `evenkeel resume` first, or wait for the end of the pause)"
	if got := s.run(t, "approve", id); got.exit != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("exit %d, stderr %q, want %q", got.exit, got.stderr, want)
	}
	if s.requestedSteps(t) != nil {
		t.Error("an approval was stored during a pause")
	}
	s.paused = ""
	if got := s.run(t, "approve", id); got.exit != 0 {
		t.Errorf("after the pause: exit %d, stderr %q", got.exit, got.stderr)
	}
}

// TestApproveWaitsForTheReport: with --wait, approve prints the report of the leader.
func TestApproveWaitsForTheReport(t *testing.T) {
	isolateFromCluster(t)
	s, id := newApprovalServer(t)
	expired := s.run(t, "approve", id, "--steps", "2", "--wait", "1500ms")
	if expired.exit != 1 || !strings.Contains(expired.stderr, "no report arrived within 1.5s; the steps stay approved until ") {
		t.Errorf("exit %d: %s", expired.exit, expired.stderr)
	}
}

// TestApproveIfApprovalsAreOff checks that approve says that no process executes the steps if the
// process that holds the Lease has approvals.enabled: false, also if a new configuration switches
// approvals off while approve waits.
func TestApproveIfApprovalsAreOff(t *testing.T) {
	isolateFromCluster(t)
	const off = "node-7 holds the Lease in namespace default with approvals.enabled: false, so it executes no approved plan"
	s, id := newApprovalServer(t)
	s.approvalsOff = true
	if r := s.run(t, "approve", id); r.exit != 1 || !strings.Contains(r.stderr, "nothing was approved: "+off) || s.requestedSteps(t) != nil {
		t.Errorf("exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
	if r := s.run(t, "approve"); r.exit != 0 || !strings.Contains(r.stdout, "No step is executed: "+off) || strings.Contains(r.stdout, "To approve") {
		t.Errorf("the list: exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
	s.offAfter = 1
	r := s.run(t, "approve", id, "--steps", "2", "--wait", "1m")
	if r.exit != 1 || !strings.Contains(r.stderr, "nothing was executed: "+off+"; the approval was withdrawn") {
		t.Errorf("switched off while it waits: exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
	s.holder, s.released = "", true
	if r := s.run(t, "approve", id, "--steps", "2"); r.exit != 0 || !strings.Contains(r.stdout, "The last process that held it had approvals.enabled: false.") {
		t.Errorf("after the process has ended: exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
	s.approvalsOff = false
	if r := s.run(t, "approve"); r.exit != 0 || strings.Contains(r.stdout, "approvals.enabled") || !strings.Contains(r.stdout, "To approve") {
		t.Errorf("switched on again: exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
}

// TestApproveHeedsItsFlags checks that --wait waits also if no process leads yet, and that flags without effect are
// refused.
func TestApproveHeedsItsFlags(t *testing.T) {
	isolateFromCluster(t)
	s, id := newApprovalServer(t)
	s.holder, s.released = "", true
	for _, args := range [][]string{{"approve", "-o", "json"}, {"approve", "--wait", "10m"}, {"approve", id, "-o", "json"}} {
		const want = "evenkeel: --wait and --output are about the report of an approved plan; want: evenkeel approve PLAN --wait 10m"
		if got := s.run(t, args...); got.exit != 1 || !strings.HasPrefix(got.stderr, want) || got.stdout != "" {
			t.Errorf("%v: exit %d, %q, %q", args, got.exit, got.stdout, got.stderr)
		}
	}
	got := s.run(t, "approve", id, "--wait", "1s")
	if got.exit != 1 || !strings.Contains(got.stdout, "No process holds the Lease in namespace default.") || !strings.Contains(got.stderr, "no report arrived within 1s") {
		t.Errorf("exit %d, %q, %q", got.exit, got.stdout, got.stderr)
	}
}
