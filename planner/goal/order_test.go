package goal

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestGoalsWithOneSubjectNameTheirGroups checks that goals about different pods of one workload can
// be told apart, and that other goals have no group.
func TestGoalsWithOneSubjectNameTheirGroups(t *testing.T) {
	s := &cluster.Snapshot{}
	pod := func(name, kind, controller, revision string) cluster.PodID {
		p := cluster.Pod{Object: &corev1.Pod{}, ID: cluster.PodID(len(s.Pods)), Node: cluster.NoNode}
		p.Object.Name, p.Object.Labels = name, map[string]string{"controller-revision-hash": revision}
		if kind != "" {
			p.Controller = &metav1.OwnerReference{Kind: kind, Name: controller}
		}
		s.Pods = append(s.Pods, p)
		return p.ID
	}
	goal := func(kind, name string, pods ...cluster.PodID) plan.Goal {
		return plan.Goal{Strategy: "s", Kind: plan.CountAtMost, TopologyKey: "host", Subject: plan.ObjectRef{Kind: kind, Name: name}, Pods: pods, Limit: 1}
	}
	goals := sortedByKey(s, []plan.Goal{
		goal("Deployment", "alone", pod("alone-1", "ReplicaSet", "alone-5f", "")),
		goal("Deployment", "web", pod("web-6c-1", "ReplicaSet", "web-6c", ""), pod("web-6c-2", "ReplicaSet", "web-6c", "")),
		goal("StatefulSet", "db", pod("db-0", "StatefulSet", "db", "db-7d"), pod("db-1", "StatefulSet", "db", "db-7d")),
		goal("Deployment", "web", pod("web-7d-1", "ReplicaSet", "web-7d", "")),
		goal("StatefulSet", "db", pod("db-2", "StatefulSet", "db", "db-8e")),
		goal("Pod", "bare", pod("bare", "", "", "")),
		goal("Pod", "bare", pod("bare", "", "", ""), pod("bare-2", "", "", "")),
		goal("StatefulSet", "db", pod("db-3", "StatefulSet", "db", "db-7d"), pod("db-4", "StatefulSet", "db", "db-8e")),
	})
	want := []string{"Deployment/alone ", "Deployment/web ReplicaSet web-6c", "Deployment/web ReplicaSet web-7d", "Pod/bare 1 pod, such as bare",
		"Pod/bare 2 pods, such as bare", "StatefulSet/db revision db-7d", "StatefulSet/db revision db-8e", "StatefulSet/db 2 pods, such as db-3"}
	for i, g := range goals {
		if got := g.Subject.String() + " " + g.Group; got != want[i] {
			t.Errorf("goal %d: %q, want %q", i, got, want[i])
		}
	}
}
