package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// InstallDefinitions creates or updates the CustomResourceDefinitions that the program prints, and waits until the API
// server serves them.
func (c *Cluster) InstallDefinitions(ctx context.Context, program string) error {
	text, err := exec.CommandContext(ctx, program, "crds").Output()
	if err != nil {
		return fmt.Errorf("running %s crds: %w", program, err)
	}
	for doc := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte("---\n")), []byte("\n---\n")) {
		if err := c.applyDefinition(ctx, doc); err != nil {
			return err
		}
	}
	return nil
}

// applyDefinition creates or updates a CustomResourceDefinition, in YAML, and waits until the API server serves it.
func (c *Cluster) applyDefinition(ctx context.Context, text []byte) error {
	var d struct {
		Metadata struct{ Name string }
		Spec     struct {
			Group    string
			Names    struct{ Plural string }
			Versions []struct{ Name string }
		}
	}
	if err := yaml.Unmarshal(text, &d); err != nil || len(d.Spec.Versions) == 0 {
		return fmt.Errorf("reading a CustomResourceDefinition: %w\n%s", err, text)
	}
	api := c.Client.Discovery().RESTClient()
	if err := api.Patch(types.ApplyYAMLPatchType).AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", d.Metadata.Name).
		Param("fieldManager", "lab").Param("force", "true").Body(text).Do(ctx).Error(); err != nil {
		return fmt.Errorf("applying the CustomResourceDefinition %s: %w", d.Metadata.Name, err)
	}
	if err := c.pollUntil(ctx, time.Minute, func() error {
		return api.Get().AbsPath("/apis", d.Spec.Group, d.Spec.Versions[0].Name, d.Spec.Names.Plural).Do(ctx).Error()
	}); err != nil {
		return fmt.Errorf("waiting for the API of %s: %w", d.Metadata.Name, err)
	}
	return nil
}
