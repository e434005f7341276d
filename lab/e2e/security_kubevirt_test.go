package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const evictionInProgress = "descheduler.alpha.kubernetes.io/eviction-in-progress"

// kubeVirt acts as the parts of KubeVirt that take part in the eviction of a virtual machine: the webhook for
// pods/eviction, and the controllers of budgets, of pods and of migrations. It keeps what KubeVirt keeps in the
// status of a VirtualMachineInstance.
type kubeVirt struct {
	t    *testing.T
	ns   string
	vmis dynamic.ResourceInterface

	mu         sync.Mutex
	evacuating map[string]string // status.evacuationNodeName by VM
	nodes      map[string]string // status.nodeName by VM
}

// newKubeVirt makes virtual machines with one pod of 4.5 CPU each on n1, which has 10.
func newKubeVirt(t *testing.T, vms ...string) *kubeVirt {
	t.Helper()
	config := must.Get(clientcmd.BuildConfigFromFlags("", lab.Kubeconfig))(t)
	client := must.Get(dynamic.NewForConfig(config))(t)
	crd := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "virtualmachineinstances.kubevirt.io"},
		"spec": map[string]any{"group": "kubevirt.io", "scope": "Namespaced",
			"names": map[string]any{"kind": "VirtualMachineInstance", "plural": "virtualmachineinstances"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	k := &kubeVirt{t: t, ns: seedApps(t, nil), evacuating: map[string]string{}, nodes: map[string]string{}}
	k.vmis = client.Resource(schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachineinstances"}).Namespace(k.ns)
	serveWebhook(t, k.ns, k.answer)
	for _, vm := range vms {
		k.startVM(vm)
	}
	return k
}

// startVM makes the VirtualMachineInstance, its pod and its budget, and waits until the budget is observed.
func (k *kubeVirt) startVM(vm string) {
	k.t.Helper()
	var owner metav1.OwnerReference
	if err := seed.WaitUntil(k.t.Context(), time.Minute, func() (bool, error) { // the API server needs a moment for a new kind
		o, err := k.vmis.Create(k.t.Context(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kubevirt.io/v1",
			"kind": "VirtualMachineInstance", "metadata": map[string]any{"name": vm}}}, metav1.CreateOptions{})
		if err == nil {
			owner = metav1.OwnerReference{APIVersion: "kubevirt.io/v1", Kind: "VirtualMachineInstance", Name: vm, UID: o.GetUID(),
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}
		}
		return err == nil, nil
	}); err != nil {
		k.t.Fatal(err)
	}
	k.nodes[vm] = "n1"
	k.createPod(vm, owner, "n1", "")
	one := intstr.FromInt32(1)
	budgets := lab.Client.PolicyV1().PodDisruptionBudgets(k.ns)
	b, err := budgets.Create(k.t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kubevirt-disruption-budget-", OwnerReferences: []metav1.OwnerReference{owner}},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubevirt.io/created-by": string(owner.UID)}}}}, metav1.CreateOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	if err := seed.WaitUntil(k.t.Context(), time.Minute, func() (bool, error) {
		b, err := budgets.Get(k.t.Context(), b.Name, metav1.GetOptions{})
		return err == nil && b.Status.ObservedGeneration == b.Generation && b.Status.CurrentHealthy == 1, err
	}); err != nil {
		k.t.Fatalf("waiting for the budget of %s: %v", vm, err)
	}
}

// createPod makes a virt-launcher pod on a node, or as the target of a migration: the scheduler then binds it
// elsewhere.
func (k *kubeVirt) createPod(vm string, owner metav1.OwnerReference, node, migration string) {
	k.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "virt-launcher-" + vm + "-", OwnerReferences: []metav1.OwnerReference{owner},
		Labels:      map[string]string{"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": string(owner.UID), "vm.kubevirt.io/name": vm},
		Annotations: map[string]string{"kubevirt.io/domain": vm, "descheduler.alpha.kubernetes.io/request-evict-only": ""}},
		Spec: corev1.PodSpec{NodeName: node, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "compute", Image: "virt-launcher",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("4500m"), "memory": resource.MustParse("1Gi")}}}}}}
	if migration != "" {
		p.Labels["kubevirt.io/migrationJobUID"], p.Annotations["kubevirt.io/migrationJobName"] = migration, migration
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname,
				Operator: corev1.NodeSelectorOpNotIn, Values: []string{k.nodes[vm]}}}}}}}}
	}
	if _, err := lab.Client.CoreV1().Pods(k.ns).Create(k.t.Context(), p, metav1.CreateOptions{}); err != nil {
		k.t.Fatal(err)
	}
	k.pods(vm, func(p corev1.Pod) bool { return p.Spec.NodeName != "" && isReady(p) })
}

// pods waits until all running pods of a VM are as asked, and returns them, the oldest first.
func (k *kubeVirt) pods(vm string, ok func(corev1.Pod) bool) (out []corev1.Pod) {
	k.t.Helper()
	if err := seed.WaitUntil(k.t.Context(), time.Minute, func() (bool, error) {
		list, err := lab.Client.CoreV1().Pods(k.ns).List(k.t.Context(), metav1.ListOptions{LabelSelector: "vm.kubevirt.io/name=" + vm})
		if err != nil {
			return false, err
		}
		out = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
		slices.SortFunc(out, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
		return len(out) > 0 && !slices.ContainsFunc(out, func(p corev1.Pod) bool { return !ok(p) }), nil
	}); err != nil {
		k.t.Fatalf("waiting for the pods of %s: %v", vm, err)
	}
	return out
}

func isReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// answer is the webhook virt-launcher-eviction-interceptor.kubevirt.io for machines that can migrate.
func (k *kubeVirt) answer(r *admissionv1.AdmissionRequest) *metav1.Status {
	denied := func(format string, args ...any) *metav1.Status {
		return &metav1.Status{Code: 429, Message: fmt.Sprintf(format, args...)}
	}
	p, err := lab.Client.CoreV1().Pods(k.ns).Get(context.Background(), r.Name, metav1.GetOptions{})
	if err != nil || p.Labels["kubevirt.io"] != "virt-launcher" || p.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	vm := p.Annotations["kubevirt.io/domain"]
	switch {
	case k.evacuating[vm] != "":
		return denied("Evacuation in progress: Eviction triggered evacuation of VMI %q", k.ns+"/"+vm)
	case k.nodes[vm] != p.Spec.NodeName:
		return denied("Eviction request for target Pod")
	}
	k.evacuating[vm] = p.Spec.NodeName
	return denied("Eviction triggered evacuation of VMI %q", k.ns+"/"+vm)
}

// asked returns the VM that evacuates.
func (k *kubeVirt) asked() string {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.evacuating) != 1 {
		k.t.Fatalf("evacuating: %v, want one", k.evacuating)
	}
	for vm := range k.evacuating {
		return vm
	}
	return ""
}

// beginMigration marks the source and creates the target of a migration.
func (k *kubeVirt) beginMigration(vm string) {
	k.t.Helper()
	source := k.pods(vm, isReady)[0]
	patch := []byte(`{"metadata":{"annotations":{"` + evictionInProgress + `":"true"}}}`)
	if _, err := lab.Client.CoreV1().Pods(k.ns).Patch(k.t.Context(), source.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		k.t.Fatal(err)
	}
	k.createPod(vm, source.OwnerReferences[0], "", "migration-"+vm)
}

// endMigration ends the source. The machine runs in the target.
func (k *kubeVirt) endMigration(vm string) {
	k.t.Helper()
	pods := k.pods(vm, isReady)
	source, target := pods[0], pods[1]
	if source.Spec.NodeName != k.nodes[vm] { // both can be from the same second
		source, target = target, source
	}
	source.Status.Phase = corev1.PodSucceeded
	if _, err := lab.Client.CoreV1().Pods(k.ns).UpdateStatus(k.t.Context(), &source, metav1.UpdateOptions{}); err != nil {
		k.t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.evacuating, vm)
	k.nodes[vm] = target.Spec.NodeName
}

// run makes a pass in a process of its own.
func (k *kubeVirt) run(background string) testbed.Report {
	k.t.Helper()
	config := testbed.ConfigFile(k.t, fmt.Sprintf(`
strategies: {hot: {type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.8}}}}
namespaces: {include: [%s]}
limits: {perNamespace: unlimited}
guards: {controllers: [kubevirt.io/VirtualMachineInstance], minReplicas: 1, minPodAge: 0s}
evictor: {inFlight: {perNode: 1}, backgroundTimeout: %s, backoff: 10m}
`, k.ns, background))
	r := runEvenkeel(k.t, "run", "--once", "-o", "json", "--lease-namespace", k.ns, "--config", config)
	if r.code != 0 {
		k.t.Fatalf("exit %d, want 0", r.code)
	}
	return parseReport(k.t, r.stdout)
}

// checkRequests checks that the webhook refused all requests of Evenkeel for evictions so far, and how many there were.
func (k *kubeVirt) checkRequests(want int) {
	k.t.Helper()
	events, err := lab.Evictions(k.ns)
	events = slices.DeleteFunc(events, func(e auditv1.Event) bool { return e.UserAgent == dryRunUserAgent })
	if err != nil || len(events) != want {
		k.t.Errorf("%d eviction requests in the audit log, want %d (%v)", len(events), want, err)
	}
	checkEvictions(k.t, k.ns, 0)
}

// TestSecurityKubeVirtMigration: the budget of a virtual machine allows no eviction, and the request is sent all the
// same, because it starts the migration. While that runs, in every process, it counts as in flight from its node, and
// nothing else is requested. When it has ended, the node is below its target.
func TestSecurityKubeVirtMigration(t *testing.T) {
	skipIfShort(t)
	k := newKubeVirt(t, "vm0", "vm1")
	first := k.run("1h")
	if codes := first.OutcomeCodes(); !slices.Equal(codes, []string{"inProgress EvictionInBackground"}) {
		t.Fatalf("outcomes %v, want one that goes on in the background", codes)
	}
	k.checkRequests(1)
	vm := k.asked()
	waits := func(when string, code string) {
		t.Helper()
		r := k.run("1h")
		if len(r.Spec.Moves) != 0 || r.NotMoved()["EvictionInBackground"] == 0 || r.NotMoved()[code] == 0 {
			t.Errorf("%s: %d moves, rejections %v; want none, because of EvictionInBackground and %s", when, len(r.Spec.Moves),
				r.NotMoved(), code)
		}
		k.checkRequests(1)
	}
	waits("before the target exists", "EvictionInBackground")
	k.beginMigration(vm)
	waits("while both pods run", "EvictionInProgress")
	k.endMigration(vm)
	last := k.run("1h")
	if len(last.Spec.Moves) != 0 || last.NotMoved()["EvictionInBackground"] != 0 {
		t.Errorf("after the migration: %d moves, rejections %v; want none, and the eviction forgotten", len(last.Spec.Moves), last.NotMoved())
	}
	k.checkRequests(1)
	if node := k.pods(vm, isReady)[0].Spec.NodeName; node == "n1" {
		t.Error("the machine is still on n1")
	}
}

// TestSecurityKubeVirtMigrationNeverEnds: when evictor.backgroundTimeout is over, the workload backs off, and
// nothing is requested again.
func TestSecurityKubeVirtMigrationNeverEnds(t *testing.T) {
	skipIfShort(t)
	k := newKubeVirt(t, "vm0", "vm1")
	pinned := k.pods("vm1", isReady)[0]
	if _, err := lab.Client.CoreV1().Pods(k.ns).Patch(t.Context(), pinned.Name, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"evenkeel.io/evict":"never"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	const timeout = "1m"
	if codes := k.run(timeout).OutcomeCodes(); !slices.Equal(codes, []string{"inProgress EvictionInBackground"}) {
		t.Fatalf("outcomes %v, want one that goes on in the background", codes)
	}
	if vm := k.asked(); vm != "vm0" {
		t.Errorf("%s was asked to move, want vm0", vm)
	}
	if err := seed.WaitUntil(t.Context(), 3*time.Minute, func() (bool, error) {
		r := k.run(timeout)
		if len(r.Spec.Moves) != 0 {
			t.Errorf("%d moves, rejections %v; want none", len(r.Spec.Moves), r.NotMoved())
		}
		return r.NotMoved()["BackedOff"] > 0, nil
	}); err != nil {
		t.Fatalf("the virtual machine does not back off: %v", err)
	}
	for range 2 {
		k.run(timeout)
	}
	k.checkRequests(1)
}
