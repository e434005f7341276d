package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// LoadScheduler reads a KubeSchedulerConfiguration and returns how each of its
// profiles places pods, by schedulerName; name is used in errors, which name
// every mistake. What a profile does that is not modelled is no mistake: nothing
// is foretold for its pods, and the profile says why.
func LoadScheduler(name string, data []byte) (map[string]scheduler.Profile, error) {
	root, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	e := &decoder{file: name, nodes: map[string]*yaml.Node{}, hasTypeError: map[string]bool{}}
	var f schedulerFile
	e.decode(root, &f)
	if f.APIVersion != schedulerVersion {
		e.fieldError("apiVersion", "want %s", schedulerVersion)
	}
	if f.Kind != schedulerKind {
		e.fieldError("kind", "want %s", schedulerKind)
	}
	profiles := f.placementProfiles(e)
	return profiles, e.err()
}

// readBoundedFile reads a file that a configuration names.
func readBoundedFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxBytes)
	}
	return data, err
}

func (f *schedulerFile) placementProfiles(e *decoder) map[string]scheduler.Profile {
	if len(f.Profiles) == 0 {
		f.Profiles = []schedulerProfile{{}}
	}
	checkPercentage(e, "percentageOfNodesToScore", f.PercentageOfNodesToScore)
	out := map[string]scheduler.Profile{}
	for i := range f.Profiles {
		p, path := &f.Profiles[i], fmt.Sprintf("profiles[%d]", i)
		if p.SchedulerName == "" && len(f.Profiles) == 1 {
			p.SchedulerName = corev1.DefaultSchedulerName
		}
		switch _, twice := out[p.SchedulerName]; {
		case p.SchedulerName == "":
			e.fieldError(path+".schedulerName", "is missing (want a name, since there are several profiles)")
		case twice:
			e.fieldError(path+".schedulerName", "%s has a profile already", p.SchedulerName)
		}
		checkPercentage(e, path+".percentageOfNodesToScore", p.PercentageOfNodesToScore)
		one := p.placementProfile(e, path)
		if n := cmp.Or(p.PercentageOfNodesToScore, f.PercentageOfNodesToScore); n != nil {
			one.PercentageOfNodesToScore = *n
		}
		if len(f.Extenders) > 0 {
			one.Unknown = "extender " + extenderName(f.Extenders[0]) + " is asked, which is not modelled"
		}
		out[p.SchedulerName] = one
	}
	return out
}

func checkPercentage(e *decoder, path string, n *int) {
	if n != nil && (*n < 0 || *n > 100) {
		e.fieldError(path, "%d is not a percentage (want 0..100)", *n)
	}
}

func extenderName(raw json.RawMessage) string {
	var x struct {
		URLPrefix string `json:"urlPrefix"`
	}
	if json.Unmarshal(raw, &x) != nil || x.URLPrefix == "" {
		return "without urlPrefix"
	}
	return x.URLPrefix
}

// placementProfile says how one profile places pods.
func (p *schedulerProfile) placementProfile(e *decoder, path string) scheduler.Profile {
	p.checkPlugins(e, path+".plugins")
	out := scheduler.DefaultProfile()
	out.Unknown = p.unsupportedReason()
	scores := p.Plugins.enabledAt(&p.Plugins.Score, scorePlugins)
	for name, weight := range out.Weights.ScorePlugins() {
		*weight = int64(scores[name])
	}
	filters := p.Plugins.enabledAt(&p.Plugins.Filter, filterPlugins)
	for _, name := range filterPlugins {
		if _, asked := filters[name]; !asked {
			out.FiltersOff = append(out.FiltersOff, scheduler.Filter(name))
		}
	}
	if weight, packs := scores[packingPlugin]; packs {
		t := scheduler.DefaultPacking()
		t.Weight = int64(weight)
		out.Packing = &t
	}
	p.readArgs(e, path, &out)
	return out
}

// checkPlugins finds what kube-scheduler would refuse to start with.
func (p *schedulerProfile) checkPlugins(e *decoder, path string) {
	for _, point := range p.Plugins.extensionPoints() {
		seen := map[string]bool{}
		for i, x := range point.set.Enabled {
			at := fmt.Sprintf("%s.%s.enabled[%d]", path, point.name, i)
			switch {
			case x.Name == "":
				e.fieldError(at+".name", "is missing")
			case x.Name == "*":
				e.fieldError(at+".name", `"*" can be disabled, not enabled`)
			case seen[x.Name]:
				e.fieldError(at+".name", "%s is enabled twice", x.Name)
			}
			seen[x.Name] = true
			if x.Weight < 0 {
				e.fieldError(at+".weight", "%d is negative (want 1 or more, or disable the plugin)", x.Weight)
			}
		}
		for i, x := range point.set.Disabled {
			if x.Name == "" {
				e.fieldError(fmt.Sprintf("%s.%s.disabled[%d].name", path, point.name, i), "is missing")
			}
		}
	}
}

// unsupportedReason says why the profile's placement cannot be foretold at all; empty
// when it can.
func (p *schedulerProfile) unsupportedReason() string {
	for _, point := range p.Plugins.extensionPoints() {
		for _, x := range point.set.Enabled {
			if !slices.Contains(inTreePlugins, x.Name) && x.Name != packingPlugin && x.Name != "" {
				return fmt.Sprintf("its plugin %s is not modelled", x.Name)
			}
		}
	}
	filters, preFilters := p.Plugins.enabledAt(&p.Plugins.Filter, filterPlugins), p.Plugins.enabledAt(&p.Plugins.PreFilter, filterPlugins)
	for _, name := range filterPlugins {
		_, f := filters[name]
		_, pre := preFilters[name]
		if f && !pre && !slices.Contains(filtersWithoutPreFilter, name) || !f && pre && slices.Contains(preFiltersThatReject, name) {
			return fmt.Sprintf("its plugin %s is enabled for only one of preFilter and filter, which is not modelled", name)
		}
	}
	scores, preScores := p.Plugins.enabledAt(&p.Plugins.Score, scorePlugins), p.Plugins.enabledAt(&p.Plugins.PreScore, scorePlugins)
	for _, name := range scoresThatNeedPreScore {
		_, s := scores[name]
		if _, pre := preScores[name]; s && !pre {
			return fmt.Sprintf("its plugin %s scores without its preScore, which is not modelled", name)
		}
	}
	if binders := p.Plugins.enabledAt(&p.Plugins.Bind, []string{"DefaultBinder"}); len(binders) == 0 {
		return "its plugin DefaultBinder is disabled, which is not modelled"
	}
	return ""
}
