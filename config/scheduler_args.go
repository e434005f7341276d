package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// readArgs takes over the arguments of the plugins that are understood. Those of
// others do not matter: either the plugin decides nothing, or its name is
// reported as not modelled.
func (p *schedulerProfile) readArgs(e *decoder, path string, out *scheduler.Profile) {
	seen := map[string]bool{}
	for i, c := range p.PluginConfig {
		at := fmt.Sprintf("%s.pluginConfig[%d]", path, i)
		if seen[c.Name] {
			e.fieldError(at+".name", "%s is configured twice", c.Name)
		}
		seen[c.Name] = true
		read, understood := argReaders[c.Name]
		if understood && len(c.Args) > 0 && string(c.Args) != "null" {
			read(e, at+".args", out)
		}
	}
}

var argReaders = map[string]func(e *decoder, path string, out *scheduler.Profile){
	"NodeResourcesFit":                readFitArgs,
	"NodeResourcesBalancedAllocation": readBalancedArgs,
	"PodTopologySpread":               readSpreadArgs,
	"NodeAffinity":                    readNodeAffinityArgs,
	"InterPodAffinity":                readInterPodArgs,
	"VolumeBinding":                   readVolumeBindingArgs,
	packingPlugin:                     readPackingArgs,
}

// decodeArgs decodes arguments that stand in the file at path.
func decodeArgs[T any](e *decoder, path string) T {
	var args T
	e.decodeValue(e.nodes[path], reflect.ValueOf(&args).Elem(), path)
	return args
}

func readFitArgs(e *decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[fitArgs](e, path)
	out.IgnoredResources, out.IgnoredGroups = a.IgnoredResources, a.IgnoredResourceGroups
	for i, group := range a.IgnoredResourceGroups {
		if strings.Contains(group, "/") {
			e.fieldError(fmt.Sprintf("%s.ignoredResourceGroups[%d]", path, i), "%q is not a group (want the part before the slash)", group)
		}
	}
	s := a.ScoringStrategy
	if s == nil {
		return
	}
	path += ".scoringStrategy"
	types := []string{string(scheduler.LeastAllocated), string(scheduler.MostAllocated), string(scheduler.RequestedToCapacityRatio)}
	if !slices.Contains(types, s.Type) {
		e.fieldError(path+".type", "unknown strategy %q%s (want one of %s)", s.Type, suggest.DidYouMean(s.Type, types), strings.Join(types, ", "))
	}
	out.Fit.Type = scheduler.StrategyType(s.Type)
	out.Fit.Resources = checkResourceWeights(e, path+".resources", s.Resources, 100)
	ratio := s.Type == string(scheduler.RequestedToCapacityRatio)
	switch {
	case ratio && s.RequestedToCapacityRatio == nil:
		e.fieldError(path+".requestedToCapacityRatio", "is missing (want a shape)")
	case ratio:
		out.Fit.Shape = checkShape(e, path+".requestedToCapacityRatio.shape", s.RequestedToCapacityRatio.Shape)
	case s.RequestedToCapacityRatio != nil:
		e.fieldError(path+".requestedToCapacityRatio", "goes with type RequestedToCapacityRatio only")
	}
}

// checkResourceWeights with weights of 1 to most; 0 means 1.
func checkResourceWeights(e *decoder, path string, list []resourceSpec, most int) []scheduler.ResourceWeight {
	var out []scheduler.ResourceWeight
	seen := map[string]bool{}
	for i, r := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if r.Name == "" {
			e.fieldError(at+".name", "is missing")
		}
		if seen[r.Name] {
			e.fieldError(at+".name", "%s stands twice", r.Name)
		}
		seen[r.Name] = true
		if r.Weight < 0 || r.Weight > most {
			want := "1"
			if most > 1 {
				want = fmt.Sprintf("1..%d", most)
			}
			e.fieldError(at+".weight", "%d is no weight here (want %s)", r.Weight, want)
		}
		out = append(out, scheduler.ResourceWeight{Name: corev1.ResourceName(r.Name), Weight: int64(max(r.Weight, 1))})
	}
	return out
}

func checkShape(e *decoder, path string, points []shapePoint) []scheduler.ShapePoint {
	if len(points) == 0 {
		e.fieldError(path, "is empty (want points such as {utilization: 0, score: 0})")
	}
	var out []scheduler.ShapePoint
	for i, p := range points {
		at := fmt.Sprintf("%s[%d]", path, i)
		if p.Utilization < 0 || p.Utilization > 100 {
			e.fieldError(at+".utilization", "%d is not a percentage (want 0..100)", p.Utilization)
		} else if i > 0 && p.Utilization <= points[i-1].Utilization {
			e.fieldError(at+".utilization", "%d is not above the one before", p.Utilization)
		}
		if p.Score < 0 || p.Score > 10 {
			e.fieldError(at+".score", "%d is no score here (want 0..10)", p.Score)
		}
		out = append(out, scheduler.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
	}
	return out
}

func readBalancedArgs(e *decoder, path string, out *scheduler.Profile) {
	for _, r := range checkResourceWeights(e, path+".resources", decodeArgs[balancedArgs](e, path).Resources, 1) {
		out.Balanced = append(out.Balanced, r.Name)
	}
}

func readSpreadArgs(e *decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[spreadArgs](e, path)
	types := []string{"System", "List"}
	switch {
	case a.DefaultingType != "" && !slices.Contains(types, a.DefaultingType):
		e.fieldError(path+".defaultingType", "unknown type %q%s (want System or List)", a.DefaultingType, suggest.DidYouMean(a.DefaultingType, types))
	case a.DefaultingType != "List" && len(a.DefaultConstraints) > 0:
		e.fieldError(path+".defaultConstraints", "go with defaultingType: List only")
	}
	out.SystemSpread, out.DefaultSpread = a.DefaultingType != "List", a.DefaultConstraints
	type id struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	seen := map[id]bool{}
	for i, c := range a.DefaultConstraints {
		at := fmt.Sprintf("%s.defaultConstraints[%d]", path, i)
		if c.MaxSkew < 1 {
			e.fieldError(at+".maxSkew", "%d is too small (want 1 or more)", c.MaxSkew)
		}
		if len(validation.IsQualifiedName(c.TopologyKey)) > 0 {
			e.fieldError(at+".topologyKey", "%q is not a label key", c.TopologyKey)
		}
		if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			e.fieldError(at+".whenUnsatisfiable", "%q is not known (want ScheduleAnyway or DoNotSchedule)", c.WhenUnsatisfiable)
		}
		if c.LabelSelector != nil {
			e.fieldError(at+".labelSelector", "must be left out: each pod's Service or owner gives it")
		}
		if k := (id{c.TopologyKey, c.WhenUnsatisfiable}); seen[k] {
			e.fieldError(at, "%s with %s stands twice", c.TopologyKey, c.WhenUnsatisfiable)
		} else {
			seen[k] = true
		}
	}
}

func readNodeAffinityArgs(e *decoder, path string, out *scheduler.Profile) {
	out.AddedAffinity = decodeArgs[nodeAffinityArgs](e, path).AddedAffinity
	a := out.AddedAffinity
	if a == nil {
		return
	}
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if _, err := nodeaffinity.NewNodeSelector(required); err != nil {
			e.fieldError(path+".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution", "%v", err)
		}
	}
	if preferred := a.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		if _, err := nodeaffinity.NewPreferredSchedulingTerms(preferred); err != nil {
			e.fieldError(path+".addedAffinity.preferredDuringSchedulingIgnoredDuringExecution", "%v", err)
		}
	}
}

func readInterPodArgs(e *decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[interPodArgs](e, path)
	out.IgnorePreferredTerms = a.IgnorePreferredTermsOfExistingPods
	if w := a.HardPodAffinityWeight; w != nil {
		out.HardPodAffinityWeight = checkAffinityWeight(e, path+".hardPodAffinityWeight", *w)
	}
}

func checkAffinityWeight(e *decoder, path string, w int) int64 {
	if w < 0 || w > 100 {
		e.fieldError(path, "%d is no weight here (want 0..100)", w)
	}
	return int64(w)
}

func readVolumeBindingArgs(e *decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[volumeBindingArgs](e, path)
	if len(a.Shape) > 0 {
		checkShape(e, path+".shape", a.Shape)
		out.Unknown = "the shape of its plugin VolumeBinding is not modelled"
	}
}

func readPackingArgs(e *decoder, path string, out *scheduler.Profile) {
	a := decodeArgs[packingArgs](e, path)
	if out.Packing == nil {
		return
	}
	if t := a.TargetUtilization; t != nil {
		if *t < 1 || *t > 99 {
			e.fieldError(path+".targetUtilization", "%d is no target (want percent, 1..99)", *t)
		}
		out.Packing.Target = int64(*t)
	}
	if text := a.DefaultRequestsMultiplier; text != "" {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f > 0) || f > 1000 {
			e.fieldError(path+".defaultRequestsMultiplier", "%q is not a number above 0", text)
		}
		out.Packing.Factor = f
	}
	for name, text := range a.DefaultRequests {
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() < 0 {
			e.fieldError(path+".defaultRequests."+name, "%q is not an amount (want such as 500m or 1)", text)
		}
		if name == string(corev1.ResourceCPU) {
			out.Packing.DefaultMilliCPU = q.MilliValue()
		}
	}
}
