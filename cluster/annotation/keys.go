package annotation

import (
	"slices"
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

// Keys of the descheduler, Cluster Autoscaler and Karpenter. They count on the objects on which
// those programs read them.
const (
	deschedulerPrefix             = "descheduler.alpha.kubernetes.io/"
	DeschedulerEvict              = deschedulerPrefix + "evict"
	DeschedulerPreferNoEviction   = deschedulerPrefix + "prefer-no-eviction"
	DeschedulerEvictionInProgress = deschedulerPrefix + "eviction-in-progress"
	SafeToEvict                   = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	KarpenterNoDisrupt            = "karpenter.sh/do-not-disrupt"
	KarpenterNoEvict              = "karpenter.sh/do-not-evict"
)

// keySet lists the Evenkeel keys that are valid on one kind of object.
type keySet struct {
	objects string
	keys    []string
	// reserved are the keys of the hints that Evenkeel writes. They are valid, but they are not
	// requests and are not suggested to people.
	reserved []string
}

var (
	podKeys  = keySet{"pods, workloads and namespaces", []string{Evict, DoNotDisrupt, AllowWindow, SpreadBy, MaxSkew, ZoneSLO}, nil}
	nodeKeys = keySet{"nodes", []string{Exclude, DrainFirst}, []string{Prefix + "pressure", Prefix + "steer"}}
)

func (p keySet) contains(key string) bool {
	return slices.Contains(p.keys, key) || slices.Contains(p.reserved, key)
}

// hasKnownKey reports whether an object has a key with the prefix of Evenkeel or of a program
// whose keys are honoured.
func hasKnownKey(o metav1.Object) bool {
	return anyKnownPrefix(o.GetAnnotations()) || anyKnownPrefix(o.GetLabels())
}

func anyKnownPrefix(m map[string]string) bool {
	for key := range m {
		if key == "" {
			continue
		}
		prefix := ""
		switch key[0] { // each prefix starts with a different letter
		case Prefix[0]:
			prefix = Prefix
		case deschedulerPrefix[0]:
			prefix = deschedulerPrefix
		case 'c':
			prefix = "cluster-autoscaler.kubernetes.io/"
		case 'k':
			prefix = "karpenter.sh/"
		default:
			continue
		}
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// foreignKeys are the keys of other programs that are read on pods.
var foreignKeys = []string{DeschedulerEvict, DeschedulerPreferNoEviction, DeschedulerEvictionInProgress, SafeToEvict,
	KarpenterNoDisrupt, KarpenterNoEvict,
	corev1.PodDeletionCost, jobIndexFailures}

// jobIndexFailures is the annotation in which the Job controller counts the failures of an
// index.
const jobIndexFailures = "batch.kubernetes.io/job-index-failure-count"
