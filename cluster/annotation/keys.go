package annotation

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prefix starts every key that Evenkeel defines.
const Prefix = "evenkeel.io/"

// Keys that Evenkeel defines. Each can be an annotation, or a label if the value is a valid
// label value.
const (
	Evict        = Prefix + "evict"          // never | prefer
	DoNotDisrupt = Prefix + "do-not-disrupt" // true | false | a duration from the pod's start
	AllowWindow  = Prefix + "window"         // when the pod may be evicted
	SpreadBy     = Prefix + "spread-by"      // topology key
	MaxSkew      = Prefix + "max-skew"       // an integer of 1 or more
	ZoneSLO      = Prefix + "zone-slo"       // 3 | 4: worst failure category allowed
	Exclude      = Prefix + "exclude"        // on a node: true | false
	DrainFirst   = Prefix + "drain-first"    // on a node: true | false
)

// Keys of the descheduler, Cluster Autoscaler and Karpenter. Evenkeel reads them on the objects
// on which those programs read them.
const (
	deschedulerPrefix             = "descheduler.alpha.kubernetes.io/"
	DeschedulerEvict              = deschedulerPrefix + "evict"
	DeschedulerPreferNoEviction   = deschedulerPrefix + "prefer-no-eviction"
	DeschedulerEvictionInProgress = deschedulerPrefix + "eviction-in-progress"
	deschedulerRequestEvictOnly   = deschedulerPrefix + "request-evict-only"
	SafeToEvict                   = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	safeLocalVolumes              = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
	KarpenterNoDisrupt            = "karpenter.sh/do-not-disrupt"
	KarpenterNoEvict              = "karpenter.sh/do-not-evict"
	scaleDownDisabled             = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
)

// keySet lists the Evenkeel keys that are valid on one kind of object.
type keySet struct {
	objects string
	keys    []string
	// reserved lists the keys of the hints that Evenkeel writes. They are valid, but messages do
	// not suggest them to users.
	reserved []string
}

var (
	podKeys  = keySet{"pods, workloads and namespaces", []string{Evict, DoNotDisrupt, AllowWindow, SpreadBy, MaxSkew, ZoneSLO}, nil}
	nodeKeys = keySet{"nodes", []string{Exclude, DrainFirst}, []string{Prefix + "pressure", Prefix + "steer", Prefix + "steer-run", Prefix + "steer-expires", Prefix + "steer-kind"}}
)

func (p keySet) contains(key string) bool {
	return slices.Contains(p.keys, key) || slices.Contains(p.reserved, key)
}

// hasKnownKey reports whether an object has a key of Evenkeel or of another program whose keys
// Evenkeel reads.
func hasKnownKey(o metav1.Object) bool {
	return anyKnownPrefix(o.GetAnnotations()) || anyKnownPrefix(o.GetLabels())
}

func anyKnownPrefix(m map[string]string) bool {
	for key := range m {
		if strings.HasSuffix(key, pausedName) {
			return true
		}
		for _, prefix := range knownPrefixes {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
	}
	return false
}

var knownPrefixes = append([]string{Prefix, deschedulerPrefix, "cluster-autoscaler.kubernetes.io/", "karpenter.sh/"}, allGroupKeys()...)

// foreignKeys lists the keys of other programs that decisions about pods depend on.
var foreignKeys = append([]string{DeschedulerEvict, DeschedulerPreferNoEviction, DeschedulerEvictionInProgress,
	deschedulerRequestEvictOnly, SafeToEvict, safeLocalVolumes,
	KarpenterNoDisrupt, KarpenterNoEvict, corev1.PodDeletionCost, jobIndexFailures}, allGroupKeys()...)

// keptNodeKeys lists the annotations with which autoscalers keep a node.
var keptNodeKeys = []string{scaleDownDisabled, KarpenterNoDisrupt}

// jobIndexFailures is the annotation in which the Job controller counts the failures of an
// index.
const jobIndexFailures = "batch.kubernetes.io/job-index-failure-count"

// Fingerprint returns the parts of a pod's metadata that decisions depend on: all labels, the
// annotations with requests, and the UID of its controller. Two pods with equal fingerprints
// have the same requests, the same PodDisruptionBudgets and the same controller.
func Fingerprint(p *corev1.Pod) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		b.WriteString(strconv.Quote(key) + strconv.Quote(p.Labels[key]))
	}
	b.WriteByte('\n')
	for _, key := range slices.Sorted(maps.Keys(p.Annotations)) {
		if strings.HasPrefix(key, Prefix) || slices.Contains(foreignKeys, key) {
			b.WriteString(strconv.Quote(key) + strconv.Quote(p.Annotations[key]))
		}
	}
	b.WriteByte('\n')
	if c := metav1.GetControllerOf(p); c != nil {
		b.WriteString(string(c.UID))
	}
	return b.String()
}
