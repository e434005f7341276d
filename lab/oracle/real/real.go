// Package real runs the plugins of the real kube-scheduler on objects that are put directly into its informer stores.
// The package does not depend on package placement, and it compiles with every scheduler version under test. The
// package starts no server and writes nothing to a cluster.
package real

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// skippedPlugins are the plugins of the default profile that do not run, because the predictor supports neither device
// claims nor preemption.
var skippedPlugins = []string{"DynamicResources", "DefaultPreemption"}

// Verdict is the result of the scheduler's plugins for one node.
type Verdict struct {
	Feasible bool
	Scores   map[string]int64 // weighted
	Total    int64
}

// Objects are the objects of a cluster.
type Objects struct {
	Nodes                  []*corev1.Node
	Pods                   []*corev1.Pod
	Namespaces             []*corev1.Namespace
	Services               []*corev1.Service
	ReplicationControllers []*corev1.ReplicationController
	ReplicaSets            []*appsv1.ReplicaSet
	StatefulSets           []*appsv1.StatefulSet
	PersistentVolumes      []*corev1.PersistentVolume
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	StorageClasses         []*storagev1.StorageClass
	CSINodes               []*storagev1.CSINode
	CSIDrivers             []*storagev1.CSIDriver
	VolumeAttachments      []*storagev1.VolumeAttachment
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity
}

// Scheduler runs one profile of the real scheduler.
type Scheduler struct {
	framework framework.Framework
	informers informers.SharedInformerFactory
	nodes     *snapshotLister
	nominated *nominator
	objects   *Objects
}

// snapshotLister lists the nodes and pods that the scheduler sees; each case replaces its content.
type snapshotLister struct{ *schedulercache.Snapshot }

// nominator returns the pods that are nominated to a node.
type nominator struct {
	podNominator
	byNode map[string][]podInfo
	except *corev1.Pod
}

func (n *nominator) NominatedPodsForNode(node string) (out []podInfo) {
	for _, p := range n.byNode[node] {
		if podOf(p) != n.except {
			out = append(out, p)
		}
	}
	return out
}

// New returns a scheduler with the default profile and without a cluster.
func New(ctx context.Context) (*Scheduler, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, err
	}
	return newWithProfile(ctx, cfg.Profiles[0])
}

// Configure replaces the profile by the first profile of a KubeSchedulerConfiguration in YAML. The scheduler has no
// cluster then.
func (s *Scheduler) Configure(ctx context.Context, text string) error {
	decoded, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		return fmt.Errorf("the scheduler cannot decode the configuration: %w", err)
	}
	cfg, ok := decoded.(*config.KubeSchedulerConfiguration)
	if !ok {
		return fmt.Errorf("the configuration is a %T", decoded)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return fmt.Errorf("the scheduler rejects the configuration: %w", err)
	}
	changed, err := newWithProfile(ctx, cfg.Profiles[0])
	if err != nil {
		return err
	}
	*s = *changed
	return nil
}

func newWithProfile(ctx context.Context, profile config.KubeSchedulerProfile) (*Scheduler, error) {
	metrics.Register()
	profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(profile.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
		return slices.Contains(skippedPlugins, p.Name)
	})
	client := fake.NewClientset()
	s := &Scheduler{informers: informers.NewSharedInformerFactory(client, 0), nominated: &nominator{}}
	prepareInformers(s.informers)
	s.nodes = &snapshotLister{schedulercache.NewEmptySnapshot()}
	options := append(versionOptions(s.informers), frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(s.informers), frameworkruntime.WithSnapshotSharedLister(s.nodes),
		frameworkruntime.WithPodNominator(s.nominated), frameworkruntime.WithParallelism(1), frameworkruntime.WithLogger(klog.Background()))
	var err error
	s.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &profile, options...)
	return s, err
}

// fillInformer replaces the content of an informer.
func fillInformer[T any](inf cache.SharedIndexInformer, list []T) error {
	all := make([]any, len(list))
	for i := range list {
		all[i] = list[i]
	}
	return replaceObjects(inf, all)
}

// FillInformers stores the objects of a cluster in informers that are not started.
func FillInformers(inf informers.SharedInformerFactory, o *Objects) error {
	core, apps, storage := inf.Core().V1(), inf.Apps().V1(), inf.Storage().V1()
	return errors.Join(
		fillInformer(core.Nodes().Informer(), o.Nodes),
		fillInformer(core.Namespaces().Informer(), o.Namespaces),
		fillInformer(core.Services().Informer(), o.Services),
		fillInformer(core.ReplicationControllers().Informer(), o.ReplicationControllers),
		fillInformer(core.PersistentVolumes().Informer(), o.PersistentVolumes),
		fillInformer(core.PersistentVolumeClaims().Informer(), o.PersistentVolumeClaims),
		fillInformer(apps.ReplicaSets().Informer(), o.ReplicaSets),
		fillInformer(apps.StatefulSets().Informer(), o.StatefulSets),
		fillInformer(storage.StorageClasses().Informer(), o.StorageClasses),
		fillInformer(storage.CSINodes().Informer(), o.CSINodes),
		fillInformer(storage.CSIDrivers().Informer(), o.CSIDrivers),
		fillInformer(storage.VolumeAttachments().Informer(), o.VolumeAttachments),
		fillInformer(storage.CSIStorageCapacities().Informer(), o.CSIStorageCapacities),
	)
}

// Load replaces the objects of the cluster.
func (s *Scheduler) Load(o *Objects) error {
	s.objects = o
	if err := FillInformers(s.informers, o); err != nil {
		return err
	}
	s.nominated.byNode = map[string][]podInfo{}
	for _, p := range o.Pods {
		n := p.Status.NominatedNodeName
		if n == "" || p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		pi, err := framework.NewPodInfo(p)
		if err != nil {
			return err
		}
		s.nominated.byNode[n] = append(s.nominated.byNode[n], pi)
	}
	return nil
}

// Replace returns, by node name, whether the replacement of a pod may run on the node while the pod is terminating, or
// after the pod is deleted.
func (s *Scheduler) Replace(ctx context.Context, pod int, gone bool) (map[string]Verdict, error) {
	o, victim := s.objects, s.objects.Pods[pod]
	s.nodes.Snapshot = schedulercache.NewSnapshot(boundPods(o, victim, gone), o.Nodes)
	s.nominated.except = victim
	next := ReplacementPod(victim)
	claims := s.informers.Core().V1().PersistentVolumeClaims().Informer()
	for _, c := range EphemeralClaims(o.StorageClasses, next) {
		if err := addObject(claims, c); err != nil {
			return nil, err
		}
		defer func() { _ = removeObject(claims, c) }()
	}
	return s.evaluate(ctx, next)
}

func (s *Scheduler) evaluate(ctx context.Context, pod *corev1.Pod) (map[string]Verdict, error) {
	state := framework.NewCycleState()
	nodes, err := s.nodes.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	out := map[string]Verdict{}
	for _, n := range nodes {
		out[n.Node().Name] = Verdict{}
	}
	pre, status, _ := s.framework.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return nil, status.AsError()
		}
		return out, nil
	}
	var feasible []nodeInfo
	for _, n := range nodes {
		if !pre.AllNodes() && !pre.NodeNames.Has(n.Node().Name) {
			continue
		}
		switch status := s.framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, n); {
		case status.IsSuccess():
			feasible = append(feasible, n)
		case !status.IsRejected():
			return nil, status.AsError()
		}
	}
	if len(feasible) > 0 {
		err = s.score(ctx, state, pod, feasible, out)
	}
	return out, err
}

func (s *Scheduler) score(ctx context.Context, state cycleState, pod *corev1.Pod, feasible []nodeInfo,
	out map[string]Verdict) error {
	if st := s.framework.RunPreScorePlugins(ctx, state, pod, feasible); !st.IsSuccess() {
		return st.AsError()
	}
	scores, st := s.framework.RunScorePlugins(ctx, state, pod, feasible)
	if !st.IsSuccess() {
		return st.AsError()
	}
	for _, x := range scores {
		r := Verdict{Feasible: true, Scores: map[string]int64{}, Total: x.TotalScore}
		for _, p := range x.Scores {
			r.Scores[p.Name] = p.Score
		}
		out[x.Name] = r
	}
	return nil
}

// boundPods returns the bound pods. The victim is marked as terminating, or omitted if gone is true.
func boundPods(o *Objects, victim *corev1.Pod, gone bool) (out []*corev1.Pod) {
	for _, p := range o.Pods {
		switch {
		case p.Spec.NodeName == "" || p == victim && gone:
			continue
		case p == victim:
			p = p.DeepCopy()
			now := metav1.Unix(1, 0)
			p.DeletionTimestamp = &now
		}
		out = append(out, p)
	}
	return out
}

// ReplacementPod returns the pod that replaces the victim.
func ReplacementPod(victim *corev1.Pod) *corev1.Pod {
	p := victim.DeepCopy()
	p.Name, p.UID, p.Spec.NodeName = "newcomer", "newcomer", ""
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return p
}

// EphemeralClaims returns the claims that Kubernetes creates for the ephemeral volumes of a new pod.
func EphemeralClaims(classes []*storagev1.StorageClass, p *corev1.Pod) (out []*corev1.PersistentVolumeClaim) {
	yes := true
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.Ephemeral == nil {
			continue
		}
		c := &corev1.PersistentVolumeClaim{Spec: *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy()}
		c.Namespace, c.Name = p.Namespace, p.Name+"-"+v.Name
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}}
		if c.Spec.StorageClassName == nil {
			for _, class := range classes {
				if class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
					c.Spec.StorageClassName = &class.Name
				}
			}
		}
		out = append(out, c)
	}
	return out
}
