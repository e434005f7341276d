package landings

import (
	"cmp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// listPods lists all pods of a namespace.
func listPods(t *testing.T, ns string) []corev1.Pod {
	t.Helper()
	list := must.Get(lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{}))(t)
	return list.Items
}

// target is the requested fraction of CPU to which the pass reduces nodes.
const target = 0.6

// observation counts landings from the API server's data, without the report.
type observation struct {
	landingCounts
	landed map[types.UID]string // victim -> node of its replacement
}

// observeLandings pairs victims with replacements. At most one pod of a workload is in flight, so the first new pod
// in the audit log is the replacement of the first victim. A landing is acceptable if the node is not the source
// and its final requests are within the target. A node that receives pods only becomes fuller, so its final state
// is decisive.
func observeLandings(t *testing.T, ns string, before, after []corev1.Pod) observation {
	t.Helper()
	known, was := map[types.UID]bool{}, map[string]*corev1.Pod{}
	for i := range before {
		known[before[i].UID], was[before[i].Name] = true, &before[i]
	}
	fresh, cpu := map[string][]*corev1.Pod{}, map[string]int64{}
	for i := range after {
		p := &after[i]
		cpu[p.Spec.NodeName] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		if !known[p.UID] {
			fresh[p.Labels["app"]] = append(fresh[p.Labels["app"]], p)
		}
	}
	for _, list := range fresh {
		slices.SortFunc(list, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	}
	s := observation{landed: map[types.UID]string{}}
	for _, name := range evictedPods(t, ns) {
		victim := was[name]
		if victim == nil {
			t.Fatalf("pod %s was evicted but is not in the list from before the pass", name)
		}
		app := victim.Labels["app"]
		s.evicted++
		if len(fresh[app]) == 0 {
			t.Errorf("evicted pod %s has no replacement", name)
			continue
		}
		on := fresh[app][0].Spec.NodeName
		fresh[app] = fresh[app][1:]
		s.landed[victim.UID] = on
		switch {
		case on == victim.Spec.NodeName:
			s.returned++
		case on != "" && float64(cpu[on]) <= target*10_000:
			s.acceptable++
		}
	}
	return s
}

// evictedPods returns the pods of the accepted evictions in the order of the audit log.
func evictedPods(t *testing.T, ns string) (names []string) {
	t.Helper()
	events := must.Get(lab.Evictions(ns))(t)
	slices.SortStableFunc(events, func(a, b auditv1.Event) int {
		return cmp.Compare(a.RequestReceivedTimestamp.UnixNano(), b.RequestReceivedTimestamp.UnixNano())
	})
	for _, e := range events {
		if e.ResponseStatus != nil && e.ResponseStatus.Code == 201 {
			names = append(names, e.ObjectRef.Name)
		}
	}
	return names
}

// compareWithReport checks that the report agrees with the API server.
func (s *observation) compareWithReport(t *testing.T, r *testbed.Report) {
	t.Helper()
	for _, o := range r.Outcomes() {
		if o.Outcome != "evicted" {
			continue
		}
		if on, ok := s.landed[types.UID(o.Pod.UID)]; !ok || on != o.Landed {
			t.Errorf("the replacement of %s landed on %q according to the report, on %q according to the API server",
				o.Pod.Name, o.Landed, on)
		}
		delete(s.landed, types.UID(o.Pod.UID))
	}
	for uid := range s.landed {
		t.Errorf("the report does not contain evicted pod %s", uid)
	}
}
