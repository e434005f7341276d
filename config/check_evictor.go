package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
)

func checkGuards(c *Config, d *strict.Decoder) {
	g := c.Guards
	checkFraction(d, "guards.minConfidence", g.MinConfidence)
	if g.MinReplicas < 1 {
		d.Errorf("guards.minReplicas", "%d is too small (want 1 or more)", g.MinReplicas)
	}
	if g.MaxUnavailableWithoutPDB < 0 {
		d.Errorf("guards.maxUnavailableWithoutPDB", "%d is negative (want 0 or more)", g.MaxUnavailableWithoutPDB)
	}
	checkGracePeriod(c, d)
	if _, err := strconv.ParseInt(g.PriorityBelow, 10, 32); err != nil {
		if problems := validation.IsDNS1123Subdomain(g.PriorityBelow); len(problems) > 0 {
			d.Errorf("guards.priorityBelow", "%q is neither a number nor the name of a PriorityClass", g.PriorityBelow)
		}
	}
	for i, p := range g.Protect {
		d.CheckOneOf(fmt.Sprintf("guards.protect[%d]", i), "protection", p, toStrings(guard.Protections()))
	}
	checkGuardSelectors(c, d)
}

// longestGracePeriod is the upper limit of guards.maxGracePeriod, because a pass waits for evicted pods to terminate.
const longestGracePeriod = 24 * time.Hour

func checkGracePeriod(c *Config, d *strict.Decoder) {
	most := c.Guards.MaxGracePeriod
	if most < Duration(time.Second) || most > Duration(longestGracePeriod) {
		d.Errorf("guards.maxGracePeriod", "%s is out of range (want 1s to 24h)", most)
		return
	}
	if own := c.Evictor.GracePeriodSeconds; own != nil && *own > int64(time.Duration(most)/time.Second) {
		d.Errorf("evictor.gracePeriodSeconds", "%d s is longer than guards.maxGracePeriod %s, so no pod would be evicted", *own, most)
	}
}

const notStorageClass = "%q is not the name of a StorageClass (want lower case letters, digits, dashes and dots)"

func checkGuardSelectors(c *Config, d *strict.Decoder) {
	g := c.Guards
	checkSelector(d, "guards.podSelector", g.PodSelector)
	for i, b := range g.BlockingPods {
		path := fmt.Sprintf("guards.blockingPods[%d]", i)
		checkSelector(d, path+".selector", b.Selector)
		if strings.TrimSpace(b.Selector) == "" {
			d.Errorf(path+".selector", "is missing (want the labels of the pods, such as runtime=long)")
		}
		if b.Namespace == "" {
			d.Errorf(path+".namespace", "is missing (in any namespace, a pod with these labels could keep all pods on its node; "+
				"name the namespace of the pods, and add an entry for each further namespace)")
		} else if len(validation.IsDNS1123Label(b.Namespace)) > 0 {
			d.Errorf(path+".namespace", "%q is not a valid name of a namespace (want lower case letters, digits and dashes)", b.Namespace)
		}
	}
	checkEach(d, "guards.safeLocalVolumes", g.SafeLocalVolumes, func(name string) []string {
		return validation.IsDNS1123Label(strings.TrimSuffix(name, "*") + "x") // the prefix may end in a dash
	}, "%q is not the name of a volume (want lower case letters, digits and dashes, and * at the end for any rest)")
	checkEach(d, "guards.protectedStorageClasses", g.ProtectedStorageClasses, validation.IsDNS1123Subdomain, notStorageClass)
	for i, name := range g.Controllers {
		group, kind, found := strings.Cut(name, "/")
		if !found || kind == "" || strings.Contains(kind, "/") || len(validation.IsDNS1123Subdomain(group)) > 0 {
			d.Errorf(fmt.Sprintf("guards.controllers[%d]", i),
				"%q is not the kind of a controller (want group/Kind, such as apps.kruise.io/CloneSet)", name)
		}
	}
	checkEach(d, "guards.groupKeys", g.GroupKeys, validation.IsQualifiedName, "%q is not the key of a label (want a key such as batch.example.com/gang)")
	for i, name := range g.Groups {
		d.CheckOneOf(fmt.Sprintf("guards.groups[%d]", i), "program", name, toStrings(annotation.GroupPrograms()))
	}
	d.CheckOneOf("guards.noEvictionPolicy", "policy", g.NoEvictionPolicy, toStrings([]guard.Policy{guard.Preferred, guard.Mandatory}))
}

func checkEvictor(c *Config, d *strict.Decoder) {
	v := c.Evictor
	checkEvictionGracePeriod(d, v.GracePeriodSeconds)
	if v.VerifyTimeout < Duration(time.Second) {
		d.Errorf("evictor.verifyTimeout", "%s is too short to see a replacement come up (want 1s or more)", v.VerifyTimeout)
	}
	d.CheckOneOf("evictor.steer", "steering method", v.Steer, toStrings([]hints.Kind{hints.None, hints.Label, hints.Taint}))
	if v.BackgroundTimeout < Duration(time.Minute) {
		d.Errorf("evictor.backgroundTimeout", "%s is too short for an eviction that ends later (want 1m or more)", v.BackgroundTimeout)
	}
	if v.Backoff <= 0 || v.Backoff > Duration(history.MaxBackoff) {
		d.Errorf("evictor.backoff", "%s is out of range for a back-off (want more than 0s, such as 10m, and at most %s)", v.Backoff,
			Duration(history.MaxBackoff))
	}
	if t := c.Limits.MaxPlanTime; t < Duration(time.Second) {
		d.Errorf("limits.maxPlanTime", "%s is too short for a plan (want 1s or more, such as 2m)", t)
	}
	h := c.Limits.PerHour
	for path, n := range map[string]plan.CountLimit{
		"evictor.perMinute": v.PerMinute, "evictor.inFlight.total": v.InFlight.Total,
		"evictor.inFlight.perNode": v.InFlight.PerNode, "evictor.inFlight.perOwner": v.InFlight.PerOwner,
		"limits.perHour.owner": h.Owner, "limits.perHour.namespace": h.Namespace, "limits.perHour.cluster": h.Cluster,
		"limits.maxPredictions": c.Limits.MaxPredictions,
	} {
		checkAtLeastOne(d, path, n, "0 would prevent every eviction (want 1 or more, or unlimited; to evict nothing, set dryRun: true)")
	}
}

// checkEvictionGracePeriod refuses 0, which deletes a pod by force: the API server removes the pod
// at once, although its containers may still run. A StatefulSet may then run two pods of the same
// name.
func checkEvictionGracePeriod(d *strict.Decoder, seconds *int64) {
	switch {
	case seconds == nil || *seconds >= 1:
	case *seconds == 0:
		d.Errorf("evictor.gracePeriodSeconds", "0 deletes pods by force: the replacement may start while the old containers still run, "+
			"for example two pods of one StatefulSet (want 1 or more, or null for the pod's own)")
	default:
		d.Errorf("evictor.gracePeriodSeconds", "%d is negative (want 1 or more, or null for the pod's own)", *seconds)
	}
}

func checkBreaker(c *Config, d *strict.Decoder) {
	b := c.Evictor.Breaker
	checkFraction(d, "evictor.breaker.maxUnreadyNodesFrac", b.MaxUnreadyNodesFrac)
	checkFraction(d, "evictor.breaker.maxFailedFrac", b.MaxFailedFrac)
	if strings.HasSuffix(b.MaxPendingPods.String(), "%") {
		d.Errorf("evictor.breaker.maxPendingPods", "a share is not allowed here (want a whole number, or unlimited)")
	}
	for i, pattern := range b.PrometheusAlerts {
		if err := prometheus.CheckAlertPattern(pattern); err != nil {
			d.Errorf(fmt.Sprintf("evictor.breaker.prometheusAlerts[%d]", i), "%v", err)
		}
	}
	if len(b.PrometheusAlerts) > 0 && c.Load.Prometheus.URL == "" {
		d.Errorf("evictor.breaker.prometheusAlerts",
			"needs the address of a Prometheus (want load.prometheus.url, with any load.source)")
	}
}
