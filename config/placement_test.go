package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// TestPlacementSection checks that the planner gets the profiles, and that file paths are relative to the directory
// of the configuration. The content of these files must change the hash.
func TestPlacementSection(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("config.yaml", minimalConfig+`placement:
  schedulerConfig: scheduler.yaml
  profiles:
  - schedulerName: packer
    plugins: {score: {disabled: [{name: ImageLocality}]}}
    pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]
  - schedulerName: trimaran
    plugins: {score: {enabled: [{name: TargetLoadPacking, weight: 3}], disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]}}
    pluginConfig: [{name: TargetLoadPacking, args: {targetUtilization: 70, defaultRequestsMultiplier: "2"}}]
`)
	write("scheduler.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {score: {enabled: [{name: PodTopologySpread, weight: 5}]}}}]\n")
	load := func() *config.Config {
		t.Helper()
		c := must.Get(config.LoadFile(filepath.Join(dir, "config.yaml")))(t)
		return c
	}
	c := load()
	spread, packer, trimaran := scheduler.DefaultProfile(), scheduler.DefaultProfile(), scheduler.DefaultProfile()
	packer.FitStrategy.Type = scheduler.MostAllocated
	trimaran.Packing = &scheduler.TargetLoadPacking{Weight: 3, Target: 70, DefaultMilliCPU: 1000, Factor: 2}
	trimaran.Weights.ResourcesFit, trimaran.Weights.BalancedAllocation = 0, 0
	want := map[string]scheduler.Profile{"trimaran": trimaran}
	spread.Weights.PodTopologySpread, packer.Weights.ImageLocality = 5, 0
	want["default-scheduler"], want["packer"] = spread, packer
	if d := cmp.Diff(want, c.PlannerOptions().Placement.Profiles); d != "" {
		t.Error(d)
	}
	before := c.Hash()
	write("scheduler.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
	if after := load().Hash(); after == before {
		t.Error("a changed file gives the same hash, want a different hash")
	}
}
