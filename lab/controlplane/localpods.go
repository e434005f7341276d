package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// LocalImage is a part of the names of images whose containers a lab with Options.LocalPods runs as processes.
const LocalImage = "evenkeel"

// Fake is the annotation of pods that kwok simulates also in a lab with Options.LocalPods.
const Fake = "lab.evenkeel.io/fake"

// RunsLocally reports whether kwok leaves a pod to the caller in a lab with Options.LocalPods.
func RunsLocally(pod *corev1.Pod) bool {
	return pod.Annotations[Fake] == "" && slices.ContainsFunc(pod.Spec.Containers, IsLocal)
}

// IsLocal reports whether the lab can run a container as a process.
func IsLocal(c corev1.Container) bool { return strings.Contains(c.Image, LocalImage) }

// localPods is the selector of a kwok stage that matches the pods for which RunsLocally is true.
const localPods = `select((.metadata.annotations["` + Fake + `"] // "") == "") | .spec.containers.[].image | select(contains("` + LocalImage + `"))`

// leaveLocalPods makes the stages for pods ignore the pods that RunsLocally selects.
func leaveLocalPods(stages []byte) ([]byte, error) {
	var out [][]byte
	for _, doc := range bytes.Split(stages, []byte("\n---\n")) {
		var stage struct {
			APIVersion string         `json:"apiVersion"`
			Kind       string         `json:"kind"`
			Metadata   any            `json:"metadata,omitempty"`
			Options    map[string]any `json:"options,omitempty"`
			Spec       map[string]any `json:"spec,omitempty"`
		}
		if err := yaml.UnmarshalStrict(doc, &stage); err != nil {
			return nil, fmt.Errorf("reading the stages of kwok: %w", err)
		}
		if ref, _ := stage.Spec["resourceRef"].(map[string]any); ref["kind"] == "Pod" {
			selector := stage.Spec["selector"].(map[string]any)
			selector["matchExpressions"] = append(selector["matchExpressions"].([]any),
				map[string]any{"key": localPods, "operator": "DoesNotExist"})
		}
		if stage.Kind == "KwokConfiguration" {
			stage.Options["enableDebuggingHandlers"] = true // which serve the logs and the ports
		}
		text, err := yaml.Marshal(stage)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return bytes.Join(out, []byte("\n---\n")), nil
}

// kubeletKinds are the kinds of objects from which kwok serves the logs and the ports of local pods.
var kubeletKinds = []string{"Logs", "PortForward"}

// createKubeletResources creates the CustomResourceDefinitions of kubeletKinds, and waits until the API server serves
// them.
func (c *Cluster) createKubeletResources(ctx context.Context) error {
	for _, kind := range kubeletKinds {
		singular := strings.ToLower(kind)
		plural := strings.TrimSuffix(singular, "s") + "s"
		definition := fmt.Sprintf(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": {"name": "%[1]s.kwok.x-k8s.io"}, "spec": {"group": "kwok.x-k8s.io", "scope": "Namespaced",
			"names": {"kind": "%[2]s", "listKind": "%[2]sList", "plural": "%[1]s", "singular": "%[3]s"},
			"versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
			{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`, plural, kind, singular)
		if err := c.applyDefinition(ctx, []byte(definition)); err != nil {
			return err
		}
	}
	return nil
}
