package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// Placement says which schedulers place pods, and how.
type Placement struct {
	SchedulerConfig string             `json:"schedulerConfig"`
	Profiles        []PlacementProfile `json:"profiles"`
	Trust           SchedulerTrust     `json:"trust"`
}

// SchedulerTrust says when a scheduler without a profile is taken for the default one.
type SchedulerTrust struct {
	MinBindings int     `json:"minBindings"`
	MinHitRate  float64 `json:"minHitRate"`
}

// PlacementProfile is a scheduler that is described here rather than in the
// file of schedulerConfig.
type PlacementProfile struct {
	SchedulerName     string             `json:"schedulerName"`
	Score             string             `json:"score"`
	Weights           map[string]int     `json:"weights,omitempty"`
	TargetLoadPacking *TargetLoadPacking `json:"targetLoadPacking,omitempty"`
	Policy            string             `json:"policy,omitempty"`
}

// TargetLoadPacking are the arguments of the score of that name; nil: its default.
type TargetLoadPacking struct {
	TargetUtilization *float64 `json:"targetUtilization"`
	DefaultMilliCPU   *int     `json:"defaultMilliCPU"`
	RequestFactor     *float64 `json:"requestFactor"`
}

// The scores that a profile can have.
const (
	scoreDefault = "default"
	scoreMost    = "mostAllocated"
	scorePacking = "targetLoadPacking"
	scorePolicy  = "policy"
)

var knownScores = []string{scoreDefault, scoreMost, scorePacking, scorePolicy}

// checkPlacement makes the placement options and reads the files that are named,
// which are looked for beside the configuration.
func (c *Config) checkPlacement(e *decoder) {
	c.placementProfiles = map[string]scheduler.Profile{}
	if file := c.Placement.SchedulerConfig; file != "" {
		path, data, ok := c.readReferencedFile(e, "placement.schedulerConfig", file)
		if ok {
			profiles, err := LoadScheduler(path, data)
			if err != nil {
				e.fileErrors = append(e.fileErrors, err)
			}
			maps.Copy(c.placementProfiles, profiles)
		}
	}
	for i := range c.Placement.Profiles {
		p, path := &c.Placement.Profiles[i], fmt.Sprintf("placement.profiles[%d]", i)
		if p.SchedulerName == "" {
			e.fieldError(path+".schedulerName", "is missing (want the schedulerName of the pods it is about)")
		} else if _, twice := c.placementProfiles[p.SchedulerName]; twice {
			e.fieldError(path+".schedulerName", "%s has a profile already, here or in schedulerConfig", p.SchedulerName)
		}
		c.placementProfiles[p.SchedulerName] = c.placementProfile(e, path, p)
	}
	if n := c.Placement.Trust.MinBindings; n < 0 || n > trust.MaxMinBindings {
		e.fieldError("placement.trust.minBindings", "%d is no number of bindings to wait for (want 1..%d, or 0 to trust no scheduler without a profile)", n, trust.MaxMinBindings)
	}
	checkFraction(e, "placement.trust.minHitRate", c.Placement.Trust.MinHitRate)
}

// ReferencedFiles are the files that the configuration names, also those that could not be
// read.
func (c *Config) ReferencedFiles() []string { return slices.Clone(c.referencedFiles) }

// readReferencedFile reads a file whose path is relative to the configuration's folder.
func (c *Config) readReferencedFile(e *decoder, field, file string) (path string, data []byte, ok bool) {
	path = file
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(e.file), file)
	}
	c.referencedFiles = append(c.referencedFiles, path)
	data, err := readBoundedFile(path)
	if err != nil {
		e.fieldError(field, "cannot be read: %v", err)
		return path, nil, false
	}
	sum := sha256.Sum256(data)
	c.fileDigests = append(c.fileDigests, hex.EncodeToString(sum[:]))
	return path, data, true
}

func (c *Config) placementProfile(e *decoder, path string, p *PlacementProfile) scheduler.Profile {
	var out scheduler.Profile
	switch p.Score {
	case scoreDefault, "":
		out = scheduler.DefaultProfile()
	case scoreMost:
		out = scheduler.MostAllocatedProfile()
	case scorePacking:
		out = scheduler.PackingProfile(packingArguments(e, path+".targetLoadPacking", p.TargetLoadPacking))
	case scorePolicy:
		out = c.policyProfile(e, path, p)
	default:
		e.fieldError(path+".score", "unknown score %q%s (want one of %s)", p.Score, suggest.DidYouMean(p.Score, knownScores), strings.Join(knownScores, ", "))
	}
	if p.Score != scorePacking && p.TargetLoadPacking != nil {
		e.fieldError(path+".targetLoadPacking", "goes with score: targetLoadPacking only")
	}
	if p.Score != scorePolicy && p.Policy != "" {
		e.fieldError(path+".policy", "goes with score: policy only")
	}
	setWeights(e, path+".weights", p, &out)
	return out
}

func (c *Config) policyProfile(e *decoder, path string, p *PlacementProfile) scheduler.Profile {
	if p.Policy == "" {
		return scheduler.PolicyProfile(scheduler.DefaultPolicy())
	}
	file, data, ok := c.readReferencedFile(e, path+".policy", p.Policy)
	if !ok {
		return scheduler.Profile{}
	}
	legacy, err := LoadPolicy(file, data)
	if err != nil {
		e.fileErrors = append(e.fileErrors, err)
		return scheduler.Profile{}
	}
	return legacy.Profile()
}

// setWeights overrides the weights of plugins; 0 switches a score off.
func setWeights(e *decoder, path string, p *PlacementProfile, out *scheduler.Profile) {
	if len(p.Weights) > 0 && p.Score == scorePolicy {
		e.fieldError(path, "belong into the policy")
		return
	}
	weights := out.Weights.ScorePlugins()
	if out.Packing != nil {
		weights[packingPlugin] = &out.Packing.Weight
	}
	known := slices.Sorted(maps.Keys(weights))
	for name, weight := range p.Weights {
		to := weights[name]
		switch {
		case to == nil:
			e.fieldError(path+"."+name, "unknown plugin%s (want one of %s)", suggest.DidYouMean(name, known), strings.Join(known, ", "))
		case weight < 0 || weight > 10000:
			e.fieldError(path+"."+name, "%d is no weight (want 0..10000)", weight)
		default:
			*to = int64(weight)
		}
	}
}

func packingArguments(e *decoder, path string, a *TargetLoadPacking) scheduler.TargetLoadPacking {
	t := scheduler.DefaultPacking()
	if a == nil {
		return t
	}
	if v := a.TargetUtilization; v != nil {
		checkFraction(e, path+".targetUtilization", *v)
		t.Target = int64(*v*100 + 0.5)
		if t.Target > 99 && *v <= 1 || t.Target < 1 && *v > 0 {
			e.fieldError(path+".targetUtilization", "%s is no target (want 0.01..0.99)", formatNumber(*v))
		}
	}
	if v := a.DefaultMilliCPU; v != nil {
		if t.DefaultMilliCPU = int64(*v); *v < 0 {
			e.fieldError(path+".defaultMilliCPU", "%d is negative (want 0 or more)", *v)
		}
	}
	if v := a.RequestFactor; v != nil {
		if t.Factor = *v; !(*v > 0 && *v <= 1000) {
			e.fieldError(path+".requestFactor", "%s is no factor (want above 0, at most 1000)", formatNumber(*v))
		}
	}
	return t
}
