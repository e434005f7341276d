package oracle

import (
	"context"
	"flag"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/lab/oracle/real"
)

var oldScheduler = flag.String("oracle.old", "", "binary of cmd/real built with kube-scheduler 1.36, to compare with instead of 1.37")

// realScheduler is a real scheduler, either in this process or, in another version, in a separate process.
type realScheduler interface {
	Load(*real.Objects) error
	Replace(ctx context.Context, pod int, gone bool) (map[string]real.Verdict, error)
}

// schedulerVersion returns the version of the scheduler under comparison.
func schedulerVersion() string {
	if *oldScheduler != "" {
		return "1.36"
	}
	return "1.37"
}

// ignoredFeatures names the features that a scheduler version ignores, so that they cannot decide a case.
var ignoredFeatures = map[string]map[string]bool{"1.36": {
	"missing drivers": true, "score VolumeBinding": true,
}}

func newRealScheduler(t *testing.T) realScheduler {
	t.Helper()
	if *oldScheduler == "" {
		s, err := real.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	c, err := real.Start(*oldScheduler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func toRealObjects(o *cluster.Objects) *real.Objects {
	return &real.Objects{Nodes: o.Nodes, Pods: o.Pods, Namespaces: o.Namespaces, Services: o.Services,
		ReplicationControllers: o.ReplicationControllers, ReplicaSets: o.ReplicaSets, StatefulSets: o.StatefulSets,
		PersistentVolumes: o.PersistentVolumes, PersistentVolumeClaims: o.PersistentVolumeClaims, StorageClasses: o.StorageClasses,
		CSINodes: o.CSINodes, CSIDrivers: o.CSIDrivers, VolumeAttachments: o.VolumeAttachments,
		CSIStorageCapacities: o.CSIStorageCapacities}
}
