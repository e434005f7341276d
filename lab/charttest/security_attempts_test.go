package charttest

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
)

// nodeAttempts are changes to node n2, which has the label, annotation and taint example.org/theirs.
func nodeAttempts() (list []attempt) {
	theirs := object{"key": "example.org/theirs", "effect": "PreferNoSchedule"}
	taints := func(more ...object) object {
		return object{"spec": object{"taints": append([]object{theirs}, more...)}}
	}
	labels := func(key string, value any) object { return object{"metadata": object{"labels": object{key: value}}} }
	annotations := func(key string, value any) object {
		return object{"metadata": object{"annotations": object{key: value}}}
	}
	owner := object{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "1"}
	for what, patch := range map[string]object{
		"taint NoExecute":                        taints(object{"key": "evenkeel.io/steer", "effect": "NoExecute"}),
		"taint NoSchedule":                       taints(object{"key": "evenkeel.io/pressure", "effect": "NoSchedule"}),
		"taint with another key":                 taints(object{"key": "example.org/mine", "effect": "PreferNoSchedule"}),
		"own taint with a value":                 taints(object{"key": "evenkeel.io/steer", "value": "x", "effect": "PreferNoSchedule"}),
		"remove the taint of another owner":      {"spec": object{"taints": nil}},
		"cordon":                                 {"spec": object{"unschedulable": true}},
		"set the provider ID":                    {"spec": object{"providerID": "aws:///x"}},
		"set the range of pod addresses":         {"spec": object{"podCIDR": "10.9.0.0/24", "podCIDRs": []string{"10.9.0.0/24"}}},
		"other label":                            labels("example.org/mine", "x"),
		"node-restriction label":                 labels("node-restriction.kubernetes.io/secure", "true"),
		"own label with another value":           labels("example.org/hot", "x"),
		"change the label of another owner":      labels("example.org/theirs", "y"),
		"remove the label of another owner":      labels("example.org/theirs", nil),
		"remove the zone":                        labels(corev1.LabelTopologyZone, nil),
		"other annotation":                       annotations("example.org/mine", "x"),
		"exclude the node from balancing":        annotations("evenkeel.io/exclude", "true"),
		"remove the annotation of another owner": annotations("example.org/theirs", nil),
		"add a finalizer":                        {"metadata": object{"finalizers": []string{"example.org/stay"}}},
		"add an owner":                           {"metadata": object{"ownerReferences": []object{owner}}},
	} {
		list = append(list, attempt{what, http.MethodPatch, "/api/v1/nodes/n2", patch, byPolicy})
	}
	for what, patch := range map[string]object{
		"steering taint":      taints(object{"key": "evenkeel.io/steer", "effect": "PreferNoSchedule"}),
		"pressure taint":      taints(object{"key": "evenkeel.io/pressure", "effect": "PreferNoSchedule"}),
		"steering label":      labels("evenkeel.io/steer", "avoid"),
		"pressure label":      labels("example.org/hot", "yes"),
		"pressure annotation": annotations("evenkeel.io/pressure", "{}"),
		"steering annotation": annotations("evenkeel.io/steer-run", "1"),
		"no change":           {"metadata": object{}},
	} {
		list = append(list, attempt{what, http.MethodPatch, "/api/v1/nodes/n2", patch, ""})
	}
	return append(list,
		attempt{"change the status of a node", http.MethodPatch, "/api/v1/nodes/n2/status", object{}, byRBAC},
		attempt{"replace a node", http.MethodPut, "/api/v1/nodes/n2", object{}, byRBAC},
		attempt{"delete a node", http.MethodDelete, "/api/v1/nodes/n2", object{}, byRBAC},
		attempt{"reach a kubelet", http.MethodGet, "/api/v1/nodes/n2/proxy/pods", nil, byRBAC})
}

func evictionAttempts(pod string) (list []attempt) {
	eviction := func(name string, options object) object {
		return object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": object{"name": name}, "deleteOptions": options}
	}
	for what, options := range map[string]object{
		"evict without a grace period": {"gracePeriodSeconds": 0},
		"evict with a grace period":    {"gracePeriodSeconds": 1},
		"evict and orphan":             {"propagationPolicy": "Orphan"},
		"evict and orphan the old way": {"orphanDependents": true},
	} {
		list = append(list, attempt{what, http.MethodPost, "/api/v1/namespaces/shop/pods/" + pod + "/eviction", eviction(pod, options), byPolicy})
	}
	return append(list,
		attempt{"evict", http.MethodPost, "/api/v1/namespaces/shop/pods/" + pod + "/eviction",
			eviction(pod, object{"preconditions": object{}}), ""},
		attempt{"evict in an excluded namespace", http.MethodPost, "/api/v1/namespaces/kube-system/pods/dns/eviction",
			eviction("dns", nil), byPolicy},
		attempt{"delete a pod", http.MethodDelete, "/api/v1/namespaces/shop/pods/" + pod, nil, byRBAC},
		attempt{"patch a pod", http.MethodPatch, "/api/v1/namespaces/shop/pods/" + pod, object{}, byRBAC},
		attempt{"exec", http.MethodPost, "/api/v1/namespaces/shop/pods/" + pod + "/exec?command=sh", nil, byRBAC},
		attempt{"read the output of a pod", http.MethodGet, "/api/v1/namespaces/shop/pods/" + pod + "/log", nil, byRBAC},
		attempt{"attach", http.MethodPost, "/api/v1/namespaces/shop/pods/" + pod + "/attach", nil, byRBAC},
		attempt{"forward ports", http.MethodPost, "/api/v1/namespaces/shop/pods/" + pod + "/portforward", nil, byRBAC},
		attempt{"reach a pod", http.MethodGet, "/api/v1/namespaces/shop/pods/" + pod + "/proxy/", nil, byRBAC},
		attempt{"add a container to a pod", http.MethodPatch, "/api/v1/namespaces/shop/pods/" + pod + "/ephemeralcontainers",
			object{}, byRBAC},
		attempt{"change the status of a pod", http.MethodPatch, "/api/v1/namespaces/shop/pods/" + pod + "/status", object{}, byRBAC},
		attempt{"bind a pod", http.MethodPost, "/api/v1/namespaces/shop/pods/" + pod + "/binding", object{}, byRBAC},
		attempt{"create a pod", http.MethodPost, "/api/v1/namespaces/shop/pods", object{}, byRBAC})
}

func (r release) objectAttempts() []attempt {
	named := func(name string) object { return object{"metadata": object{"name": name}} }
	own := "/api/v1/namespaces/" + r.namespace
	leases := "/apis/coordination.k8s.io/v1/namespaces/"
	rbac := "/apis/rbac.authorization.k8s.io/v1"
	event := func(controller string) object {
		return object{"metadata": object{"name": "e." + controller}, "reportingController": controller, "reportingInstance": "x",
			"eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "reason": "FailedCreate", "action": "Create",
			"regarding": object{"kind": "Pod", "namespace": "shop", "name": "x"}}
	}
	events := "/apis/events.k8s.io/v1/namespaces/shop/events"
	objects := "/apis/evenkeel.io/v1alpha1/namespaces/" + r.namespace
	return []attempt{
		{"decide about a plan", http.MethodPatch, objects + "/rebalanceplans/x", object{"decision": object{"by": "ann"}}, byRBAC},
		{"change the spec of the Rebalancer", http.MethodPatch, objects + "/rebalancers/x", object{"spec": object{"pause": nil}}, byRBAC},
		{"delete the Rebalancer", http.MethodDelete, objects + "/rebalancers/x", nil, byRBAC},
		{"ask for a run", http.MethodPost, objects + "/rebalanceruns", object{}, byRBAC},
		{"create a state ConfigMap", http.MethodPost, own + "/configmaps", named("evenkeel-state-00"), ""},
		{"create another ConfigMap", http.MethodPost, own + "/configmaps", named("other"), byPolicy},
		{"create a ConfigMap with a generated name", http.MethodPost, own + "/configmaps",
			object{"metadata": object{"generateName": "evenkeel-state-"}}, byPolicy},
		{"pause evictions", http.MethodPost, own + "/configmaps", named("evenkeel-pause"), byPolicy},
		{"change the configuration", http.MethodPatch, own + "/configmaps/" + r.fullname(), object{}, byRBAC},
		{"read another ConfigMap", http.MethodGet, "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt", nil, byRBAC},
		{"create the Lease", http.MethodPost, leases + r.namespace + "/leases", named("evenkeel"), ""},
		{"create another Lease", http.MethodPost, leases + r.namespace + "/leases", named("other"), byPolicy},
		{"take another Lease", http.MethodPatch, leases + "kube-system/leases/kube-scheduler", object{}, byRBAC},
		{"write an event", http.MethodPost, events, event("evenkeel"), ""},
		{"forge an event of another controller", http.MethodPost, events, event("replicaset-controller"), byPolicy},
		{"forge an event of the old API", http.MethodPost, "/api/v1/namespaces/shop/events", object{}, byRBAC},
		{"change an event of another controller", http.MethodPatch, events + "/theirs",
			object{"series": object{"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}, byPolicy},
		{"read Secrets", http.MethodGet, "/api/v1/secrets", nil, byRBAC},
		{"read a Secret of its namespace", http.MethodGet, own + "/secrets/sh.helm.release.v1.keel.v1", nil, byRBAC},
		{"get a token of another account", http.MethodPost, "/api/v1/namespaces/kube-system/serviceaccounts/default/token",
			object{}, byRBAC},
		{"extend its ClusterRole", http.MethodPatch, rbac + "/clusterroles/" + r.namespace + "-" + r.fullname(), object{}, byRBAC},
		{"bind itself to cluster-admin", http.MethodPost, rbac + "/clusterrolebindings", object{}, byRBAC},
		{"remove its policy", http.MethodDelete, "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/" +
			r.namespace + "-" + r.fullname() + "-nodes", nil, byRBAC},
		{"scale a workload", http.MethodPatch, "/apis/apps/v1/namespaces/shop/deployments/d/scale", object{}, byRBAC},
		{"grant itself a role in its namespace", http.MethodPost, rbac + "/namespaces/" + r.namespace + "/rolebindings",
			object{"metadata": object{"name": "x"}, "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
				"name": "admin"}}, byRBAC},
		{"create a ClusterRole", http.MethodPost, rbac + "/clusterroles", named("x"), byRBAC},
		{"create an account", http.MethodPost, own + "/serviceaccounts", named("x"), byRBAC},
		{"approve a certificate", http.MethodPut, "/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval", object{}, byRBAC},
		{"intercept requests", http.MethodPost, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
			named("x"), byRBAC},
		{"change its own priority", http.MethodPatch, "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt", object{}, byRBAC},
		{"change a budget", http.MethodPost, "/apis/policy/v1/namespaces/shop/poddisruptionbudgets", object{}, byRBAC},
	}
}
