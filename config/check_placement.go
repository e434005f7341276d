package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/config/convert"
	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// Values of placement.profiles[].score.
const (
	scoreDefault = "default"
	scoreMost    = "mostAllocated"
	scorePacking = "targetLoadPacking"
	scoreRisk    = "loadVariationRiskBalancing"
	scoreLowRisk = "lowRiskOverCommitment"
	scorePolicy  = "policy"
)

// checkPlacement reads the files of the section placement and sets c.placementProfiles.
func checkPlacement(c *Config, d *strict.Decoder) {
	c.placementProfiles = map[string]scheduler.Profile{}
	if file := c.Placement.SchedulerConfig; file != "" {
		path, data, ok := readReferencedFile(c, d, "placement.schedulerConfig", file)
		if ok {
			profiles, err := schedulerconfig.Load(path, data)
			if err != nil {
				d.AddFileError(err)
			}
			maps.Copy(c.placementProfiles, profiles)
		}
	}
	for i := range c.Placement.Profiles {
		p, path := &c.Placement.Profiles[i], fmt.Sprintf("placement.profiles[%d]", i)
		if p.SchedulerName == "" {
			d.Errorf(path+".schedulerName", "is missing (want the schedulerName of the pods)")
		} else if _, twice := c.placementProfiles[p.SchedulerName]; twice {
			d.Errorf(path+".schedulerName", "%s already has a profile, here or in schedulerConfig", p.SchedulerName)
		}
		c.placementProfiles[p.SchedulerName] = placementProfile(c, d, path, p)
	}
	if n := c.Placement.Trust.MinBindings; n < 0 || n > trust.MaxMinBindings {
		d.Errorf("placement.trust.minBindings",
			"%d is not a valid number of bindings (want 1..%d, or 0 to watch no bindings)", n, trust.MaxMinBindings)
	}
	checkFraction(d, "placement.trust.minHitRate", c.Placement.Trust.MinHitRate)
}

// readReferencedFile reads a file. A relative path starts at the directory of the configuration. If ok is false, the
// content is missing, and the error was reported unless the file was not wanted.
func readReferencedFile(c *Config, d *strict.Decoder, field, file string) (path string, data []byte, ok bool) {
	if c.skipReferencedFiles {
		return file, nil, false
	}
	path = file
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.File()), file)
	}
	c.referencedFiles = append(c.referencedFiles, path)
	data, err := c.readReferenced(path)
	if err != nil {
		d.Errorf(field, "cannot be read: %v", err)
		return path, nil, false
	}
	sum := sha256.Sum256(data)
	c.fileDigests = append(c.fileDigests, hex.EncodeToString(sum[:]))
	return path, data, true
}

func placementProfile(c *Config, d *strict.Decoder, path string, p *PlacementProfile) scheduler.Profile {
	var out scheduler.Profile
	switch p.Score {
	case scoreDefault, "":
		out = scheduler.DefaultProfile()
	case scoreMost:
		out = scheduler.MostAllocatedProfile()
	case scorePacking:
		out = scheduler.PackingProfile(packingArguments(d, path+".targetLoadPacking", p.TargetLoadPacking))
	case scoreRisk:
		out = scheduler.RiskBalancingProfile(riskBalancingArguments(d, path+"."+scoreRisk, p.LoadVariationRiskBalancing))
	case scoreLowRisk:
		out = scheduler.LowRiskProfile(lowRiskArguments(d, path+"."+scoreLowRisk, p.LowRiskOverCommitment))
	case scorePolicy:
		out = policyProfile(c, d, path, p)
	default:
		d.CheckOneOf(path+".score", "score", p.Score, []string{scoreDefault, scoreMost, scorePacking, scoreRisk, scoreLowRisk, scorePolicy})
	}
	for score, set := range map[string]bool{scorePacking: p.TargetLoadPacking != nil,
		scoreRisk: p.LoadVariationRiskBalancing != nil, scoreLowRisk: p.LowRiskOverCommitment != nil} {
		if p.Score != score && set {
			d.Errorf(path+"."+score, "is allowed only with score: %s", score)
		}
	}
	if p.Score != scorePolicy && p.Policy != "" {
		d.Errorf(path+".policy", "is allowed only with score: policy")
	}
	setWeights(d, path+".weights", p, &out)
	return out
}

func policyProfile(c *Config, d *strict.Decoder, path string, p *PlacementProfile) scheduler.Profile {
	if p.Policy == "" {
		return scheduler.LegacyProfile(scheduler.DefaultLegacyPolicy())
	}
	file, data, ok := readReferencedFile(c, d, path+".policy", p.Policy)
	if !ok {
		return scheduler.Profile{}
	}
	legacy, err := convert.LoadLegacyPolicy(file, data)
	if err != nil {
		d.AddFileError(err)
		return scheduler.Profile{}
	}
	return legacy.Profile()
}

// setWeights replaces the weights of score plugins in out. A weight of 0 disables the plugin.
func setWeights(d *strict.Decoder, path string, p *PlacementProfile, out *scheduler.Profile) {
	if len(p.Weights) > 0 && p.Score == scorePolicy {
		d.Errorf(path, "are not allowed with score: policy (want them in the policy)")
		return
	}
	weights := out.Weights.ScorePlugins()
	if out.Packing != nil {
		weights[scheduler.PackingName] = &out.Packing.Weight
	}
	if out.RiskBalancing != nil {
		weights[scheduler.RiskBalancingName] = &out.RiskBalancing.Weight
	}
	if out.LowRisk != nil {
		weights[scheduler.LowRiskName] = &out.LowRisk.Weight
	}
	known := slices.Sorted(maps.Keys(weights))
	for name, weight := range p.Weights {
		to := weights[name]
		switch {
		case to == nil:
			d.Errorf(path+"."+name, "unknown plugin%s (want one of %s)", suggest.DidYouMean(name, known), strings.Join(known, ", "))
		case weight < 0 || weight > 10000:
			d.Errorf(path+"."+name, "%d is not a valid weight (want 0..10000)", weight)
		default:
			*to = int64(weight)
		}
	}
}

func riskBalancingArguments(d *strict.Decoder, path string, a *LoadVariationRiskBalancing) scheduler.LoadVariationRiskBalancing {
	r := scheduler.DefaultRiskBalancing()
	if a == nil {
		return r
	}
	for _, x := range []struct {
		key  string
		from *float64
		to   *float64
	}{{"margin", a.Margin, &r.Margin}, {"sensitivity", a.Sensitivity, &r.Sensitivity}} {
		if x.from == nil {
			continue
		}
		if *x.to = *x.from; !(*x.from >= 0 && *x.from <= 1000) {
			d.Errorf(path+"."+x.key, "%s is out of range (want 0 to 1000; 1 is the default)", strict.FormatNumber(*x.from))
		}
	}
	return r
}

func lowRiskArguments(d *strict.Decoder, path string, a *LowRiskOverCommitment) scheduler.LowRiskOverCommitment {
	r := scheduler.DefaultLowRisk()
	if a == nil {
		return r
	}
	if n := a.SmoothingWindows; n != nil {
		if r.SmoothingWindows = int64(*n); *n < 1 || *n > 1000 {
			d.Errorf(path+".smoothingWindows", "%d is out of range (want 1 to 1000; 5 is the default)", *n)
		}
	}
	for name, weight := range a.LimitWeights {
		checkFraction(d, path+".limitWeights."+name, weight)
		switch name {
		case "cpu":
			r.CPULimitWeight = weight
		case "memory":
			r.MemoryLimitWeight = weight
		default:
			d.Errorf(path+".limitWeights."+name, "unknown resource %q (want cpu or memory)", name)
		}
	}
	return r
}

func packingArguments(d *strict.Decoder, path string, a *TargetLoadPacking) scheduler.TargetLoadPacking {
	t := scheduler.DefaultPacking()
	if a == nil {
		return t
	}
	if v := a.TargetUtilization; v != nil {
		checkFraction(d, path+".targetUtilization", *v)
		t.Target = int64(*v*100 + 0.5)
		if t.Target > 99 && *v <= 1 || t.Target < 1 && *v > 0 {
			d.Errorf(path+".targetUtilization", "%s is not a valid target (want 0.01..0.99)", strict.FormatNumber(*v))
		}
	}
	if v := a.DefaultMilliCPU; v != nil {
		if t.DefaultMilliCPU = int64(*v); *v < 0 {
			d.Errorf(path+".defaultMilliCPU", "%d is negative (want 0 or more)", *v)
		}
	}
	if v := a.RequestFactor; v != nil {
		if t.Factor = *v; !(*v > 0 && *v <= 1000) {
			d.Errorf(path+".requestFactor", "%s is not a valid factor (want above 0, at most 1000)", strict.FormatNumber(*v))
		}
	}
	return t
}
