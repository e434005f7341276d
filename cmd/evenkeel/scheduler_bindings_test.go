package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/metrics"
)

// TestBindingFilterFollowsConfiguration checks that the binding filter follows configuration
// changes without a pass. The changes add a profile, remove the profile, and enable and disable scheduler trust.
func TestBindingFilterFollowsConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(placement string) {
		t.Helper()
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nplacement: " + placement + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const on, off = "{trust: {minBindings: 50}}", "{trust: {minBindings: 0}}"
	const known = "{trust: {minBindings: 50}, profiles: [{schedulerName: fancy, score: mostAllocated}]}"
	write(off)
	var w bindingFilter
	files := &watchedFiles{}
	conf, _, err := files.loadAndWatchConfig(path, metrics.New("v", ""), slog.New(slog.NewTextHandler(io.Discard, nil)), w.setConfig, func(*controller.Controller, *config.Config) {})
	if err != nil {
		t.Fatal(err)
	}
	w.setConfig(conf)
	checkNow := files.watchers[0].checkNow
	fancy := &corev1.Pod{Spec: corev1.PodSpec{SchedulerName: "fancy"}}
	for i, step := range []struct {
		placement string
		want      bool
	}{{off, false}, {on, true}, {known, false}, {on, true}, {"{trust: {minBindings: -1}}", true}, {off, false}} {
		write(step.placement)
		checkNow()
		checkNow() // the watcher loads a file only if two checks see the same content
		if got := w.matches(fancy); got != step.want || w.matches(&corev1.Pod{}) {
			_, problem := files.watchers[0].problem()
			t.Errorf("step %d, placement %s: filter matches scheduler fancy: %v, want %v; it must never match the default scheduler (%v)", i, step.placement, got, step.want, problem)
		}
	}
}
