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

// TestAChangedConfigurationChangesWhoseBindingsAreLookedAt, without a pass: a
// profile that is new, one that has gone, and the switch, either way.
func TestAChangedConfigurationChangesWhoseBindingsAreLookedAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(placement string) {
		t.Helper()
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nplacement: " + placement + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const on, off = "{shadow: {minBindings: 50}}", "{shadow: {minBindings: 0}}"
	const known = "{shadow: {minBindings: 50}, profiles: [{schedulerName: fancy, score: mostAllocated}]}"
	write(off)
	var w wanted
	files := &watched{}
	conf, _, err := files.configured(path, metrics.New("v", ""), slog.New(slog.NewTextHandler(io.Discard, nil)), w.take, func(*controller.Controller, *config.Config) {})
	if err != nil {
		t.Fatal(err)
	}
	w.take(conf)
	look := files.list[0].look
	fancy := &corev1.Pod{Spec: corev1.PodSpec{SchedulerName: "fancy"}}
	for i, step := range []struct {
		placement string
		want      bool
	}{{off, false}, {on, true}, {known, false}, {on, true}, {"{shadow: {minBindings: -1}}", true}, {off, false}} {
		write(step.placement)
		look()
		look() // it held still
		if got := w.pod(fancy); got != step.want || w.pod(&corev1.Pod{}) {
			_, problem := files.list[0].problem()
			t.Errorf("%d, %s: looked at %v, want %v, and the default scheduler never (%v)", i, step.placement, got, step.want, problem)
		}
	}
}
