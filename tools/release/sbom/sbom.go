// Package sbom writes the software bill of materials (SBOM) of the program in the image, as CycloneDX in JSON,
// by what the linker recorded in the program. It uses cyclonedx-gomod, and removes from its output what
// differs between two runs.
package sbom

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// MediaType is the media type of the document.
const MediaType = "application/vnd.cyclonedx+json"

// Module is a module of Go that is beside the program, and not linked into it.
type Module struct{ Path, Version, Description string }

// Of returns the SBOM of a program and of modules beside it. tool is the path of cyclonedx-gomod. version is that
// of the program, and created the time that the document says it was made at.
func Of(ctx context.Context, tool string, program []byte, version string, created time.Time, beside ...Module) ([]byte, error) {
	dir, err := os.MkdirTemp("", "evenkeel-sbom-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "evenkeel")
	if err := os.WriteFile(file, program, 0o700); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tool, "bin", "-json", "-noserial", "-std", "-version", "v"+version, file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cyclonedx-gomod: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return normalize(out, created, beside)
}

// normalize replaces the time of the run and removes the checksums of cyclonedx-gomod itself, which depend on
// this machine. It adds the modules beside the program.
func normalize(document []byte, created time.Time, beside []Module) ([]byte, error) {
	var bom map[string]any
	if err := json.Unmarshal(document, &bom); err != nil {
		return nil, fmt.Errorf("reading the output of cyclonedx-gomod: %w", err)
	}
	metadata, ok := bom["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the output of cyclonedx-gomod has no metadata")
	}
	metadata["timestamp"] = created.UTC().Format(time.RFC3339)
	tools, _ := metadata["tools"].([]any)
	for _, t := range tools {
		if tool, ok := t.(map[string]any); ok {
			delete(tool, "hashes")
		}
	}
	if len(beside) > 0 {
		components, _ := bom["components"].([]any)
		for _, m := range beside {
			url := "pkg:golang/" + m.Path + "@" + m.Version + "?type=module"
			components = append(components, map[string]any{"bom-ref": url, "type": "library", "name": m.Path, "version": m.Version,
				"description": m.Description, "scope": "required", "purl": url})
		}
		bom["components"] = components
	}
	out, err := json.MarshalIndent(bom, "", "  ")
	return append(out, '\n'), err
}
