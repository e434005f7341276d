package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
)

// TestBindingFilterFollowsConfiguration checks that the binding filter follows configuration
// changes without a pass. The changes add a profile, remove the profile, and enable and disable scheduler trust.
func TestBindingFilterFollowsConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(placement string) {
		t.Helper()
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nplacement: " + placement + "\n"
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	const on, off = "{trust: 0.9}", "{trust: 0}"
	const known = "{trust: 0.9, profiles: [{schedulerName: fancy, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}"
	write(off)
	var w podBindingFilter
	files := &watchedFiles{}
	conf, _, err := files.loadAndWatchConfig(path, metrics.New("v", ""), slog.New(slog.NewTextHandler(io.Discard, nil)), w.setConfig, func(*controller.Controller, *config.Config) {})
	if err != nil {
		t.Fatal(err)
	}
	w.setConfig(conf)
	checkNow := files.watchers[0].checkNow
	pod := &corev1.Pod{}
	ofDaemonSet := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", Controller: ptr.To(true)}}}}
	for i, step := range []struct {
		placement string
		profiles  int
		window    int // 0: no bindings are selected
	}{{off, 0, 0}, {on, 0, 50}, {known, 1, 50}, {on, 0, 50}, {"{trust: -1}", 0, 50}, {off, 0, 0}} {
		write(step.placement)
		checkNow()
		checkNow() // the watcher loads a file only if two checks see the same content
		profiles, window := w.config()
		if len(profiles) != step.profiles || window != step.window || w.matches(pod) != (step.window > 0) || w.matches(ofDaemonSet) {
			_, problem := files.watchers[0].problem()
			t.Errorf("step %d, placement %s: %d profiles, window %d, matches: %v, want %+v; it must never match a pod of a DaemonSet (%v)",
				i, step.placement, len(profiles), window, w.matches(pod), step, problem)
		}
	}
}
