package oracle

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/lab/oracle/real"
)

var oldScheduler = flag.String("oracle.old", "",
	"binary of cmd/real built with another version of kube-scheduler, to compare with instead of 1.37")

// schedulerMinor is the minor version of the scheduler under comparison.
var schedulerMinor = 37

func TestMain(m *testing.M) {
	flag.Parse()
	if *oldScheduler != "" {
		version, err := real.Version(*oldScheduler)
		if err == nil {
			_, err = fmt.Sscanf(version, "v1.%d.", &schedulerMinor)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// realScheduler is a real scheduler, either in this process or, in another version, in a separate process.
type realScheduler interface {
	Configure(ctx context.Context, text string) error
	Load(*real.Objects) error
	Replace(ctx context.Context, pod int, gone bool) (map[string]real.Verdict, error)
}

func serverVersion() string { return fmt.Sprintf("1.%d", schedulerMinor) }

// minorVersions is a range of minor versions of kube-scheduler; 0 means no limit.
type minorVersions struct{ first, last int }

func (v minorVersions) contains(minor int) bool {
	return minor >= v.first && (v.last == 0 || minor <= v.last)
}

// decidingVersions are the scheduler versions in which a feature can decide a case, if there are versions in which it
// cannot.
var decidingVersions = map[string]minorVersions{
	"declared features":             {first: 36},
	"NodeDeclaredFeatures":          {first: 36},
	"image volumes":                 {first: 36},
	"pod-level resources":           {first: 34},
	"statuses of init containers":   {first: 37},
	"statuses of pods":              {first: 36},
	"allocations without resources": {first: 37},
	"Portworx annotations":          {last: 35},
	"missing drivers":               {first: 37},
	"score VolumeBinding":           {first: 37},
}

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
