package ui

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/resource"
)

// Bounds of what one page reads of the cluster.
const (
	maxNodes = 10000
	maxPods  = 20000
	listPage = 500
)

// errTooMany means that the cluster has more objects than one page reads.
var errTooMany = errors.New("too many objects")

// nodeUse is a node with the sums of its pods, in milli CPU and bytes.
type nodeUse struct {
	name, zone              string
	pods                    int
	milliCPU, memory        int64 // allocatable
	requestedCPU, requested int64
	usedCPU, used           int64
	measured                bool
}

// workloadUse is a workload with its pods by zone.
type workloadUse struct {
	kind, namespace, name string
	pods                  int
	zones                 map[string]int
	nodes                 map[string]bool
	worst                 int // the pods in the zone with the most
}

func listNodes(ctx context.Context, client kubernetes.Interface) (map[string]*nodeUse, error) {
	out := map[string]*nodeUse{}
	for next := ""; ; {
		page, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: listPage, Continue: next})
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			n := &page.Items[i]
			a := n.Status.Allocatable
			out[n.Name] = &nodeUse{name: n.Name, zone: n.Labels[corev1.LabelTopologyZone], milliCPU: a.Cpu().MilliValue(), memory: a.Memory().Value()}
		}
		if next = page.Continue; next == "" {
			return out, nil
		}
		if len(out) >= maxNodes {
			return nil, errTooMany
		}
	}
}

// addPods adds the pods of a namespace, or of all, to their nodes. It returns the workloads. nodes is nil if the nodes
// are unknown.
func addPods(ctx context.Context, client kubernetes.Interface, namespace string, nodes map[string]*nodeUse) ([]*workloadUse, error) {
	found := map[string]*workloadUse{}
	var order []*workloadUse
	count := 0
	for next := ""; ; {
		page, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: listPage, Continue: next})
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			p := &page.Items[i]
			if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
				continue
			}
			zone := ""
			if n := nodes[p.Spec.NodeName]; n != nil {
				requests := resource.PodRequests(p, resource.PodResourcesOptions{})
				n.pods, n.requestedCPU, n.requested = n.pods+1, n.requestedCPU+requests.Cpu().MilliValue(), n.requested+requests.Memory().Value()
				zone = n.zone
			}
			kind, name := ownerOf(p)
			key := kind + "/" + p.Namespace + "/" + name
			w := found[key]
			if w == nil {
				w = &workloadUse{kind: kind, namespace: p.Namespace, name: name, zones: map[string]int{}, nodes: map[string]bool{}}
				found[key], order = w, append(order, w)
			}
			w.pods++
			w.zones[zone]++
			w.nodes[p.Spec.NodeName] = true
		}
		if count += len(page.Items); page.Continue == "" {
			break
		}
		if next = page.Continue; count >= maxPods {
			return nil, errTooMany
		}
	}
	for _, w := range order {
		for _, n := range w.zones {
			w.worst = max(w.worst, n)
		}
	}
	slices.SortFunc(order, func(a, b *workloadUse) int {
		return cmp.Or(strings.Compare(categoryKey(a.pods, a.worst), categoryKey(b.pods, b.worst)), cmp.Compare(b.pods, a.pods), strings.Compare(a.namespace+"/"+a.name, b.namespace+"/"+b.name))
	})
	return order, nil
}

// ownerOf returns the workload of a pod. That of a ReplicaSet is the Deployment whose name begins its own.
func ownerOf(p *corev1.Pod) (kind, name string) {
	o := metav1.GetControllerOf(p)
	if o == nil {
		return "Pod", p.Name
	}
	if of, isHash := strings.CutSuffix(o.Name, "-"+p.Labels["pod-template-hash"]); o.Kind == "ReplicaSet" && isHash && p.Labels["pod-template-hash"] != "" {
		return "Deployment", of
	}
	return o.Kind, o.Name
}

// explain names the right that is missing, or returns "" for other errors.
func explain(r right, err error) string {
	if apierrors.IsForbidden(err) {
		return r.String()
	}
	return ""
}
