package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// approvalServer is an API server with RebalancePlans.
type approvalServer struct {
	objects *objects.Client
	memory  *objectstest.Server
	paused  string // the pause in JSON; "" for none
	mu      sync.Mutex
	holder  string // of the Lease evenkeel
	dryRun  bool   // whether a dry run leads
	// approvalsOff reports that the holder executes no approved plans. offAfter lets it begin after so many reads.
	approvalsOff bool
	offAfter     int
	released     bool   // the Lease has no holder any more
	configHash   string // of the holder
}

// lease answers a read of the Lease evenkeel.
func (s *approvalServer) lease(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	labels := `"` + leader.ConfigLabel + `":"` + s.configHash + `"`
	if s.offAfter--; s.approvalsOff && s.offAfter < 0 {
		labels += `,"` + leader.ApprovalsLabel + `":"off"`
	}
	text := strings.Replace(leaseJSON(s.holder, time.Now()), `"metadata":{`, `"metadata":{"labels":{`+labels+`},`, 1)
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
		storedPlans: s.plans, storedPlans + "/": s.plans, rebalancerPath: s.rebalancer,
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

// plans answers requests about RebalancePlans.
func (s *approvalServer) plans(w http.ResponseWriter, r *http.Request) {
	_, name, _ := strings.Cut(r.URL.Path, "/rebalanceplans")
	var sent v1alpha1.RebalancePlan
	var answer any
	var err error
	if r.Method != http.MethodGet {
		err = json.NewDecoder(r.Body).Decode(&sent)
	}
	switch ctx := r.Context(); {
	case err != nil:
	case r.Method == http.MethodPost:
		answer, err = s.objects.Plans.Create(ctx, &sent, metav1.CreateOptions{})
	case r.Method == http.MethodPut:
		answer, err = s.objects.Plans.Update(ctx, &sent, metav1.UpdateOptions{})
	case name != "":
		answer, err = s.objects.Plans.Get(ctx, strings.TrimPrefix(name, "/"), metav1.GetOptions{})
	default:
		var list *metav1.PartialObjectMetadataList
		list, err = s.objects.PlanVersions(ctx, metav1.ListOptions{FieldSelector: r.URL.Query().Get("fieldSelector")})
		list.TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}
		answer = list
	}
	var failure apierrors.APIStatus
	switch {
	case errors.As(err, &failure):
		status := failure.Status()
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		writeJSON(w, int(status.Code), status)
	case err != nil:
		respondStatus(400, "BadRequest", err.Error())(w, r)
	default:
		writeJSON(w, 200, answer)
	}
}

// waitingPlan is the name of the plan of newApprovalServer.
const waitingPlan = "20260101-000000-1a2b-proposal"

// newApprovalServer returns a server with a waiting plan of four steps, of which 1 and 3 belong together.
func newApprovalServer(t *testing.T) *approvalServer {
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
	client, memory := objectstest.New(clock.RealClock{})
	must.Get(waiting.New(client).Update(t.Context(), nil, func(w waiting.Plans) (waiting.Plans, error) {
		w, _, err := w.Keep(waiting.Proposal{Plan: &p, Strategies: []string{"zones", "hot"}, ConfigHash: "c1", Now: time.Now(), ValidFor: time.Hour,
			Name: waitingPlan})
		return w, err
	}))(t)
	return &approvalServer{objects: client, memory: memory, holder: "node-7"}
}

// change lets somebody else change the status of the waiting plan.
func (s *approvalServer) change(t *testing.T, change func(*v1alpha1.RebalancePlanStatus)) {
	t.Helper()
	o := must.Get(s.objects.Plans.Get(t.Context(), waitingPlan, metav1.GetOptions{}))(t)
	change(&o.Status)
	must.Get(s.objects.Plans.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
}

func (s *approvalServer) run(t *testing.T, args ...string) programResult {
	t.Helper()
	r := badInput{server: &serverFault{paths: s.paths()}}
	dir := r.prepare(t)
	r.serve(t, dir)
	return invoke(t, connectTimeout, append(args, "--kubeconfig", dir+"/kubeconfig.yaml", "--lease-namespace", "default"), "")
}

// approved returns the steps that the stored decision approves.
func (s *approvalServer) approved(t *testing.T) []int32 {
	t.Helper()
	o := must.Get(s.objects.Plans.Get(t.Context(), waitingPlan, metav1.GetOptions{}))(t)
	if o.Decision == nil || o.Decision.Approve == nil {
		return nil
	}
	return o.Decision.Approve.Steps
}

func TestApproveAndDiscard(t *testing.T) {
	isolateFromCluster(t)
	s := newApprovalServer(t)
	const id = waitingPlan
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
	expect(s.run(t, "discard", "--undo", id, "--steps", "1"), 0, "Took back the decision about 2 steps of plan "+id+": 1,3.", "Step 3 is included: ")
	expect(s.run(t, "discard", "--undo", id), 1, "nothing was discarded: plan "+id+" has no step to undo in the choice: 4 waiting")
	expect(s.run(t, "discard", id, "--steps", "3"), 0, "Discarded 2 steps of plan "+id+": 1,3.\n")
	expect(s.run(t, "approve", "x"), 1, `nothing was approved: no waiting plan has a name or an ID that begins with "x" (the waiting plan: `+id+")")
	expect(s.run(t, "approve", id, "--strategy", "other"), 1, `has no move of strategy "other"`)
	expect(s.run(t, "approve", id, "--steps", "9"), 1, "has no step 9 (want 1 to 4)")
	if s.approved(t) != nil {
		t.Fatal("a rejected approval was stored")
	}
	expect(s.run(t, "approve", id[:6], "--strategy", "zones"), 0, "Approved 1 of 4 steps of plan "+id+": 2.\n",
		"node-7 holds the Lease in namespace default and executes the steps")
	expect(s.run(t, "approve", id), 0, "Approved 1 of 4 steps of plan "+id+": 4.\n")
	if got := s.approved(t); !slices.Equal(got, []int32{2, 4}) {
		t.Errorf("approved steps %v", got)
	}
	expect(s.run(t, "approve"), 0, "approved by alice")
	s.change(t, func(st *v1alpha1.RebalancePlanStatus) { st.Phase = v1alpha1.PhaseRunning })
	expect(s.run(t, "discard", id, "--steps", "4"), 0, "Discarded 1 step of plan "+id+": 4.\nA process executes approved steps of this plan now, ")
	s.change(t, func(st *v1alpha1.RebalancePlanStatus) { st.Phase = v1alpha1.PhaseWaiting })
	expect(s.run(t, "discard", "--undo", id, "--steps", "4"), 0, "Took back the decision about 1 step")

	s.holder = ""
	expect(s.run(t, "approve", id, "--steps", "1,4"), 0, "Approved 3 of 4 steps", "Step 3 is included", "No process holds the Lease")
	s.dryRun = true
	expect(s.run(t, "approve", id), 1, "nothing was approved: namespace default has a dry run (dryRun: true), which keeps and executes no plan")
	s.change(t, func(st *v1alpha1.RebalancePlanStatus) {
		st.Closed, st.Phase, st.Message = true, v1alpha1.PhaseExpired, "it expired"
	})
	expect(s.run(t, "approve"), 0, "No plan waits for approval in namespace default.\nThe release in this namespace is a dry run")
	s.dryRun, s.holder = false, "node-7"
	expect(s.run(t, "approve", id), 1, "plan "+id+" does not wait any more: it expired")
	expect(s.run(t, "approve", "x"), 1, "no plan waits for approval")
}

// TestNoApprovalDuringAPause checks that steps which the pause would drop are not approved.
func TestNoApprovalDuringAPause(t *testing.T) {
	isolateFromCluster(t)
	s := newApprovalServer(t)
	s.paused = `{"by":"bob","reason":"release 42","since":"2026-01-01T00:00:00Z"}`
	const want = "nothing was approved: evictions have been paused since 2026-01-01T00:00:00Z by bob: release 42; approved steps would be dropped (run `evenkeel resume` first, or wait for the end of the pause)"
	if got := s.run(t, "approve", waitingPlan); got.exit != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("exit %d, stderr %q, want %q", got.exit, got.stderr, want)
	}
	if s.approved(t) != nil {
		t.Error("an approval was stored during a pause")
	}
	s.paused = ""
	if got := s.run(t, "approve", waitingPlan); got.exit != 0 {
		t.Errorf("after the pause: exit %d, stderr %q", got.exit, got.stderr)
	}
}

// TestApproveWaitsForTheReport: with --wait, approve prints what became of the steps.
func TestApproveWaitsForTheReport(t *testing.T) {
	isolateFromCluster(t)
	s := newApprovalServer(t)
	ended, decided := make(chan bool), make(chan bool)
	decide := sync.OnceFunc(func() { close(decided) })
	s.memory.After = func(verb, _, _ string) error {
		if verb == "update" {
			decide()
		}
		return nil
	}
	go func() { // the leader
		defer close(ended)
		<-decided
		s.change(t, func(st *v1alpha1.RebalancePlanStatus) {
			st.ObservedGeneration, st.Steps = 2, []v1alpha1.StepStatus{{Step: 2, State: v1alpha1.StepEvicted, Landed: "n2", AsPredicted: true}}
		})
	}()
	got := s.run(t, "approve", waitingPlan, "--steps", "2", "--wait", "1m")
	if <-ended; got.exit != 0 || !strings.Contains(got.stdout, "1 of 1 planned pod evicted; 1 replacement landed as predicted") {
		t.Errorf("exit %d: %s%s", got.exit, got.stdout, got.stderr)
	}
	got = s.run(t, "approve", waitingPlan, "--steps", "4", "--wait", "1500ms")
	if got.exit != 1 || !strings.Contains(got.stderr, "the steps did not end within 1.5s; they stay approved until ") {
		t.Errorf("exit %d: %s", got.exit, got.stderr)
	}
}

// TestApproveIfApprovalsAreOff checks that approve says that no process executes the steps if the
// process that holds the Lease has approvals.enabled: false, also if a new configuration switches
// approvals off while approve waits.
func TestApproveIfApprovalsAreOff(t *testing.T) {
	isolateFromCluster(t)
	const off = "node-7 holds the Lease in namespace default with approvals.enabled: false, so it executes no approved plan"
	s := newApprovalServer(t)
	s.approvalsOff = true
	if r := s.run(t, "approve", waitingPlan); r.exit != 1 || !strings.Contains(r.stderr, "nothing was approved: "+off) || s.approved(t) != nil {
		t.Errorf("exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
	if r := s.run(t, "approve"); r.exit != 0 || !strings.Contains(r.stdout, "No step is executed: "+off) || strings.Contains(r.stdout, "To approve") {
		t.Errorf("the list: exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
	s.offAfter = 1
	r := s.run(t, "approve", waitingPlan, "--steps", "2", "--wait", "1m")
	if r.exit != 1 || !strings.Contains(r.stderr, "nothing was executed: "+off+"; the approval was withdrawn") {
		t.Errorf("switched off while it waits: exit %d: %s %s", r.exit, r.stdout, r.stderr)
	}
	s.holder, s.released = "", true
	if r := s.run(t, "approve", waitingPlan, "--steps", "2"); r.exit != 0 || !strings.Contains(r.stdout, "The last process that held it had approvals.enabled: false.") {
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
	s := newApprovalServer(t)
	s.holder, s.released = "", true
	for _, args := range [][]string{{"approve", "-o", "json"}, {"approve", "--wait", "10m"}, {"approve", waitingPlan, "-o", "json"}} {
		const want = "evenkeel: --wait and --output are about the outcomes of an approved plan; want: evenkeel approve PLAN --wait 10m"
		if got := s.run(t, args...); got.exit != 1 || !strings.HasPrefix(got.stderr, want) || got.stdout != "" {
			t.Errorf("%v: exit %d, %q, %q", args, got.exit, got.stdout, got.stderr)
		}
	}
	got := s.run(t, "approve", waitingPlan, "--wait", "1s")
	if got.exit != 1 || !strings.Contains(got.stdout, "No process holds the Lease in namespace default.") || !strings.Contains(got.stderr, "the steps did not end within 1s") {
		t.Errorf("exit %d, %q, %q", got.exit, got.stdout, got.stderr)
	}
}
