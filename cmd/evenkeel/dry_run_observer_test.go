package main

import (
	"log/slog"
	"testing"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/observe"
)

// TestOnlyDryRunsForetell: whatever evicts goes by what stands on the nodes, also after
// a dry run, and where a saved plan is carried out although the configuration says dryRun.
func TestOnlyDryRunsForetell(t *testing.T) {
	client := fake.NewClientset()
	o := observe.New(client, clock.RealClock{})
	s := &controllerSettings{client: client, observer: o, log: slog.New(slog.DiscardHandler), lease: &leader.Lease{}, startEvents: func() {}}
	c := &controller.Controller{}
	predicts := func() bool { _, is := c.Observer.(dryRunObserver); return is }
	conf, err := config.LoadFile("../../examples/by-load.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if s.apply(c, conf); !predicts() {
		t.Error("a dry run goes by what stands on the nodes")
	}
	if s.enableEvictions(c, conf); predicts() {
		t.Error("a saved plan is judged by hints that do not stand")
	}
	s.apply(c, conf)
	live := *conf
	live.DryRun = false
	if s.apply(c, &live); predicts() || live.PlannerOptions().PredictHints {
		t.Error("after a dry run, evictions go by hints that do not stand")
	}
}
