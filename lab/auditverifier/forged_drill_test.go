package auditverifier

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// forgedDrill is the evidence of a fictitious drill without violations: six pods of workload d on three nodes. Tests
// change the drill to add a violation.
type forgedDrill struct {
	Evidence
	revision int64
	now      time.Time
}

func (t *forgedDrill) addChange(ch Change) {
	t.revision++
	ch.Revision, ch.Seen = t.revision, t.now
	t.Changes = append(t.Changes, ch)
}

func readyPod(name, node string) Pod {
	return Pod{Namespace: "shop", Name: name, UID: "uid-" + name, Node: node, App: "d", Labels: labels.Set{"app": "d"}, Ready: true}
}

func (t *forgedDrill) addPod(p Pod) { t.addChange(Change{Pod: &p}) }

// terminateAndReplace lets an eviction terminate a pod, adds a Ready replacement if one is named, and removes the
// pod.
func (t *forgedDrill) terminateAndReplace(p Pod, replacement string) {
	p.Ready, p.Terminating, p.ByEviction = false, true, true
	t.addChange(Change{Pod: &p})
	if replacement != "" {
		t.addPod(readyPod(replacement, "n1"))
	}
	t.addChange(Change{Pod: &p, Gone: true})
}

func (t *forgedDrill) addEvent(user, verb, resource, sub, ns, name string, code int32, body string) {
	e := auditv1.Event{Stage: auditv1.StageResponseComplete, Verb: verb, RequestReceivedTimestamp: metav1.NewMicroTime(t.now),
		ObjectRef:      &auditv1.ObjectReference{Resource: resource, Subresource: sub, Namespace: ns, Name: name},
		ResponseStatus: &metav1.Status{Code: code}}
	e.User.Username = user
	if body != "" {
		e.RequestObject = &runtime.Unknown{Raw: []byte(body)}
	}
	t.Events = append(t.Events, e)
}

func (t *forgedDrill) requestEviction(user string, p Pod, code int32) {
	t.addEvent(user, "create", "pods", "eviction", p.Namespace, p.Name, code,
		fmt.Sprintf(`{"deleteOptions":{"preconditions":{"uid":%q}}}`, p.UID))
}

// delete adds the deletion of a pod.
func (t *forgedDrill) delete(user string, p Pod) {
	t.now = t.now.Add(time.Second)
	t.addEvent(user, "delete", "pods", "", p.Namespace, p.Name, 200, fmt.Sprintf(`{"preconditions":{"uid":%q}}`, p.UID))
	t.addChange(Change{Pod: &p, Gone: true})
}

// addFailedPod adds a failed pod beside those of the workload, while another pod of it is not Ready.
func (t *forgedDrill) addFailedPod() Pod {
	sick := readyPod("d3", "n1")
	sick.Ready = false
	t.addPod(sick)
	failed := readyPod("d0-failed", "n1")
	failed.Ready, failed.Ended, failed.Failed = false, true, true
	t.addPod(failed)
	return failed
}

func (t *forgedDrill) acquireLease(user string) {
	t.addEvent(user, "update", "leases", "", "ek", "evenkeel", 200, fmt.Sprintf(`{"spec":{"holderIdentity":"host_%s"}}`, user))
	t.addChange(Change{Lease: &Lease{Holder: "host_" + user, Renewed: t.now, Duration: 15 * time.Second}})
}

func (t *forgedDrill) addReport(run, user, outcome string, pods ...Pod) {
	r := Report{User: user, RunID: run, Started: noon, Finished: t.now}
	for _, p := range pods {
		var o testbed.Outcome
		o.Pod.Namespace, o.Pod.Name, o.Pod.UID, o.Outcome = p.Namespace, p.Name, p.UID, outcome
		r.Outcomes = append(r.Outcomes, o)
	}
	t.Reports = append(t.Reports, r)
}

// markRecovery marks the last report as a recovery of another process's run.
func (t *forgedDrill) markRecovery(holder string) {
	t.Reports[len(t.Reports)-1].Recovered = "host_" + holder
}

// evict adds an eviction that obeys all rules, from the request to the Ready replacement.
func (t *forgedDrill) evict(user string, p Pod) {
	t.now = t.now.Add(time.Second)
	t.requestEviction(user, p, 201)
	t.terminateAndReplace(p, p.Name+"-next")
}

// runPass adds a pass of process ek-1 that obeys all rules and reports its evictions.
func (t *forgedDrill) runPass(run string, pods ...Pod) {
	for _, p := range pods {
		t.evict("ek-1", p)
	}
	t.addReport(run, "ek-1", "evicted", pods...)
}

// evictPending adds an eviction whose replacement gets the node, or no node if it is "", and is not Ready.
func (t *forgedDrill) evictPending(run string, p Pod, node string) {
	t.now = t.now.Add(time.Second)
	t.requestEviction("ek-1", p, 201)
	t.terminateAndReplace(p, "")
	next := readyPod(p.Name+"-next", node)
	next.Ready = false
	t.addPod(next)
	t.now = t.now.Add(20 * time.Second)
	t.addReport(run, "ek-1", "evicted", p)
	t.Reports[len(t.Reports)-1].Outcomes[0].Pending = true
	t.acquireLease("ek-1")
}

// evictOverlapping evicts a pod that is not replaced, and then evicts a second pod.
func (t *forgedDrill) evictOverlapping(p, q Pod) {
	t.Rules.MaxUnavailable = 0
	t.addChange(Change{Gone: true, Budget: &Budget{Namespace: "shop", Name: "d", Selector: labels.Nothing()}})
	t.now = t.now.Add(time.Second)
	t.requestEviction("ek-1", p, 201)
	t.terminateAndReplace(p, "")
	t.evict("ek-1", q)
	t.addReport("run-1", "ek-1", "evicted", p, q)
}

func newDrillWithoutViolations() *forgedDrill {
	t := &forgedDrill{now: noon}
	t.Ours = func(u string) bool { return strings.HasPrefix(u, "ek-") }
	t.Namespace = "ek"
	t.Rules = Rules{PerPass: 3, PerNode: 2, PerNamespace: 3, PerOwner: 3, PerZone: 2, HourCluster: 5, HourNamespace: 5, HourOwner: 5,
		FlightTotal: 2, FlightNode: 1, FlightOwner: 1, PerMinute: 60, MaxUnavailable: 1, FlightTimeout: time.Minute, OnePass: true}
	for i := range 3 {
		t.addChange(Change{Node: &Node{Name: fmt.Sprintf("n%d", i+1), Zone: fmt.Sprintf("z%d", i+1)}})
	}
	t.addChange(Change{Workload: &Workload{Namespace: "shop", App: "d", Replicas: 6}})
	five := intstr.FromInt32(5)
	t.addChange(Change{Budget: &Budget{Namespace: "shop", Name: "d",
		Selector: labels.SelectorFromSet(labels.Set{"app": "d"}), MinAvailable: &five}})
	for i := range 6 {
		t.addPod(readyPod(fmt.Sprintf("d%d", i), fmt.Sprintf("n%d", i%3+1)))
	}
	t.acquireLease("ek-1")
	return t
}
