package schedulerconfig

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// readArgs applies the arguments of supported plugins to out. It ignores arguments of other plugins: these plugins do
// not influence placement, or unsupportedReason reports them.
func (p *SchedulerProfile) readArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	seen := map[string]bool{}
	for i, c := range p.PluginConfig {
		at := fmt.Sprintf("%s.pluginConfig[%d]", path, i)
		if seen[c.Name] {
			d.Errorf(at+".name", "%s is configured twice", c.Name)
		}
		seen[c.Name] = true
		if read := argReaders[c.Name]; read != nil && len(c.Args) > 0 && string(c.Args) != "null" {
			read(d, at+".args", out)
		}
	}
}

var argReaders = map[string]func(d *strict.Decoder, path string, out *scheduler.Profile){
	"NodeResourcesFit":                readFitArgs,
	"NodeResourcesBalancedAllocation": readBalancedArgs,
	"PodTopologySpread":               readSpreadArgs,
	"NodeAffinity":                    readNodeAffinityArgs,
	"InterPodAffinity":                readInterPodArgs,
	"VolumeBinding":                   readVolumeBindingArgs,
	scheduler.PackingName:             readPackingArgs,
	scheduler.RiskBalancingName:       readRiskBalancingArgs,
	scheduler.LowRiskName:             readLowRiskArgs,
}

func decodeArgs[T any](d *strict.Decoder, path string) T {
	var args T
	d.DecodeAt(path, &args)
	return args
}

func readFitArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[fitArgs](d, path)
	out.IgnoredResources, out.IgnoredGroups = a.IgnoredResources, a.IgnoredResourceGroups
	for i, group := range a.IgnoredResourceGroups {
		if strings.Contains(group, "/") {
			d.Errorf(fmt.Sprintf("%s.ignoredResourceGroups[%d]", path, i), "%q is not a group (want the part before the slash)", group)
		}
	}
	s := a.ScoringStrategy
	if s == nil {
		return
	}
	path += ".scoringStrategy"
	types := []string{string(scheduler.LeastAllocated), string(scheduler.MostAllocated), string(scheduler.RequestedToCapacityRatio)}
	d.CheckOneOf(path+".type", "strategy", s.Type, types)
	out.FitStrategy.Type = scheduler.StrategyType(s.Type)
	out.FitStrategy.Resources = CheckResourceWeights(d, path+".resources", s.Resources, 100)
	ratio := s.Type == string(scheduler.RequestedToCapacityRatio)
	switch {
	case ratio && s.RequestedToCapacityRatio == nil:
		d.Errorf(path+".requestedToCapacityRatio", "is missing (want a shape)")
	case ratio:
		out.FitStrategy.Shape = CheckShape(d, path+".requestedToCapacityRatio.shape", s.RequestedToCapacityRatio.Shape)
	case s.RequestedToCapacityRatio != nil:
		d.Errorf(path+".requestedToCapacityRatio", "is allowed only with type RequestedToCapacityRatio")
	}
}

// CheckResourceWeights converts resources with weights, and reports weights above most. A weight of 0 counts as 1.
func CheckResourceWeights(d *strict.Decoder, path string, list []ResourceSpec, most int) []scheduler.ResourceWeight {
	var out []scheduler.ResourceWeight
	seen := map[string]bool{}
	for i, r := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if r.Name == "" {
			d.Errorf(at+".name", "is missing")
		}
		if seen[r.Name] {
			d.Errorf(at+".name", "%s is listed twice", r.Name)
		}
		seen[r.Name] = true
		if r.Weight < 0 || r.Weight > most {
			want := "1"
			if most > 1 {
				want = fmt.Sprintf("1..%d", most)
			}
			d.Errorf(at+".weight", "%d is not a valid weight (want %s)", r.Weight, want)
		}
		out = append(out, scheduler.ResourceWeight{Name: corev1.ResourceName(r.Name), Weight: int64(max(r.Weight, 1))})
	}
	return out
}

// CheckShape converts the points of a RequestedToCapacityRatio function, and reports invalid points to d. The
// utilization is in percent; scores are 0 to 10.
func CheckShape(d *strict.Decoder, path string, points []ShapePoint) []scheduler.ShapePoint {
	if len(points) == 0 {
		d.Errorf(path, "is empty (want points such as {utilization: 0, score: 0})")
	}
	var out []scheduler.ShapePoint
	for i, p := range points {
		at := fmt.Sprintf("%s[%d]", path, i)
		if p.Utilization < 0 || p.Utilization > 100 {
			d.Errorf(at+".utilization", "%d is not a percentage (want 0..100)", p.Utilization)
		} else if i > 0 && p.Utilization <= points[i-1].Utilization {
			d.Errorf(at+".utilization", "%d is not above the point before it", p.Utilization)
		}
		if p.Score < 0 || p.Score > 10 {
			d.Errorf(at+".score", "%d is not a valid score (want 0..10)", p.Score)
		}
		out = append(out, scheduler.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
	}
	return out
}

func readBalancedArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	for _, r := range CheckResourceWeights(d, path+".resources", decodeArgs[balancedArgs](d, path).Resources, 1) {
		out.BalancedResources = append(out.BalancedResources, r.Name)
	}
}

func readSpreadArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[spreadArgs](d, path)
	valid := a.DefaultingType == "" || d.CheckOneOf(path+".defaultingType", "type", a.DefaultingType, []string{"System", "List"})
	if valid && a.DefaultingType != "List" && len(a.DefaultConstraints) > 0 {
		d.Errorf(path+".defaultConstraints", "are allowed only with defaultingType: List")
	}
	out.SystemDefaultSpread, out.DefaultSpread = a.DefaultingType != "List", a.DefaultConstraints
	seen := map[string]bool{}
	for i, c := range a.DefaultConstraints {
		at := fmt.Sprintf("%s.defaultConstraints[%d]", path, i)
		if c.MaxSkew < 1 {
			d.Errorf(at+".maxSkew", "%d is too small (want 1 or more)", c.MaxSkew)
		}
		if len(validation.IsQualifiedName(c.TopologyKey)) > 0 {
			d.Errorf(at+".topologyKey", "%q is not a label key", c.TopologyKey)
		}
		if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			d.Errorf(at+".whenUnsatisfiable", "%q is unknown (want ScheduleAnyway or DoNotSchedule)", c.WhenUnsatisfiable)
		}
		if c.LabelSelector != nil {
			d.Errorf(at+".labelSelector", "must be left out: it comes from each pod's Service or owner")
		}
		constraint := fmt.Sprintf("%s with %s", c.TopologyKey, c.WhenUnsatisfiable)
		if seen[constraint] {
			d.Errorf(at, "%s is listed twice", constraint)
		}
		seen[constraint] = true
	}
}

func readNodeAffinityArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	out.AddedAffinity = decodeArgs[nodeAffinityArgs](d, path).AddedAffinity
	a := out.AddedAffinity
	if a == nil {
		return
	}
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if _, err := nodeaffinity.NewNodeSelector(required); err != nil {
			d.Errorf(path+".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution", "%v", err)
		}
	}
	if preferred := a.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		if _, err := nodeaffinity.NewPreferredSchedulingTerms(preferred); err != nil {
			d.Errorf(path+".addedAffinity.preferredDuringSchedulingIgnoredDuringExecution", "%v", err)
		}
	}
}

func readInterPodArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[interPodArgs](d, path)
	out.IgnorePreferredTerms = a.IgnorePreferredTermsOfExistingPods
	if w := a.HardPodAffinityWeight; w != nil {
		out.HardPodAffinityWeight = CheckAffinityWeight(d, path+".hardPodAffinityWeight", *w)
	}
}

// CheckAffinityWeight returns hardPodAffinityWeight, and reports a value outside 0..100 to d.
func CheckAffinityWeight(d *strict.Decoder, path string, w int) int64 {
	if w < 0 || w > 100 {
		d.Errorf(path, "%d is not a valid weight (want 0..100)", w)
	}
	return int64(w)
}

func readVolumeBindingArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[volumeBindingArgs](d, path)
	if len(a.Shape) > 0 {
		CheckShape(d, path+".shape", a.Shape)
		out.UnsupportedReason = "the shape argument of its plugin VolumeBinding is not supported"
	}
}

func readPackingArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[packingArgs](d, path)
	if out.Packing == nil {
		return
	}
	if t := a.TargetUtilization; t != nil {
		if *t < 1 || *t > 99 {
			d.Errorf(path+".targetUtilization", "%d is not a valid target (want percent, 1..99)", *t)
		}
		out.Packing.Target = int64(*t)
	}
	if text := a.DefaultRequestsMultiplier; text != "" {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f > 0) || f > 1000 {
			d.Errorf(path+".defaultRequestsMultiplier", "%q is not a number above 0", text)
		}
		out.Packing.Factor = f
	}
	for name, text := range a.DefaultRequests {
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() < 0 {
			d.Errorf(path+".defaultRequests."+name, "%q is not a quantity (want one such as 500m or 1)", text)
		}
		if name == string(corev1.ResourceCPU) {
			out.Packing.DefaultMilliCPU = q.MilliValue()
		}
	}
}

func readRiskBalancingArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[riskBalancingArgs](d, path)
	if out.RiskBalancing == nil {
		return
	}
	if v := a.SafeVarianceMargin; v != nil {
		if out.RiskBalancing.Margin = *v; *v < 0 {
			d.Errorf(path+".safeVarianceMargin", "%s is negative", strict.FormatNumber(*v))
		}
	}
	if v := a.SafeVarianceSensitivity; v != nil {
		if out.RiskBalancing.Sensitivity = *v; *v < 0 {
			d.Errorf(path+".safeVarianceSensitivity", "%s is negative", strict.FormatNumber(*v))
		}
	}
}

func readLowRiskArgs(d *strict.Decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[lowRiskArgs](d, path)
	if out.LowRisk == nil {
		return
	}
	if n := a.SmoothingWindowSize; n != nil {
		if out.LowRisk.SmoothingWindows = int64(*n); *n < 1 {
			d.Errorf(path+".smoothingWindowSize", "%d is not a number of windows (want 1 or more)", *n)
		}
	}
	for name, weight := range a.RiskLimitWeights {
		if !(weight >= 0 && weight <= 1) {
			d.Errorf(path+".riskLimitWeights."+name, "%s is not a weight (want 0..1)", strict.FormatNumber(weight))
		}
		switch name {
		case string(corev1.ResourceCPU):
			out.LowRisk.CPULimitWeight = weight
		case string(corev1.ResourceMemory):
			out.LowRisk.MemoryLimitWeight = weight
		}
	}
}
