package names

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

func TestResolveKind(t *testing.T) {
	s := &cluster.Snapshot{Workloads: []cluster.Workload{{Kind: "Rollout", APIVersion: "argoproj.io/v1alpha1"}}}
	for text, want := range map[string]string{
		"deployment": "Deployment", "Deployment": "Deployment", "deployments": "Deployment", "deploy": "Deployment", "deployment.apps": "Deployment",
		"deployments.v1.apps": "Deployment", "sts": "StatefulSet", "statefulsets": "StatefulSet", "rs": "ReplicaSet", "replicasets.apps": "ReplicaSet",
		"ds": "DaemonSet", "daemonsets": "DaemonSet", "job": "Job", "jobs": "Job", "jobs.batch": "Job", "cj": "CronJob", "cronjobs.batch": "CronJob",
		"rc": "ReplicationController", "replicationcontrollers": "ReplicationController",
		"rollout": "Rollout", "rollouts": "Rollout", "rollouts.argoproj.io": "Rollout",
		"rollouts.apps": "", "deployment.batch": "", "rc.apps": "", "pod": "", "": "", "s": "", "deployment.": "",
	} {
		got, err := resolveKind(s, text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestSuggestedNames(t *testing.T) {
	o := &cluster.Objects{}
	const text = `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1.example.com"}},
		{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"shop","uid":"s"}},
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"db-0","namespace":"shop","uid":"p",
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db","uid":"s","controller":true}]},"spec":{"nodeName":"n1.example.com"}}]}`
	must.Succeed(t, cluster.Read(strings.NewReader(text), "x", o))
	s := must.Get(cluster.New(o))(t)
	for name, c := range map[string]struct {
		find Finder
		want string
	}{
		"shop/db":         {FindPod, "pod shop/db not found; did you mean explain workload statefulset/shop/db?"},
		"other/db-0":      {FindPod, "pod other/db-0 not found; did you mean shop/db-0?"},
		"shop/no":         {FindPod, "pod shop/no not found; set its namespace with -n, or write NAMESPACE/NAME"},
		"n1":              {FindNode, "node n1 not found (did you mean n1.example.com?)"},
		"n2.example.com":  {FindNode, "node n2.example.com not found"},
		"shop/default/db": {FindWorkload, "shop/db has no kind; did you mean statefulset/shop/db?"},
	} {
		if _, err := c.find(s, &plan.PlannerState{}, name); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
