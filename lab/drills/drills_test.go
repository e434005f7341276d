package drills

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
)

func controllerReference(kind string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{Kind: kind, Name: "x", Controller: &yes}}
}

func TestBaitIsProtected(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  metav1.ObjectMeta
		want string
	}{
		{"ordinary", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("ReplicaSet")}, ""},
		{"system", metav1.ObjectMeta{Namespace: "kube-system", OwnerReferences: controllerReference("ReplicaSet")}, "kube-system"},
		{"daemon", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("DaemonSet")}, "DaemonSet"},
		{"bare", metav1.ObjectMeta{Namespace: "workload-a"}, "no controller"},
		{"annotated", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("ReplicaSet"),
			Annotations: map[string]string{"evenkeel.io/do-not-disrupt": "true"}}, "do-not-disrupt"},
		{"labeled", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("ReplicaSet"),
			Labels: map[string]string{protectedLabel: "window"}}, "window"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := protectionReason(&corev1.Pod{ObjectMeta: c.pod})
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestEveryBaitSaysSo checks that the verifier recognizes every protected workload, and that each reason has a
// workload.
func TestEveryBaitSaysSo(t *testing.T) {
	sorts := map[string]bool{}
	for _, a := range workloadApps(time.Now()) {
		if a.protected != "" {
			sorts[podTemplate(a).Labels[protectedLabel]] = true
		}
	}
	for _, want := range []string{"kube-system", "do-not-disrupt", "evict-never", "window", "min-replicas"} {
		if !sorts[want] {
			t.Errorf("no protected workload with reason %s", want)
		}
	}
}

func TestAPodIsHealthyWhileReadyAndNotTerminating(t *testing.T) {
	p := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}}}
	if w := newRecordedPod(p); !w.Ready || w.Terminating || !w.ByEviction {
		t.Errorf("a Ready pod: %+v", w)
	}
	now := metav1.Now()
	p.DeletionTimestamp = &now
	if w := newRecordedPod(p); w.Ready || !w.Terminating {
		t.Errorf("a terminating pod: %+v", w)
	}
}

// TestAGapIsCounted checks that a watch with an expired resource version counts as a gap in the recording.
func TestAGapIsCounted(t *testing.T) {
	r := &recorder{current: map[string]auditverifier.Change{}}
	w := watch.NewFakeWithChanSize(3, false)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "workload-a", Name: "x", ResourceVersion: "7"}}
	w.Add(pod)
	w.Error(&metav1.Status{Code: 410})
	if at := r.readWatch(watchedKind{name: "pods"}, w, "6"); at != "" {
		t.Errorf("watch continues at %q, want a new list", at)
	}
	if changes, gaps := r.recordedChanges(); gaps != 1 || len(changes) != 1 || changes[0].Revision != 7 {
		t.Errorf("got %d gaps and changes %v", gaps, changes)
	}
}

// TestWhatVanishedUnseenIsGone checks that a list after a gap marks missing objects as deleted.
func TestWhatVanishedUnseenIsGone(t *testing.T) {
	r := &recorder{current: map[string]auditverifier.Change{}}
	r.recordState("pods", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "workload-a", Name: "x", ResourceVersion: "7"}}, false)
	r.recordState("nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", ResourceVersion: "8"}}, false)
	r.recordDeleted("pods", map[string]bool{}, 9)
	changes, _ := r.recordedChanges()
	if last := changes[len(changes)-1]; len(changes) != 3 || !last.Gone || last.Pod == nil || last.Revision != 9 {
		t.Errorf("%+v", changes)
	}
}

func TestTheSameSeedKillsAtTheSamePoints(t *testing.T) {
	draw := func() []killPoint {
		s := &drillRun{random: rand.New(rand.NewPCG(1, 2))}
		var out []killPoint
		for range 50 {
			out = append(out, s.randomKillPoint())
		}
		return out
	}
	a, b := draw(), draw()
	classes := map[string]bool{}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("kill point %d is %+v in one run and %+v in the other", i, a[i], b[i])
		}
		classes[string(a[i].class)] = true
	}
	if len(classes) != 4 {
		t.Errorf("50 kill points cover the request classes %v, want 4 classes", classes)
	}
}

func TestOnlyDrillsThatPassedAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	rows := []drillResult{{Name: "good", Violations: map[auditverifier.Kind]int{}},
		{Name: "bad", Violations: map[auditverifier.Kind]int{auditverifier.EvictedTwice: 1}}}
	if err := writeResults(path, rows); err != nil {
		t.Fatal(err)
	}
	got, err := readResults(path)
	if err != nil || len(got) != 1 || got[0].Name != "good" {
		t.Errorf("%+v, %v", got, err)
	}
	var out bytes.Buffer
	writeTable(&out, rows)
	if !strings.Contains(out.String(), "FAILED") {
		t.Errorf("the table does not say that a drill failed:\n%s", &out)
	}
	out.Reset()
	writeTable(&out, got)
	if strings.Contains(out.String(), "FAILED") {
		t.Errorf("the table says that a drill failed:\n%s", &out)
	}
}

func TestTheConfigurationSaysTheRules(t *testing.T) {
	r := defaultRules()
	whole := configText(r, "* * * * *")
	for _, want := range []string{"perPass: 12", "perHour: {owner: 400", "inFlight: {total: 6, perNode: 3, perOwner: 1}",
		"perMinute: 120", "backoff:", "breaker:"} {
		if !strings.Contains(whole, want) {
			t.Errorf("no %q in\n%s", want, whole)
		}
	}
}
