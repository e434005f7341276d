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

// Of returns the SBOM of a program. tool is the path of cyclonedx-gomod. version is that of the program, and
// created the time that the document says it was made at.
func Of(ctx context.Context, tool string, program []byte, version string, created time.Time) ([]byte, error) {
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
	return normalize(out, created)
}

// normalize replaces the time of the run and removes the checksums of cyclonedx-gomod itself, which depend on
// this machine.
func normalize(document []byte, created time.Time) ([]byte, error) {
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
	out, err := json.MarshalIndent(bom, "", "  ")
	return append(out, '\n'), err
}
