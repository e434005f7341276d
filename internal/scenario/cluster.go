package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// defaultTime is the time of the snapshot if cluster.yaml has no takenAt.
const defaultTime = "2026-01-02T00:00:00Z"

// clusterFile is the content of cluster.yaml and of a base.
type clusterFile struct {
	// Base is the name of a file in the folder bases, without its extension.
	Base string `json:"base"`
	// TakenAt is the time of the snapshot, in RFC 3339.
	TakenAt string `json:"takenAt"`
	// Objects change objects of the base or add objects.
	Objects []map[string]any `json:"objects"`
}

// expand returns the objects of a cluster.yaml as a v1 List in JSON. It applies the
// changes, which are entries in YAML, after the entries of the file.
func expand(text []byte, changes []string) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("cluster.yaml: %w", err)
	}
	for _, change := range changes {
		var o map[string]any
		if err := yaml.UnmarshalStrict([]byte(change), &o); err != nil {
			return nil, fmt.Errorf("change %q: %w", change, err)
		}
		d.Objects = append(d.Objects, o)
	}
	objects, err := build(d.Objects)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "List",
		"metadata": map[string]any{"annotations": map[string]string{"evenkeel.io/taken-at": d.TakenAt, "evenkeel.io/server-version": "1.37"}},
		"items":    objects,
	})
}

// parse reads a cluster.yaml or a base. It puts the entries of the base first. It
// returns an error for unknown fields and for a base that does not exist.
func parse(text []byte) (*clusterFile, error) {
	d := &clusterFile{TakenAt: defaultTime}
	if err := yaml.UnmarshalStrict(text, d); err != nil || d.Base == "" {
		return d, err
	}
	text, err := os.ReadFile(filepath.Join(Dir(), "bases", d.Base+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("base %s: %w", d.Base, err)
	}
	base, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("base %s: %w", d.Base, err)
	}
	d.Objects = append(base.Objects, d.Objects...)
	return d, nil
}
