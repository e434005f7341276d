package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// claimOn returns a claim c of web-6c8f-00 on the PersistentVolume with these fields.
func claimOn(fields string) string {
	return fmt.Sprintf("- {kind: PersistentVolume, metadata: {name: pv}, spec: {%s}}\n"+
		"- {kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: pv}}\n"+
		podEntry("spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]}"), fields)
}

const nodeAffinity = "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [n1]}]}]}}"

// TestLocalStorage judges every kind of volume that is stored on one node, and volumes that are named as safe. Their
// names are those that meshes and injectors give.
func TestLocalStorage(t *testing.T) {
	const istio = "{name: workload-socket, emptyDir: {}}, {name: istio-envoy, emptyDir: {medium: Memory}}, {name: istio-data, emptyDir: {}}, " +
		"{name: istio-token, projected: {sources: []}}"
	const linkerd = "{name: linkerd-proxy-init-xtables-lock, emptyDir: {}}, {name: linkerd-identity-end-entity, emptyDir: {medium: Memory}}"
	volumes := func(list string) string { return podEntry("spec: {volumes: [" + list + "]}") }
	safe := func(names string) string {
		return podAnnotation("cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes", names)
	}
	for _, c := range []struct {
		name, objects string
		safe          []string // guards.safeLocalVolumes
		unprotected   bool     // guards.protect omits PodsWithLocalStorage
		want          string   // "" if the pod may leave
	}{
		{name: "istio", objects: volumes(istio), want: "volume workload-socket is an emptyDir on the node, and volume istio-envoy is an emptyDir on the node, " +
			"and volume istio-data is an emptyDir on the node"},
		{name: "istio, named by the pod", objects: volumes(istio) + safe("workload-socket, istio-envoy,istio-data")},
		{name: "istio, some named by the pod", objects: volumes(istio) + safe("workload-socket,istio-data"), want: "volume istio-envoy is an emptyDir on the node"},
		{name: "named with spaces only", objects: volumes("{name: x, emptyDir: {}}") + safe(" "), want: "volume x is an emptyDir on the node"},
		{name: "linkerd, by the operator", objects: volumes(linkerd), safe: []string{"linkerd-*"}},
		{name: "vault agent, by the operator", objects: volumes("{name: home-init, emptyDir: {medium: Memory}}, {name: vault-secrets, emptyDir: {medium: Memory}}"),
			safe: []string{"vault-*", "home-init"}},
		{name: "the other volumes stay protected", objects: volumes(linkerd + ", {name: cache, emptyDir: {}}"), safe: []string{"linkerd-*", "cach"},
			want: "volume cache is an emptyDir on the node"},
		{name: "hostPath, by the operator", objects: volumes("{name: shared, hostPath: {path: /nfs}}"), safe: []string{"shared"}},
		{name: "guard off", objects: volumes(istio), unprotected: true},

		{name: "claim on a hostPath", objects: claimOn("hostPath: {path: /data}"), want: "volume a is claim c, and its PersistentVolume pv is a hostPath on the node"},
		{name: "claim on a hostPath, guard off", objects: claimOn("hostPath: {path: /data}"), unprotected: true,
			want: "volume a is claim c, and its PersistentVolume pv is a hostPath on the node"},
		{name: "claim on a hostPath that every node mounts", objects: claimOn("hostPath: {path: /nfs}"), safe: []string{"a"}, unprotected: true},
		{name: "claim on a hostPath with node affinity", objects: claimOn("hostPath: {path: /data}, " + nodeAffinity),
			want: "volume a is claim c, and its PersistentVolume pv is a hostPath on the node"},
		{name: "claim on a hostPath with node affinity, guard off", objects: claimOn("hostPath: {path: /data}, " + nodeAffinity), unprotected: true},
		{name: "claim on a local volume", objects: claimOn("local: {path: /disk}, " + nodeAffinity),
			want: "volume a is claim c, and its PersistentVolume pv is a local volume on the node"},
		{name: "claim on a local volume without node affinity, guard off", objects: claimOn("local: {path: /disk}"), unprotected: true,
			want: "volume a is claim c, and its PersistentVolume pv is a local volume on the node"},
		{name: "ephemeral claim on a hostPath", objects: claimOn("hostPath: {path: /data}") +
			"- {kind: PersistentVolumeClaim, metadata: {name: web-6c8f-00-e}, spec: {volumeName: pv}}\n" +
			podEntry("spec: {volumes: [{name: a, $patch: delete}, {name: e, ephemeral: {volumeClaimTemplate: {}}}]}"), unprotected: true},
		{name: "claim on NFS", objects: claimOn("nfs: {server: s, path: /}")},
		{name: "claim on CSI", objects: claimOn("csi: {driver: d, volumeHandle: h}, " + nodeAffinity)},
		{name: "unbound claim", objects: "- {kind: PersistentVolumeClaim, metadata: {name: c}}\n" +
			podEntry("spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]}")},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, x := range reasonsFor(t, refusal{objects: c.objects, options: func(o *Options) {
				if o.SafeLocalVolumes = c.safe; c.unprotected {
					delete(o.Protect, ProtectLocalStorage)
				}
			}}) {
				if x.Code == plan.LocalStorage && !x.Allows {
					got = append(got, x.Message)
				}
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	// A Job, a DaemonSet and a StatefulSet lose a local volume as a Deployment does.
	const volume = "- {kind: PersistentVolume, metadata: {name: pv}, spec: {hostPath: {path: /d}}}\n" +
		"- {kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: pv}}\n"
	for pod, object := range map[string]string{"job-0": jobObject, "db-0": setObject, "agent-0": "- {kind: DaemonSet, metadata: {name: agent}, pods: [1 on n1]}\n"} {
		got := reasonsFor(t, refusal{pod: pod, objects: object + volume + "- {kind: Pod, metadata: {name: " + pod +
			"}, spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]}}\n"})
		if !slices.ContainsFunc(got, func(x plan.RuleResult) bool { return x.Code == plan.LocalStorage && !x.Allows }) {
			t.Errorf("%s may lose its volume", pod)
		}
	}
}
