package evictor

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// EventRecorder publishes Kubernetes events about evicted pods, workloads with the longest
// back-off, pauses, breaker trips, plans that wait for approval, and passes that could judge
// nothing. Recorder sends events in the background and drops those that it cannot send.
type EventRecorder struct {
	Recorder events.EventRecorder
	// Namespace is the namespace of the Lease. Events about pauses and breaker trips refer to the Lease.
	Namespace string
	// LookupUID returns the UID of a workload. Without the UID, `kubectl describe` does not show
	// the events. Nil means that no UID is known.
	LookupUID func(kind, namespace, name string) types.UID
}

// Evicted publishes why the pod is evicted and where the planner expects its replacement.
func (r EventRecorder) Evicted(pod *corev1.Pod, m plan.Move) {
	r.Recorder.Eventf(pod, nil, corev1.EventTypeNormal, "EvictedForBalance", "Evict", "%s", evictionNote(m))
}

// evictionNote describes a move to the readers of the pod's namespace. It never names a pod of another namespace; nor
// does the reason of a goal about pods of several namespaces.
func evictionNote(m plan.Move) string {
	what := "its replacement is expected on " + m.To
	if others := m.Acceptable.Nodes - 1; others > 0 {
		what += fmt.Sprintf(", or on %s that %s as much", plural.Count(others, "other node"), plural.Choose(others, "helps", "help"))
	}
	switch {
	case m.WithoutPlace():
		what = "no place is predicted for its replacement, which may stay Pending"
	case m.Removal != "":
		what = "the pod has ended and is removed by " + string(m.Removal)
	}
	why := m.Reason.Message
	if other := m.DisplacedFor; other != nil && other.Namespace != m.Pod.Namespace {
		why = "it makes room for a pod of another namespace"
	}
	return truncateNote(fmt.Sprintf("strategy %s: %s (%s); %s", m.Strategy, why, m.Reason.Code, what))
}

// maxNoteBytes is the API's limit for the note of an event.
const maxNoteBytes = 1024

func truncateNote(s string) string {
	return printable(s[:min(len(s), maxNoteBytes)]) // drops a character that was cut in half, too
}

// BackedOff publishes that the evictions of a workload failed so often that the workload now has
// the longest back-off.
func (r EventRecorder) BackedOff(b plan.Backoff) {
	w := &corev1.ObjectReference{APIVersion: b.Workload.APIVersion, Kind: b.Workload.Kind, Namespace: b.Workload.Namespace,
		Name: b.Workload.Name}
	if r.LookupUID != nil {
		w.UID = r.LookupUID(w.Kind, w.Namespace, w.Name)
	}
	r.record(w, corev1.EventTypeWarning, "BackedOff", "BackOff", fmt.Sprintf(
		"%s in %d passes in a row; none of its pods is evicted before %s; the last failure: %s (%s)",
		b.Cause(), b.Failures, b.Until.UTC().Format(time.RFC3339), b.Reason.Message, b.Reason.Code))
}

// InvalidHintRecord publishes that an annotation on a node was not the record of a hint, and was removed.
func (r EventRecorder) InvalidHintRecord(node *corev1.Node, problem string) {
	if r.Recorder == nil || node == nil {
		return
	}
	r.record(&corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}, corev1.EventTypeWarning,
		"InvalidHintRecord", "RemoveAnnotation",
		"the annotation "+pressure.Key+" was removed, because "+problem+"; labels and taints of the node stay")
}

// StateChanged publishes each pause and breaker trip that began or ended between the two states.
func (r EventRecorder) StateChanged(before, after plan.PlannerState) {
	switch was, is := before.Pause, after.Pause; {
	case is != nil && (was == nil || !samePause(*was, *is)):
		r.recordOnLease(corev1.EventTypeNormal, "Paused", "Pause", is.Block().Reason.Message+"; to end the pause: evenkeel resume")
	case was != nil && is == nil:
		r.recordOnLease(corev1.EventTypeNormal, "Resumed", "Resume", "evictions are no longer paused; they had been paused by "+was.By)
	}
	switch was, is := before.Breaker, after.Breaker; {
	case is != nil && (was == nil || !was.At.Equal(is.At)):
		r.recordOnLease(corev1.EventTypeWarning, "BreakerOpen", "Stop",
			"no evictions before "+is.Until.UTC().Format(time.RFC3339)+", and not before the cluster is healthy: "+is.Reason.Message)
	case was != nil && is == nil:
		r.recordOnLease(corev1.EventTypeNormal, "BreakerClosed", "Resume",
			"evictions are allowed again; the breaker had tripped because: "+was.Reason.Message)
	}
}

// JudgedNothing publishes the causes why the passes can judge nothing, if their codes differ from those of the pass
// before, and that a pass judged something again.
func (r EventRecorder) JudgedNothing(before, after plan.Plan) {
	switch is := after.NothingJudgedText(); {
	case slices.EqualFunc(before.NothingJudged, after.NothingJudged, func(a, b plan.Reason) bool { return a.Code == b.Code }):
	case is != "":
		r.recordOnLease(corev1.EventTypeWarning, "NothingJudged", "Plan", "the pass could judge nothing: "+is)
	default:
		r.recordOnLease(corev1.EventTypeNormal, "JudgingAgain", "Plan",
			"the pass judged pods again; the one before could judge nothing: "+before.NothingJudgedText())
	}
}

// OtherDeschedulersChanged publishes which other programs evict pods to move them, or that none does any more.
func (r EventRecorder) OtherDeschedulersChanged(before, after []plan.OtherDescheduler) {
	switch text := plan.OtherDeschedulersText(after, false); {
	case text != "":
		r.recordOnLease(corev1.EventTypeWarning, "OtherDescheduler", "Observe", text)
	case len(before) > 0:
		r.recordOnLease(corev1.EventTypeNormal, "NoOtherDescheduler", "Observe", "no other descheduler runs any more")
	}
}

// PlanWaiting publishes that a plan waits for approval.
func (r EventRecorder) PlanWaiting(w plan.WaitingPlan) {
	var strategies []string
	for _, name := range slices.Sorted(maps.Keys(w.Strategies)) {
		strategies = append(strategies, fmt.Sprintf("%s %d", name, w.Strategies[name]))
	}
	r.recordOnLease(corev1.EventTypeNormal, "PlanWaiting", "Propose", fmt.Sprintf(
		"plan %s with %s (%s) waits for approval until %s; to see and approve it: evenkeel approve %s", w.ID,
		plural.Count(w.Steps(), "step"), strings.Join(strategies, ", "), w.Expires.UTC().Format(time.RFC3339), w.ID))
}

// PlanRefused publishes why an approved plan was not executed at all.
func (r EventRecorder) PlanRefused(by plan.Approval, why plan.Reason) {
	r.recordOnLease(corev1.EventTypeWarning, "PlanRefused", "Execute", fmt.Sprintf("the plan that %s approved at %s was refused: %s", by.By,
		by.At.UTC().Format(time.RFC3339), why.Message))
}

// PlanNotKept publishes why the plan of a pass does not wait for approval.
func (r EventRecorder) PlanNotKept(why plan.Reason) {
	r.recordOnLease(corev1.EventTypeWarning, "PlanNotKept", "Propose", fmt.Sprintf("%s (%s)", why.Message, why.Code))
}

func samePause(a, b plan.Pause) bool {
	return a.Since.Equal(b.Since) && a.Until.Equal(b.Until) && a.By == b.By && a.Reason == b.Reason
}

// leaseName is the name of the Lease to which events about the whole installation refer.
const leaseName = "evenkeel"

func (r EventRecorder) recordOnLease(kind, reason, action, text string) {
	r.record(&corev1.ObjectReference{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: r.Namespace, Name: leaseName},
		kind, reason, action, text)
}

// record publishes a text about an object. The recorder adds an event to the series of an earlier one if both have the
// same reason, action and object, whatever their texts say, and shows the text of the first. So the reference to the
// object tells texts apart.
func (r EventRecorder) record(about *corev1.ObjectReference, kind, reason, action, text string) {
	h := fnv.New32a()
	h.Write([]byte(text))
	about.FieldPath = fmt.Sprintf("text{%08x}", h.Sum32())
	r.Recorder.Eventf(about, nil, kind, reason, action, "%s", truncateNote(text))
}
