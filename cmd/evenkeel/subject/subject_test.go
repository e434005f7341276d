package subject

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
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
