package drills

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/proxy"
	"github.com/evenkeel-project/evenkeel/objects"
)

// recordsPerPass is the number of plans of the past for each pass of the drill, and maxRecordBytes is how many bytes
// all plans may have. The plans of the past have more.
const (
	recordsPerPass = 50
	maxRecordBytes = 16 << 20
	pastMoves      = 5
	// cleanSweeps bounds the passes without faults in which the program must bring the plans below maxRecordBytes.
	cleanSweeps = 60
)

// keepRecords makes passes beside thousands of stored plans. Each pass evicts the oldest pods, and either it is killed
// at a random request for its objects, or the API server refuses a part of these requests. At last, the plans must be
// readable, take no more bytes than allowed, and tell each eviction once.
func keepRecords(ctx context.Context, s *drillRun) error {
	s.rules.PerPass = 4
	if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
		return err
	}
	text := strings.Replace(configText(s.rules, "0 0 1 1 *"), "type: ZoneSpread,", "type: Lifetime, args: {maxAge: 1s},", 1)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		return err
	}
	client, err := objects.New(s.cluster.Config, s.namespace)
	if err != nil {
		return err
	}
	if err := createRecords(ctx, client, recordsPerPass*s.reps); err != nil {
		return err
	}
	s.minEvictions = s.reps
	for try := 0; s.completed < s.reps && try < 4*s.reps; try++ {
		if err := s.disturbRecords(ctx); err != nil {
			return err
		}
	}
	var kept []v1alpha1.RebalancePlan
	total := records.MaxBytes + 1
	for sweeps := 0; total > records.MaxBytes && sweeps < cleanSweeps; sweeps++ {
		if err := s.runCleanPass(ctx); err != nil {
			return err
		}
		kept, total = nil, 0
		if err := records.EachPlan(ctx, client, 100, func(o *v1alpha1.RebalancePlan) {
			text, _ := json.Marshal(o)
			kept, total = append(kept, *o), total+len(text)
		}); err != nil {
			return err
		}
	}
	s.notes["plans kept"], s.notes["KiB kept"] = len(kept), total>>10
	if total > records.MaxBytes {
		s.addViolation(auditverifier.ProcessFailure, "", "%d plans with %d bytes are left, want at most %d bytes", len(kept), total, records.MaxBytes)
	}
	return s.checkRecords(ctx, kept)
}

// createRecords creates plans of the past, each with pastMoves evictions.
func createRecords(ctx context.Context, client *objects.Client, n int) error {
	at := metav1.NewTime(time.Now().Add(-24 * time.Hour).Truncate(time.Second))
	o := v1alpha1.RebalancePlan{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "RebalancePlan"},
		Spec: v1alpha1.RebalancePlanSpec{ID: "past", Mode: v1alpha1.ModeAutomatic, TakenAt: at, Expires: at, MoveCount: pastMoves}}
	for step := range int32(pastMoves) {
		o.Spec.Moves = append(o.Spec.Moves, v1alpha1.Move{Step: step + 1, Wave: 1, From: "n1", To: "n2", Strategy: "zones-1",
			Pod:    v1alpha1.PodReference{Namespace: "past", Name: fmt.Sprint("pod-", step), UID: fmt.Sprint("past-", step)},
			Owner:  v1alpha1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "past"},
			Reason: v1alpha1.Reason{Code: "ZoneSkewed", Message: "past has 1/1/4 pods over 3 zones; 2/2/2 is possible"}})
		o.Status.Steps = append(o.Status.Steps, v1alpha1.StepStatus{Step: step + 1, State: v1alpha1.StepEvicted, EvictedAt: &at, Landed: "n2",
			AsPredicted: true})
	}
	o.Status.Phase, o.Status.Started, o.Status.Finished, o.Status.Evicted = v1alpha1.PhaseCompleted, &at, &at, pastMoves
	creating, stop := errgroup.WithContext(ctx)
	creating.SetLimit(16)
	for i := range n {
		creating.Go(func() error {
			one := v1alpha1.DeepCopy(&o)
			one.Name = fmt.Sprint("past-", i)
			made, err := client.Plans.Create(stop, one, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			made.Status = o.Status
			_, err = client.Plans.UpdateStatus(stop, made, metav1.UpdateOptions{})
			return err
		})
	}
	return creating.Wait()
}

// disturbRecords makes one pass, and disturbs it.
func (s *drillRun) disturbRecords(ctx context.Context) error {
	h := processOptions{args: singlePassArgs(time.Minute)}
	refuse := s.random.IntN(2) == 0
	if refuse {
		h.faults = proxy.Faults{RateByClass: map[proxy.Class]float64{proxy.State: 0.02 + 0.2*s.random.Float64()}}
	} else {
		pt := killPoint{class: proxy.State, request: 1 + s.random.IntN(80), moment: proxy.Arrived}
		if s.random.IntN(2) == 0 {
			pt.moment = proxy.Answered
		}
		s.killAtPoint(&h, pt)
	}
	p, err := s.startProcess(h)
	if err != nil {
		return err
	}
	s.waitForPass(ctx, p)
	if !refuse && !p.wasKilled() {
		return nil
	}
	s.completed++
	s.logProgress("%s", s.exitSummary(p))
	if !p.wasKilled() {
		return nil
	}
	// Drill kill-9 waits until the Lease of the dead process expires. Here, its last requests end, and an administrator
	// deletes the Lease.
	sleep(ctx, time.Second)
	err = s.cluster.Client.CoordinationV1().Leases(s.namespace).Delete(ctx, "evenkeel", metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// checkRecords compares the plans with the audit log. The program must be able to read them all.
func (s *drillRun) checkRecords(ctx context.Context, kept []v1alpha1.RebalancePlan) error {
	cmd := exec.CommandContext(ctx, s.options.Evenkeel, "history", "--since", "30d", "--lease-namespace", s.namespace, "--kubeconfig", s.cluster.Kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.addViolation(auditverifier.ProcessFailure, "", "evenkeel history: %v: %s", err, lastBytes(string(out), 300))
	}
	told := map[string]v1alpha1.StepState{} // by the UID of the pod
	for i := range kept {
		o := &kept[i]
		if o.Spec.ID == "past" {
			continue
		}
		s.notes["plans "+string(o.Status.Phase)]++
		outcome := map[int32]v1alpha1.StepState{}
		for _, x := range o.Status.Steps {
			outcome[x.Step] = x.State
		}
		for _, m := range o.Spec.Moves {
			switch state := outcome[m.Step]; {
			case state != v1alpha1.StepEvicted && state != v1alpha1.StepUnknown:
			case told[m.Pod.UID] == v1alpha1.StepEvicted:
				s.addViolation(auditverifier.FalseClaim, o.Status.Holder, "plan %s has the eviction of %s again", o.Name, m.Pod.UID)
			default:
				told[m.Pod.UID] = state
			}
		}
	}
	read := s.auditRead
	events, err := s.cluster.AuditSince(&read)
	if err != nil {
		return err
	}
	accepted := map[string]bool{}
	for _, e := range (auditverifier.Evidence{Events: events, Ours: func(u string) bool { return s.users[u] }, Namespace: s.namespace}).Evictions() {
		accepted[e.UID] = accepted[e.UID] || e.Code == 201
		if state := told[e.UID]; e.Code == 201 && state == "" {
			s.addViolation(auditverifier.UnreportedEviction, e.User, "no plan tells the eviction of %s/%s (%s)", e.Namespace, e.Name, e.UID)
		}
	}
	for uid, state := range told {
		s.notes["told as "+string(state)]++
		if _, asked := accepted[uid]; state == v1alpha1.StepEvicted && !asked {
			s.addViolation(auditverifier.FalseClaim, "", "a plan says that pod %s was evicted; nobody asked for it", uid)
		}
	}
	return nil
}
