//go:build !kube133 && !kube134

package real

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// The types of kube-scheduler 1.35 and newer.
type (
	podNominator = fwk.PodNominator
	podInfo      = fwk.PodInfo
	nodeInfo     = fwk.NodeInfo
	cycleState   = fwk.CycleState
)

func podOf(p podInfo) *corev1.Pod { return p.GetPod() }

// versionOptions returns the options that older versions do not have.
func versionOptions(f informers.SharedInformerFactory) []frameworkruntime.Option {
	csi := nodevolumelimits.NewCSIManager(f.Storage().V1().CSINodes().Lister())
	return []frameworkruntime.Option{frameworkruntime.WithSharedCSIManager(csi)}
}

// prepareInformers does nothing: since 1.35, every plugin reads the stores of informers.
func prepareInformers(informers.SharedInformerFactory) {}

func replaceObjects(inf cache.SharedIndexInformer, all []any) error {
	return inf.GetIndexer().Replace(all, "1")
}

func addObject(inf cache.SharedIndexInformer, x any) error { return inf.GetIndexer().Add(x) }

func removeObject(inf cache.SharedIndexInformer, x any) error { return inf.GetIndexer().Delete(x) }
