package guard

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resourceapi.MustParse(pairs[i+1])
	}
	return out
}

// quotaPod returns a pod that uses 1 cpu, 2 GPUs and 1Gi of memory, with a limit of 2Gi.
func quotaPod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"},
		Spec: corev1.PodSpec{PriorityClassName: "high", Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: amounts("cpu", "1", "memory", "1Gi", "example.com/gpu", "2"), Limits: amounts("memory", "2Gi", "example.com/gpu", "2")}}}}}
}

func quotaRefusal(t *testing.T, p *corev1.Pod, owner metav1.Object, charged bool, q corev1.ResourceQuota) (string, bool) {
	t.Helper()
	q.Namespace, q.Name = "shop", "q"
	s := must.Get(cluster.New(&cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
		Pods: []*corev1.Pod{p}, ResourceQuotas: []*corev1.ResourceQuota{&q}}))(t)
	pod := s.PodByKey("shop/p")
	if owner != nil {
		pod.Owners = []metav1.Object{owner}
	}
	c, charges := NewCache(), QuotaCharges{}
	if charged {
		c.ChargeQuotas(s, pod, charges)
	}
	if why, refused := c.quotaRefusal(s, pod); refused {
		return why, true
	}
	return "the other replacement takes the room", !c.HasQuotaRoom(s, pod, charges)
}

func withStatus(hard, used corev1.ResourceList) corev1.ResourceQuota {
	return corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: hard}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}}
}

// TestWhatAQuotaHasRoomFor follows CheckRequest of the admission plugin ResourceQuota.
func TestWhatAQuotaHasRoomFor(t *testing.T) {
	template := &appsv1.ReplicaSet{}
	template.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: amounts("cpu", "3")}}}
	lowered := withStatus(amounts("pods", "5"), amounts("pods", "4"))
	lowered.Spec.Hard = amounts("pods", "4")
	raised := withStatus(amounts("pods", "4"), amounts("pods", "4"))
	raised.Spec.Hard = amounts("pods", "5")
	for name, c := range map[string]struct {
		quota   corev1.ResourceQuota
		owner   metav1.Object
		charged bool // another such pod is in flight
		refused bool
	}{
		"room for one":                           {withStatus(amounts("requests.cpu", "5"), amounts("requests.cpu", "4")), nil, false, false},
		"room for one, which is taken":           {withStatus(amounts("requests.cpu", "5"), amounts("requests.cpu", "4")), nil, true, true},
		"no room for requests.cpu":               {withStatus(amounts("requests.cpu", "4500m"), amounts("requests.cpu", "4")), nil, false, true},
		"no room for cpu":                        {withStatus(amounts("cpu", "4500m"), amounts("cpu", "4")), nil, false, true},
		"no room for limits.memory":              {withStatus(amounts("limits.memory", "3Gi"), amounts("limits.memory", "2Gi")), nil, false, true},
		"no room for requests.memory":            {withStatus(amounts("requests.memory", "1Gi"), amounts("requests.memory", "1Gi")), nil, false, true},
		"no room for an extended resource":       {withStatus(amounts("requests.example.com/gpu", "3"), amounts("requests.example.com/gpu", "2")), nil, false, true},
		"no room for pods":                       {withStatus(amounts("pods", "4"), amounts("pods", "4")), nil, false, true},
		"no room for count/pods":                 {withStatus(amounts("count/pods", "4"), amounts("count/pods", "4")), nil, false, true},
		"no room for claims, which are not read": {withStatus(amounts("requests.storage", "1Gi"), amounts("requests.storage", "1Gi")), nil, false, false},
		"limits of extended resources, which the API server does not count":          {withStatus(amounts("limits.nvidia.com/gpu", "4"), nil), nil, false, false},
		"requests of prefixed native resources, which the API server does not count": {withStatus(amounts("requests.example.kubernetes.io/x", "4"), nil), nil, false, false},
		"limits of huge pages, which the API server does not count":                  {withStatus(amounts("limits.hugepages-2Mi", "4"), nil), nil, false, false},
		"requests of an unknown resource":                                            {withStatus(amounts("requests.x", "4"), nil), nil, false, false},
		"requests of huge pages without used":                                        {withStatus(amounts("requests.hugepages-2Mi", "4"), nil), nil, false, true},
		"huge pages without used":                                                    {withStatus(amounts("hugepages-2Mi", "4"), nil), nil, false, true},
		"device classes without used":                                                {withStatus(amounts("requests.deviceclass.resource.kubernetes.io/gpu", "4"), nil), nil, false, true},
		"no room for Services":                                                       {withStatus(amounts("services", "1"), amounts("services", "1")), nil, false, false},
		"a StatefulSet frees its own share":                                          {withStatus(amounts("pods", "4"), amounts("pods", "4")), &appsv1.StatefulSet{}, false, false},
		"exceeded for a StatefulSet":                                                 {withStatus(amounts("pods", "4"), amounts("pods", "5")), &appsv1.StatefulSet{}, false, true},
		"a StatefulSet charges nothing":                                              {withStatus(amounts("pods", "4"), amounts("pods", "4")), &appsv1.StatefulSet{}, true, false},
		"the template needs more":                                                    {withStatus(amounts("cpu", "5"), amounts("cpu", "3")), template, false, true},
		"a container lacks the limit":                                                {withStatus(amounts("limits.cpu", "100"), amounts("limits.cpu", "0")), nil, false, true},
		"status without used":                                                        {withStatus(amounts("pods", "4"), nil), nil, false, true},
		"status without hard":                                                        {corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: amounts("pods", "4")}}, nil, false, true},
		"spec lowered, status behind":                                                {lowered, nil, false, true},
		"spec raised, status behind":                                                 {raised, nil, false, true},
	} {
		if why, refused := quotaRefusal(t, quotaPod(), c.owner, c.charged, c.quota); refused != c.refused {
			t.Errorf("%s: refused %t (%s), want %t", name, refused, why, c.refused)
		}
	}
}

// TestQuotasAreNotChanged: the rule computes what a quota has left, and the quota is an object that
// others read as well. A copied Quantity shares the digits of a large amount.
func TestQuotasAreNotChanged(t *testing.T) {
	for _, hard := range []string{"3Gi", "100Ti", "1Pi"} {
		q := withStatus(amounts("limits.memory", hard), amounts("limits.memory", "1.5Gi"))
		before := q.DeepCopy()
		quotaRefusal(t, quotaPod(), nil, true, q)
		if !equality.Semantic.DeepEqual(q.Spec, before.Spec) || !equality.Semantic.DeepEqual(q.Status, before.Status) {
			left := q.Status.Hard["limits.memory"]
			t.Errorf("the quota of %s changed to %s", hard, left.String())
		}
	}
}

// TestQuotaScopes checks which quotas without room apply to a pod of PriorityClass high.
func TestQuotaScopes(t *testing.T) {
	priority := func(op corev1.ScopeSelectorOperator, values ...string) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: op, Values: values}
	}
	term := corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}
	for name, c := range map[string]struct {
		scopes   []corev1.ResourceQuotaScope
		selector []corev1.ScopedResourceSelectorRequirement
		change   func(p *corev1.Pod)
		applies  bool
	}{
		"NotTerminating":                 {scopes: []corev1.ResourceQuotaScope{"NotTerminating"}, applies: true},
		"Terminating":                    {scopes: []corev1.ResourceQuotaScope{"Terminating"}},
		"Terminating, with a deadline":   {scopes: []corev1.ResourceQuotaScope{"Terminating"}, change: func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr.To[int64](9) }, applies: true},
		"NotBestEffort":                  {scopes: []corev1.ResourceQuotaScope{"NotBestEffort"}, applies: true},
		"BestEffort":                     {scopes: []corev1.ResourceQuotaScope{"BestEffort"}},
		"BestEffort, without requests":   {scopes: []corev1.ResourceQuotaScope{"BestEffort"}, change: func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} }, applies: true},
		"BestEffort by status":           {scopes: []corev1.ResourceQuotaScope{"BestEffort"}, change: func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSBestEffort }, applies: true},
		"two scopes, one of which holds": {scopes: []corev1.ResourceQuotaScope{"NotBestEffort", "Terminating"}},
		"PriorityClass":                  {scopes: []corev1.ResourceQuotaScope{"PriorityClass"}, applies: true},
		"PriorityClass, without one":     {scopes: []corev1.ResourceQuotaScope{"PriorityClass"}, change: func(p *corev1.Pod) { p.Spec.PriorityClassName = "" }},
		"In":                             {selector: []corev1.ScopedResourceSelectorRequirement{priority("In", "high", "low")}, applies: true},
		"In others":                      {selector: []corev1.ScopedResourceSelectorRequirement{priority("In", "low")}},
		"NotIn":                          {selector: []corev1.ScopedResourceSelectorRequirement{priority("NotIn", "high")}},
		"NotIn others":                   {selector: []corev1.ScopedResourceSelectorRequirement{priority("NotIn", "low")}, applies: true},
		"Exists":                         {selector: []corev1.ScopedResourceSelectorRequirement{priority("Exists")}, applies: true},
		"DoesNotExist":                   {selector: []corev1.ScopedResourceSelectorRequirement{priority("DoesNotExist")}},
		"CrossNamespacePodAffinity":      {scopes: []corev1.ResourceQuotaScope{"CrossNamespacePodAffinity"}},
		"required affinity": {scopes: []corev1.ResourceQuotaScope{"CrossNamespacePodAffinity"}, change: func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
		}, applies: true},
		"preferred anti-affinity": {scopes: []corev1.ResourceQuotaScope{"CrossNamespacePodAffinity"}, change: func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: term}}}}
		}, applies: true},
		"VolumeAttributesClass, which no pod has": {scopes: []corev1.ResourceQuotaScope{"VolumeAttributesClass"}},
	} {
		q, p := withStatus(amounts("pods", "1"), amounts("pods", "1")), quotaPod()
		q.Spec.Scopes = c.scopes
		if c.selector != nil {
			q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: c.selector}
		}
		if c.change != nil {
			c.change(p)
		}
		if why, refused := quotaRefusal(t, p, nil, false, q); refused != c.applies {
			t.Errorf("%s: refused %t (%s), want %t", name, refused, why, c.applies)
		}
	}
}

// TestAffinityWithinTheNamespaceIsNotCounted: a term without namespaces and without a
// namespaceSelector concerns only the namespace of the pod, so no quota with the scope
// CrossNamespacePodAffinity counts it.
func TestAffinityWithinTheNamespaceIsNotCounted(t *testing.T) {
	for _, c := range []struct {
		term    corev1.PodAffinityTerm
		crosses bool
	}{
		{corev1.PodAffinityTerm{TopologyKey: "host"}, false},
		{corev1.PodAffinityTerm{Namespaces: []string{"shop"}}, true},
		{corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}, true},
	} {
		terms := []corev1.PodAffinityTerm{c.term}
		weighted := []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: c.term}}
		for i, a := range []*corev1.Affinity{
			{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}},
			{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}},
			{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}},
			{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}},
		} {
			if got := hasCrossNamespaceAffinity(a); got != c.crosses {
				t.Errorf("affinity %d with term %+v: crosses %v, want %v", i, c.term, got, c.crosses)
			}
		}
	}
}

// TestQuotasFollowTheServerVersion uses an empty quota that allows 1 CPU of requests or of limits.
func TestQuotasFollowTheServerVersion(t *testing.T) {
	of := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: amounts("cpu", cpu), Limits: amounts("cpu", cpu)}
	}
	status := func(name, cpu string) corev1.ContainerStatus {
		r := of(cpu)
		return corev1.ContainerStatus{Name: name, Resources: &r, AllocatedResources: r.Requests}
	}
	// By container, 600m + 500m count. By pod, 700m count.
	resized := quotaPod()
	resized.Spec.Containers = []corev1.Container{{Name: "grows", Resources: of("600m")}, {Name: "shrinks", Resources: of("100m")}}
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{status("grows", "200m"), status("shrinks", "500m")}
	podLevel := quotaPod()
	podLevel.Spec.Containers = []corev1.Container{{Name: "c", Resources: of("200m")}}
	large := of("2")
	podLevel.Spec.Resources = &large
	podLevelStatus := quotaPod()
	podLevelStatus.Spec = *podLevel.Spec.DeepCopy()
	fits := of("1")
	podLevelStatus.Spec.Resources, podLevelStatus.Status.Resources, podLevelStatus.Status.AllocatedResources = &fits, &large, large.Requests
	for _, c := range []struct {
		name    string
		pod     *corev1.Pod
		version string
		refused string // part of the reason
	}{
		{"resized", resized, "1.36", ", 1100m needed"},
		{"resized", resized, "1.37", ""},
		{"pod-level resources", podLevel, "1.33", ", 2 needed"},
		{"pod-level resources", podLevel, "1.37", ", 2 needed"},
		{"pod-level status", podLevelStatus, "1.36", ""},
		{"pod-level status", podLevelStatus, "1.37", ""},
	} {
		for _, resource := range []string{"requests.cpu", "limits.cpu"} {
			q := withStatus(amounts(resource, "1"), amounts(resource, "0"))
			q.Namespace, q.Name = "shop", "q"
			s := must.Get(cluster.New(&cluster.Objects{ServerVersion: c.version, Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
				Pods: []*corev1.Pod{c.pod}, ResourceQuotas: []*corev1.ResourceQuota{&q}}))(t)
			why, refused := NewCache().quotaRefusal(s, s.PodByKey("shop/p"))
			if refused != (c.refused != "") || !strings.Contains(why, c.refused) {
				t.Errorf("%s, %s, %s: %q, want %q", c.name, c.version, resource, why, c.refused)
			}
		}
	}
}
