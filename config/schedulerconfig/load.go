// Package schedulerconfig reads and prints KubeSchedulerConfiguration, the configuration file of kube-scheduler.
//
// Package schedulerconfig converts each scheduler profile to a placement model, and reports profiles that Evenkeel
// cannot simulate. It never predicts placements itself.
package schedulerconfig

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Load reads a KubeSchedulerConfiguration and returns the placement model of each profile, by schedulerName. Errors
// contain the given file name, and list every mistake that kube-scheduler would reject. An unsupported profile is not
// an error: its field UnsupportedReason is set, and Evenkeel makes no predictions for its pods.
func Load(name string, data []byte) (map[string]scheduler.Profile, error) {
	root, err := strict.Parse(name, data)
	if err != nil {
		return nil, err
	}
	d := strict.New(name, strict.Options{})
	var f schedulerFile
	d.Decode(root, &f)
	if f.APIVersion != version {
		d.Errorf("apiVersion", "want %s", version)
	}
	if f.Kind != kind {
		d.Errorf("kind", "want %s", kind)
	}
	profiles := f.placementProfiles(d)
	return profiles, d.Err()
}

func (f *schedulerFile) placementProfiles(d *strict.Decoder) map[string]scheduler.Profile {
	if len(f.Profiles) == 0 {
		f.Profiles = []SchedulerProfile{{}}
	}
	checkPercentage(d, "percentageOfNodesToScore", f.PercentageOfNodesToScore)
	out := map[string]scheduler.Profile{}
	for i := range f.Profiles {
		p, path := &f.Profiles[i], fmt.Sprintf("profiles[%d]", i)
		if p.SchedulerName == "" && len(f.Profiles) == 1 {
			p.SchedulerName = corev1.DefaultSchedulerName
		}
		switch _, twice := out[p.SchedulerName]; {
		case p.SchedulerName == "":
			d.Errorf(path+".schedulerName", "is missing (want a name, since there are several profiles)")
		case twice:
			d.Errorf(path+".schedulerName", "%s has a profile already", p.SchedulerName)
		}
		one := p.Model(d, path)
		if f.PercentageOfNodesToScore != nil && p.PercentageOfNodesToScore == nil {
			one.PercentageOfNodesToScore = *f.PercentageOfNodesToScore
		}
		if len(f.Extenders) > 0 {
			one.UnsupportedReason = "extender " + ExtenderName(f.Extenders[0]) + " influences placement, which is not supported"
		}
		out[p.SchedulerName] = one
	}
	return out
}

func checkPercentage(d *strict.Decoder, path string, n *int) {
	if n != nil && (*n < 0 || *n > 100) {
		d.Errorf(path, "%d is not a percentage (want 0..100)", *n)
	}
}

// ExtenderName returns a name of an extender for messages: its URL, if it has one.
func ExtenderName(raw json.RawMessage) string {
	var x struct {
		URLPrefix string `json:"urlPrefix"`
	}
	if json.Unmarshal(raw, &x) != nil || x.URLPrefix == "" {
		return "without urlPrefix"
	}
	return x.URLPrefix
}

// Model returns the placement model of a profile, and reports to d the mistakes that kube-scheduler would reject. The
// document of d has the profile at path.
func (p *SchedulerProfile) Model(d *strict.Decoder, path string) scheduler.Profile {
	checkPercentage(d, path+".percentageOfNodesToScore", p.PercentageOfNodesToScore)
	p.checkPlugins(d, path+".plugins")
	out := scheduler.DefaultProfile()
	out.PercentageOfNodesToScore = ptr.Deref(p.PercentageOfNodesToScore, 0)
	out.UnsupportedReason = p.unsupportedReason()
	scores := p.Plugins.enabledAt(&p.Plugins.Score, ScorePlugins)
	for name, weight := range out.Weights.ScorePlugins() {
		*weight = int64(scores[name])
	}
	filters := p.Plugins.enabledAt(&p.Plugins.Filter, FilterPlugins)
	for _, name := range FilterPlugins {
		if _, asked := filters[name]; !asked {
			out.DisabledFilters = append(out.DisabledFilters, scheduler.Filter(name))
		}
	}
	if weight, enabled := scores[scheduler.PackingName]; enabled {
		out.Packing = ptr.To(scheduler.DefaultPacking())
		out.Packing.Weight = int64(weight)
	}
	if weight, enabled := scores[scheduler.RiskBalancingName]; enabled {
		out.RiskBalancing = ptr.To(scheduler.DefaultRiskBalancing())
		out.RiskBalancing.Weight = int64(weight)
	}
	if weight, enabled := scores[scheduler.LowRiskName]; enabled {
		out.LowRisk = ptr.To(scheduler.DefaultLowRisk())
		out.LowRisk.Weight = int64(weight)
	}
	p.readArgs(d, path, &out)
	return out
}

// checkPlugins reports mistakes in plugin lists that prevent kube-scheduler from starting.
func (p *SchedulerProfile) checkPlugins(d *strict.Decoder, path string) {
	for point, set := range p.Plugins.extensionPoints() {
		seen := map[string]bool{}
		for i, x := range set.Enabled {
			at := fmt.Sprintf("%s.%s.enabled[%d]", path, point, i)
			switch {
			case x.Name == "":
				d.Errorf(at+".name", "is missing")
			case x.Name == "*":
				d.Errorf(at+".name", `"*" can be disabled, not enabled`)
			case seen[x.Name]:
				d.Errorf(at+".name", "%s is enabled twice", x.Name)
			}
			seen[x.Name] = true
			if x.Weight < 0 {
				d.Errorf(at+".weight", "%d is negative (want 1 or more, or disable the plugin)", x.Weight)
			}
		}
		for i, x := range set.Disabled {
			if x.Name == "" {
				d.Errorf(fmt.Sprintf("%s.%s.disabled[%d].name", path, point, i), "is missing")
			}
		}
	}
}

// unsupportedReason says why Evenkeel cannot predict placements of the profile; "" if it can.
func (p *SchedulerProfile) unsupportedReason() string {
	for _, set := range p.Plugins.extensionPoints() {
		for _, x := range set.Enabled {
			if !slices.Contains(inTreePlugins, x.Name) && !slices.Contains(trimaranPlugins, x.Name) && x.Name != "" {
				return fmt.Sprintf("its plugin %s is not supported", x.Name)
			}
		}
	}
	filters, preFilters := p.Plugins.enabledAt(&p.Plugins.Filter, FilterPlugins), p.Plugins.enabledAt(&p.Plugins.PreFilter, FilterPlugins)
	for _, name := range FilterPlugins {
		_, f := filters[name]
		_, pre := preFilters[name]
		if f && !pre && !slices.Contains(filtersWithoutPreFilter, name) || !f && pre && slices.Contains(preFiltersThatReject, name) {
			return fmt.Sprintf("its plugin %s is enabled for only one of preFilter and filter, which is not supported", name)
		}
	}
	scores, preScores := p.Plugins.enabledAt(&p.Plugins.Score, ScorePlugins), p.Plugins.enabledAt(&p.Plugins.PreScore, ScorePlugins)
	for _, name := range scoresThatNeedPreScore {
		_, s := scores[name]
		if _, pre := preScores[name]; s && !pre {
			return fmt.Sprintf("its plugin %s is enabled for score but not for preScore, which is not supported", name)
		}
	}
	if binders := p.Plugins.enabledAt(&p.Plugins.Bind, []string{"DefaultBinder"}); len(binders) == 0 {
		return "its plugin DefaultBinder is disabled, which is not supported"
	}
	return ""
}
