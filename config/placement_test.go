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
  - {schedulerName: packer, score: mostAllocated, weights: {ImageLocality: 0}}
  - {schedulerName: trimaran, score: targetLoadPacking, targetLoadPacking: {targetUtilization: 0.7, requestFactor: 2}, weights: {TargetLoadPacking: 3}}
  - {schedulerName: old, score: policy, policy: policy.json}
`)
	write("scheduler.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {score: {enabled: [{name: PodTopologySpread, weight: 5}]}}}]\n")
	write("policy.json", "{\n\t\"kind\": \"Policy\", \"apiVersion\": \"v1\", \"priorities\": []}")
	load := func() *config.Config {
		t.Helper()
		c := must.Get(config.LoadFile(filepath.Join(dir, "config.yaml")))(t)
		return c
	}
	c := load()
	want := map[string]scheduler.Profile{
		"default-scheduler": scheduler.DefaultProfile(), "packer": scheduler.MostAllocatedProfile(),
		"trimaran": scheduler.PackingProfile(scheduler.TargetLoadPacking{Weight: 3, Target: 70, DefaultMilliCPU: 1000, Factor: 2}),
		"old":      scheduler.LegacyProfile(scheduler.LegacyPolicy{HardPodAffinityWeight: 1}),
	}
	spread, packer := want["default-scheduler"], want["packer"]
	spread.Weights.PodTopologySpread, packer.Weights.ImageLocality = 5, 0
	want["default-scheduler"], want["packer"] = spread, packer
	if d := cmp.Diff(want, c.PlannerOptions().Placement.Profiles); d != "" {
		t.Error(d)
	}
	before := c.Hash()
	write("policy.json", `{"kind": "Policy", "apiVersion": "v1", "priorities": null}`)
	if after := load().Hash(); after == before {
		t.Error("a changed policy gives the same hash, want a different hash")
	}
}
