package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// refusalBase is a cluster in which every guard allows the eviction of web-6c8f-00.
const refusalBase = `
objects:
- {kind: Namespace, metadata: {name: shop}}
- {kind: Node, metadata: {name: n1}}
- {kind: Deployment, metadata: {name: web}, pods: [3 on n1]}
`

// refusal changes the base so that one guard refuses.
type refusal struct {
	code    plan.Code
	name    string
	pod     string // default: web-6c8f-00
	objects string // entries after those of the base
	options func(o *Options)
	edit    func(s *cluster.Snapshot, p *cluster.Pod)
}

// podEntry returns an entry that changes web-6c8f-00.
func podEntry(fields string) string {
	return "- {kind: Pod, metadata: {name: web-6c8f-00}, " + fields + "}\n"
}

func podAnnotation(key, value string) string {
	return fmt.Sprintf("- {kind: Pod, metadata: {name: web-6c8f-00, annotations: {%s: %q}}}\n", key, value)
}

func protect(p Protection) func(*Options) { return func(o *Options) { o.Protect[p] = true } }

func unprotect(p Protection) func(*Options) { return func(o *Options) { delete(o.Protect, p) } }

func selector(text string) labels.Selector {
	s, err := labels.Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

const jobObject = "- {kind: Job, metadata: {name: job}, spec: {parallelism: 3, completions: 3}, pods: [3 on n1]}\n"

func jobEntry(fields string) string {
	return jobObject + "- {kind: Job, metadata: {name: job}, " + fields + "}\n"
}

const setObject = "- {kind: StatefulSet, metadata: {name: db}, pods: [3 on n1]}\n"

func setEntry(fields string) string {
	return setObject + "- {kind: StatefulSet, metadata: {name: db}, " + fields + "}\n"
}

// guardCases has a row for every way in which a guard refuses.
var guardCases = slices.Concat(podRefusals, annotationRefusals, configRefusals, priorityRefusals, volumeRefusals, nodeRefusals,
	workloadRefusals, jobRefusals, replacementRefusals, timeRefusals)

var podRefusals = []refusal{
	{code: plan.MirrorPod, objects: podAnnotation("kubernetes.io/config.mirror", "x")},
	{code: plan.StaticPod, objects: podAnnotation("kubernetes.io/config.source", "file")},
	{code: plan.StaticPod, name: "owned by a node", pod: "static", objects: "- {kind: Pod, metadata: {name: static, ownerReferences: " +
		"[{apiVersion: v1, kind: Node, name: n1, controller: true}]}, spec: {nodeName: n1}}\n"},
	{code: plan.PodTerminal, objects: podEntry("status: {phase: Succeeded}")},
	{code: plan.PodTerminating, objects: "- {kind: Pod, metadata: {name: web-6c8f-00, deletionTimestamp: \"2026-01-02T00:00:00Z\", " +
		"deletionGracePeriodSeconds: 30}}\n"},
	{code: plan.PodNotBound, objects: podEntry("spec: {nodeName: null}")},
	{code: plan.OwnPod, objects: "- {kind: Pod, metadata: {name: web-6c8f-00, labels: {app.kubernetes.io/name: evenkeel}}}\n"},
	{code: plan.DaemonSetPod, pod: "agent-0", objects: "- {kind: DaemonSet, metadata: {name: agent}, pods: [1 on n1]}\n"},
	{code: plan.BarePod, pod: "bare", objects: "- {kind: Pod, metadata: {name: bare}, spec: {nodeName: n1}}\n"},
	{code: plan.PodTooYoung, objects: podEntry("status: {startTime: \"2026-01-01T23:57:00Z\"}")},
	{code: plan.PodTooYoung, name: "one second too young", objects: podEntry("status: {startTime: \"2026-01-01T23:55:01Z\"}")},
	{code: plan.PodTooYoung, name: "no start time", objects: podEntry("status: {startTime: null}")},
	{code: plan.PodTooYoung, name: "zero start time", objects: podEntry("status: {startTime: \"0001-01-01T00:00:00Z\"}")},
	{code: plan.PodTooYoung, name: "future", objects: podEntry("status: {startTime: \"2026-01-02T00:00:01Z\"}")},
	{code: plan.PodTooYoung, name: "created later than started",
		objects: "- {kind: Pod, metadata: {name: web-6c8f-00, creationTimestamp: \"2026-01-01T23:58:00Z\"}}\n"},
	{code: plan.GracePeriodTooLong, objects: podEntry("spec: {terminationGracePeriodSeconds: 86400}")},
	{code: plan.GracePeriodTooLong, name: "no duration", objects: podEntry("spec: {terminationGracePeriodSeconds: 10000000000}")},
	{code: plan.GracePeriodTooLong, name: "set by the evictor", options: func(o *Options) { o.GracePeriodSeconds = new(int64(601)) }},
	{code: plan.ResourceClaims, objects: podEntry("spec: {resourceClaims: [{name: gpu, resourceClaimName: gpu}]}"),
		options: protect(ProtectResourceClaims)},
	{code: plan.NoPodDisruptionBudget, options: protect(ProtectWithoutPDB)},
	{code: plan.PodNotSelected, options: func(o *Options) { o.PodSelector = selector("tier=web") }},
	{code: plan.PartOfGroup, objects: podAnnotation("scheduling.k8s.io/group-name", "g")},
	{code: plan.PartOfGroup, name: "native", objects: podEntry("spec: {schedulingGroup: {podGroupName: g}}")},
}

var annotationRefusals = []refusal{
	{code: plan.EvictNever, objects: podAnnotation("evenkeel.io/evict", "never")},
	{code: plan.DoNotDisrupt, objects: podAnnotation("evenkeel.io/do-not-disrupt", "true")},
	{code: plan.DoNotDisrupt, name: "until", objects: podAnnotation("evenkeel.io/do-not-disrupt", "25h")},
	{code: plan.DoNotDisrupt, name: "no start time",
		objects: podAnnotation("evenkeel.io/do-not-disrupt", "4h") + podEntry("status: {startTime: null}")},
	{code: plan.DoNotDisrupt, name: "zero start time",
		objects: podAnnotation("evenkeel.io/do-not-disrupt", "4h") + podEntry("status: {startTime: \"0001-01-01T00:00:00Z\"}")},
	{code: plan.RequestUnreadable, objects: podAnnotation("evenkeel.io/evict", "nevre")},
	{code: plan.RequestUnreadable, name: "on the node", objects: "- {kind: Node, metadata: {name: n1, annotations: {evenkeel.io/exlude: x}}}\n"},
	{code: plan.RequestUnreadable, name: "no namespace", objects: "- {kind: Namespace, metadata: {name: shop}, $patch: delete}\n"},
	{code: plan.PreferNoEviction, objects: podAnnotation("descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"),
		options: func(o *Options) { o.NoEvictionPolicy = Mandatory }},
	{code: plan.EvictionInProgress, objects: podAnnotation("descheduler.alpha.kubernetes.io/eviction-in-progress", "true")},
}

var configRefusals = []refusal{
	{code: plan.UnknownController, pod: "w", objects: widgetPod},
	{code: plan.UnknownController, name: "managedBy", pod: "job-0", objects: jobEntry("spec: {managedBy: kueue.x-k8s.io/multikueue}"),
		options: unprotect(ProtectJobs)},
	{code: plan.OwnerNotFound, pod: "lost", objects: "- {kind: Pod, metadata: {name: lost, ownerReferences: [{kind: ReplicaSet, name: gone}]}, " +
		"spec: {nodeName: n1}}\n"},
	{code: plan.OwnerNotFound, name: "of a Job", pod: "job-0",
		objects: jobEntry("spec: {}") + "- {kind: Job, metadata: {name: job, ownerReferences: [{kind: CronJob, name: gone}]}}\n"},
	{code: plan.OwnerNotFound, name: "no workload", edit: func(s *cluster.Snapshot, p *cluster.Pod) {
		p.MissingOwner, p.Workload = &metav1.OwnerReference{Kind: "ReplicaSet", Name: "gone"}, cluster.NoWorkload
	}},
	{code: plan.NamespaceExcluded, options: func(o *Options) { o.Scope.Exclude = []string{"shop"} }},
	{code: plan.NamespaceExcluded, name: "not included", options: func(o *Options) { o.Scope.Include = []string{"bank"} }},
	{code: plan.NamespaceExcluded, name: "not selected", options: func(o *Options) { o.Scope.Namespaces = selector("a=b") }},
	{code: plan.NamespaceExcluded, name: "unknown", objects: "- {kind: Namespace, metadata: {name: shop}, $patch: delete}\n",
		options: func(o *Options) { o.Scope.Namespaces = selector("a=b") }},
	{code: plan.BlockedByPod, options: func(o *Options) { o.BlockingPods = []BlockingPods{{Selector: selector("app=web"), Namespace: "shop"}} }},
}

const widgetPod = "- {kind: Pod, metadata: {name: w, ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: w, controller: true}]}, " +
	"spec: {nodeName: n1}}\n"

var priorityRefusals = []refusal{
	{code: plan.SystemCritical, objects: podEntry("spec: {priority: 2000000000}")},
	{code: plan.SystemCritical, name: "by its class", objects: podEntry("spec: {priorityClassName: system-node-critical}")},
	{code: plan.PriorityTooHigh, objects: podEntry("spec: {priority: 100}"),
		options: func(o *Options) { o.PriorityBelowName, o.PriorityBelow = "", 100 }},
	{code: plan.PriorityTooHigh, name: "unknown limit", options: func(o *Options) { o.PriorityBelowName = "important" }},
	{code: plan.PriorityTooHigh, name: "unknown class", objects: podEntry("spec: {priorityClassName: important}")},
}

var volumeRefusals = []refusal{
	{code: plan.LocalStorage, objects: podEntry("spec: {volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {path: /}}, {name: c, emptyDir: {}}, " +
		"{name: d, emptyDir: {}}]}")},
	{code: plan.PersistentVolume, objects: podEntry("spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]}"),
		options: protect(ProtectPVC)},
	{code: plan.ProtectedStorageClass, objects: podEntry("spec: {volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: slow}}}}]}"),
		options: func(o *Options) { o.ProtectedStorageClasses = []string{"slow"} }},
	{code: plan.ProtectedStorageClass, name: "unknown", objects: podEntry("spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]}"),
		options: func(o *Options) { o.ProtectedStorageClasses = []string{"slow"} }},
}

func nodeEntry(fields string) string { return "- {kind: Node, metadata: {name: n1}, " + fields + "}\n" }

var nodeRefusals = []refusal{
	{code: plan.VirtualNode, objects: "- {kind: Node, metadata: {name: n1, labels: {eks.amazonaws.com/compute-type: fargate}}}\n"},
	{code: plan.VirtualNode, name: "by taint", objects: nodeEntry("spec: {taints: [{key: virtual-kubelet.io/provider, value: azure, effect: NoSchedule}]}")},
	{code: plan.VirtualNode, name: "configured", objects: "- {kind: Node, metadata: {name: n1, labels: {a: b}}}\n",
		options: func(o *Options) { o.Scope.Virtual.Selector = selector("a=b") }},
	{code: plan.NodeOutOfScope, options: func(o *Options) { o.Scope.Nodes = selector("a=b") }},
	{code: plan.NodeExcluded, objects: "- {kind: Node, metadata: {name: n1, annotations: {evenkeel.io/exclude: \"true\"}}}\n"},
	{code: plan.NodeNotReady, objects: nodeEntry("status: {conditions: [{type: Ready, status: Unknown}]}")},
	{code: plan.NodeBeingDisrupted, name: "deleted", objects: "- {kind: Node, metadata: {name: n1, deletionTimestamp: \"2026-01-02T00:00:00Z\"}}\n"},
	{code: plan.NodeBeingDisrupted, objects: nodeEntry("spec: {taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}")},
	{code: plan.NodeBeingDrained, objects: nodeEntry("spec: {taints: [{key: cloud.google.com/impending-node-termination, effect: NoSchedule}]}")},
	{code: plan.NodeBeingDrained, name: "kured", objects: "- {kind: Node, metadata: {name: n1, annotations: {weave.works/kured-reboot-in-progress: x}}}\n"},
	{code: plan.NodeBeingDrained, name: "OpenShift",
		objects: "- {kind: Node, metadata: {name: n1, annotations: {machineconfiguration.openshift.io/desiredDrain: drain-a}}}\n"},
	{code: plan.NodeBeingDrained, name: "evicted by another client", objects: nodeEntry("spec: {unschedulable: true}") +
		"- {kind: Pod, metadata: {name: gone, deletionTimestamp: \"2026-01-02T00:00:00Z\"}, spec: {nodeName: n1}, status: {conditions: " +
		"[{type: DisruptionTarget, status: \"True\", reason: EvictionByEvictionAPI}]}}\n"},
}

func deploymentEntry(fields string) string {
	return "- {kind: Deployment, metadata: {name: web}, " + fields + "}\n"
}

var workloadRefusals = []refusal{
	{code: plan.TooFewReplicas, options: func(o *Options) { o.MinReplicas = 4 }},
	{code: plan.TooFewReplicas, name: "unknown", edit: func(s *cluster.Snapshot, p *cluster.Pod) { s.Workloads[p.Workload].Replicas = -1 }},
	{code: plan.TooFewReplicas, name: "listed kind", pod: "w", objects: widgetPod,
		options: func(o *Options) { o.Controllers = []string{"example.com/Widget"} }},
	{code: plan.NoReplacement, objects: "- {kind: Namespace, metadata: {name: shop, deletionTimestamp: \"2026-01-02T00:00:00Z\"}}\n"},
	{code: plan.NoReplacement, name: "owner", objects: "- {kind: Deployment, metadata: {name: web, deletionTimestamp: \"2026-01-02T00:00:00Z\"}}\n"},
	{code: plan.ScalingDown, objects: deploymentEntry("spec: {replicas: 2}")},
	{code: plan.WorkloadPaused, objects: deploymentEntry("spec: {paused: true}")},
	{code: plan.WorkloadPaused, name: "by annotation", objects: "- {kind: Deployment, metadata: {name: web, annotations: {cluster.x-k8s.io/paused: \"\"}}}\n"},
	{code: plan.RolloutInProgress, objects: "- {kind: Deployment, metadata: {name: web, generation: 2}}\n"},
	{code: plan.RolloutInProgress, name: "old pods", objects: deploymentEntry("status: {replicas: 3, updatedReplicas: 1}")},
	{code: plan.RolloutInProgress, name: "two ReplicaSets",
		objects: "- {kind: ReplicaSet, metadata: {name: web-2, ownerReferences: [{kind: Deployment, name: web}]}, pods: [1 on n1]}\n"},
	{code: plan.RolloutInProgress, name: "StatefulSet not observed", pod: "db-0",
		objects: setObject + "- {kind: StatefulSet, metadata: {name: db, generation: 2}}\n"},
	{code: plan.RolloutInProgress, name: "StatefulSet", pod: "db-0",
		objects: setEntry("status: {currentRevision: db-1, updateRevision: db-2, updatedReplicas: 1}")},
	{code: plan.RevisionWouldChange, name: "unknown revision", pod: "db-0",
		objects: setEntry("spec: {updateStrategy: {type: OnDelete}}, status: {currentRevision: db-1, updateRevision: db-2}")},
	{code: plan.RevisionWouldChange, pod: "db-0", objects: setEntry("spec: {updateStrategy: {rollingUpdate: {partition: 6}}, "+
		"ordinals: {start: 5}}, status: {currentRevision: db-1, updateRevision: db-2}") +
		"- {kind: Pod, metadata: {name: db-0, labels: {controller-revision-hash: db-2}}}\n"},
	{code: plan.WorkloadDegraded, objects: "- {kind: Pod, metadata: {name: web-6c8f-01}, status: {conditions: [{type: Ready, status: \"False\"}]}}\n"},
	{code: plan.WorkloadDegraded, name: "minReadySeconds", pod: "db-0", objects: setEntry("spec: {minReadySeconds: 60}")},
	{code: plan.LastReadyPod, objects: "- {kind: Service, metadata: {name: svc}, spec: {selector: {only: me}}}\n" +
		"- {kind: Pod, metadata: {name: web-6c8f-00, labels: {only: me}}}\n"},
	{code: plan.RequiredByAffinity, options: protect(ProtectRequired), objects: "- {kind: Node, metadata: {name: n1, labels: {host: n1}}}\n" +
		"- {kind: Pod, metadata: {name: web-6c8f-00, labels: {only: me}}}\n" +
		"- {kind: Pod, metadata: {name: needs}, spec: {nodeName: n1, affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " +
		"[{topologyKey: host, labelSelector: {matchLabels: {only: me}}}]}}}}\n"},
}

var jobRefusals = []refusal{
	{code: plan.JobPod, pod: "job-0", objects: jobObject},
	{code: plan.NoReplacement, name: "suspended", pod: "job-0", objects: jobEntry("spec: {suspend: true}")},
	{code: plan.NoReplacement, name: "ended", pod: "job-0", objects: jobEntry("status: {conditions: [{type: FailureTarget, status: \"True\"}]}")},
	{code: plan.NoReplacement, name: "a pod succeeded", pod: "job-0", objects: jobEntry("spec: {completions: null}, status: {succeeded: 1}")},
	{code: plan.NoReplacement, name: "a pod succeeded, not counted", pod: "job-0", objects: jobEntry("spec: {completions: null}") +
		"- {kind: Pod, metadata: {name: job-1}, status: {phase: Succeeded}}\n"},
	{code: plan.JobWouldFail, pod: "job-0", objects: jobEntry("spec: {backoffLimit: 0}")},
	{code: plan.JobWouldFail, name: "index", pod: "job-0", objects: jobEntry("spec: {backoffLimitPerIndex: 0}")},
	{code: plan.JobWouldFail, name: "policy", pod: "job-0",
		objects: jobEntry("spec: {podFailurePolicy: {rules: [{action: FailJob, onPodConditions: [{type: DisruptionTarget, status: \"True\"}]}]}}")},
	{code: plan.JobWouldFail, name: "earlier rule may match", pod: "job-0", objects: jobEntry("spec: {podFailurePolicy: {rules: [" +
		"{action: FailIndex, onExitCodes: {operator: In, values: [1]}}, " +
		"{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: \"True\"}]}]}}")},
}

const failedCreate = "status: {conditions: [{type: ReplicaFailure, status: \"True\", reason: FailedCreate}]}"

// eventEntry returns an entry that says that a StatefulSet could not create a pod at this time.
func eventEntry(set, at string) string {
	return fmt.Sprintf("- {kind: Event, metadata: {name: %s.1}, reason: FailedCreate, lastTimestamp: %q, "+
		"involvedObject: {kind: StatefulSet, namespace: shop, name: %s, uid: StatefulSet/shop/%s}}\n", set, at, set, set)
}

// quota returns a ResourceQuota with these fields of hard and used.
func quota(hard, used string) string {
	return fmt.Sprintf("- {kind: ResourceQuota, metadata: {name: q}, spec: {hard: {%s}}, status: {hard: {%s}, used: {%s}}}\n", hard, hard, used)
}

var replacementRefusals = []refusal{
	{code: plan.ReplacementRefused, objects: deploymentEntry(failedCreate)},
	{code: plan.ReplacementRefused, name: "ReplicaSet", objects: "- {kind: ReplicaSet, metadata: {name: web-6c8f}, " + failedCreate + "}\n"},
	{code: plan.ReplacementRefused, name: "ReplicationController", pod: "rc-0", objects: "- {kind: ReplicationController, metadata: {name: rc}, " +
		"spec: {replicas: 1}, " + failedCreate + "}\n- {kind: Pod, metadata: {name: rc-0, ownerReferences: " +
		"[{kind: ReplicationController, name: rc}]}, spec: {nodeName: n1}}\n"},
	{code: plan.ReplacementRefused, name: "quota", objects: quota("pods: 3", "pods: 3")},
	{code: plan.ReplacementRefused, name: "quota of a StatefulSet", pod: "db-0", objects: setObject + quota("pods: 5", "pods: 6")},
	{code: plan.ReplacementRefused, name: "quota without status", objects: quota("pods: 3", "")},
	{code: plan.ReplacementRefused, name: "quota that requires requests", objects: quota("requests.cpu: 3", "requests.cpu: 1")},
	{code: plan.ReplacementRefused, name: "admission", objects: "- {kind: ReplicaSet, metadata: {name: web-6c8f}, " +
		"spec: {template: {spec: {serviceAccountName: builder}}}}\n"},
	{code: plan.ReplacementRefused, name: "event", pod: "db-0", objects: setObject + eventEntry("db", "2026-01-01T23:50:00Z")},
	{code: plan.ReplacementMissing, objects: deploymentEntry("spec: {replicas: 4}")},
	{code: plan.ForeignFinalizer, pod: "db-0", objects: setObject +
		"- {kind: Pod, metadata: {name: db-0, finalizers: [example.com/backup]}}\n"},
}

var timeRefusals = []refusal{
	{code: plan.SchedulerNotResponding, objects: "- {kind: Pod, metadata: {name: waiting}, status: {phase: Pending, startTime: null, conditions: null}}\n"},
	{code: plan.OutsideWindow, objects: podAnnotation("evenkeel.io/window", "0 22 * * * 1h")},
	{code: plan.OutsideWindow, name: "of the configuration", options: func(o *Options) {
		w, err := cron.ParseWindow("0 22 * * * 1h", o.TimeZone)
		if err != nil {
			panic(err)
		}
		o.Windows.Allow = []cron.Window{w}
	}},
}

// reasonsFor returns the reasons of all guards for the pod of the row.
func reasonsFor(t *testing.T, r refusal) []plan.RuleResult {
	t.Helper()
	sc := &scenario.Scenario{Cluster: []byte(refusalBase + r.objects)}
	s := must.Get(cluster.New(sc.Objects(t)))(t)
	name := r.pod
	if name == "" {
		name = "web-6c8f-00"
	}
	p, opts := s.PodByKey("shop/"+name), DefaultOptions()
	if p == nil {
		t.Fatalf("the cluster has no pod %s", name)
	}
	if r.edit != nil {
		r.edit(s, p)
	}
	if r.options != nil {
		r.options(&opts)
	}
	return CheckAll(Input{Snapshot: s, Pod: p, Now: s.TakenAt, Options: &opts, Cache: NewCache()})
}

// TestEveryGuardRefuses checks that each row gets its code, with the message in testdata/reasons.txt, and that every
// guard has a row, also if several guards have one code. The base gets no code.
func TestEveryGuardRefuses(t *testing.T) {
	for _, x := range reasonsFor(t, refusal{}) {
		if !x.Allows {
			t.Errorf("the base: %v", x)
		}
	}
	var b strings.Builder
	refused := make([]bool, len(Rules))
	for _, r := range guardCases {
		t.Run(strings.TrimSpace(string(r.code)+" "+r.name), func(t *testing.T) {
			got := reasonsFor(t, r)
			i := slices.IndexFunc(got, func(x plan.RuleResult) bool { return x.Code == r.code && !x.Allows })
			if i < 0 {
				t.Fatalf("got %v, want %s", got, r.code)
			}
			refused[i] = true
			fmt.Fprintf(&b, "%s: %s\n", got[i].Code, got[i].Message)
		})
	}
	golden.Equal(t, "testdata/reasons.txt", []byte(b.String()))
	for i, r := range Rules {
		if !refused[i] {
			t.Errorf("no row makes rule %d refuse (%s)", i, r.Code)
		}
	}
}

// TestRulesOfOneCodeHaveOwnResults has a ReplicaFailure and no ResourceQuota; both rules refuse
// with ReplacementRefused.
func TestRulesOfOneCodeHaveOwnResults(t *testing.T) {
	n := 0
	for _, x := range reasonsFor(t, refusal{objects: deploymentEntry(failedCreate)}) {
		if x.Code == plan.ReplacementRefused && !x.Allows {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d rules refuse with ReplacementRefused, want 1", n)
	}
}
