//go:build kube133 || kube134

package real

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// eventInformer tells event handlers what is put into its store. Up to 1.34, the plugin VolumeBinding copies claims
// and volumes from the events of informers, and never reads their stores.
type eventInformer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

// AddEventHandler registers a handler of a plugin.
func (e *eventInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	e.handlers = append(e.handlers, h)
	return e.SharedIndexInformer.AddEventHandler(h)
}

func versionOptions(informers.SharedInformerFactory) []frameworkruntime.Option { return nil }

// prepareInformers replaces the informers of claims and volumes by such that tell handlers what they store.
func prepareInformers(f informers.SharedInformerFactory) {
	f.InformerFor(&corev1.PersistentVolumeClaim{}, claimInformer)
	f.InformerFor(&corev1.PersistentVolume{}, volumeInformer)
}

func claimInformer(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	inf := coreinformers.NewPersistentVolumeClaimInformer(c, metav1.NamespaceAll, resync, indexers)
	return &eventInformer{SharedIndexInformer: inf}
}

func volumeInformer(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
	return &eventInformer{SharedIndexInformer: coreinformers.NewPersistentVolumeInformer(c, resync, cache.Indexers{})}
}

// replaceObjects removes all objects before it adds any: handlers cannot update objects without resource versions.
func replaceObjects(inf cache.SharedIndexInformer, all []any) error {
	for _, x := range inf.GetIndexer().List() {
		if err := removeObject(inf, x); err != nil {
			return err
		}
	}
	for _, x := range all {
		if err := addObject(inf, x); err != nil {
			return err
		}
	}
	return nil
}

func addObject(inf cache.SharedIndexInformer, x any) error {
	if e, ok := inf.(*eventInformer); ok {
		for _, h := range e.handlers {
			h.OnAdd(x, false)
		}
	}
	return inf.GetIndexer().Add(x)
}

func removeObject(inf cache.SharedIndexInformer, x any) error {
	if e, ok := inf.(*eventInformer); ok {
		for _, h := range e.handlers {
			h.OnDelete(x)
		}
	}
	return inf.GetIndexer().Delete(x)
}
