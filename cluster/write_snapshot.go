package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"sigs.k8s.io/yaml"
)

// Format is the format in which a snapshot is written.
type Format string

const (
	JSON Format = "json"
	YAML Format = "yaml"
)

// Write writes all objects as one v1 List, ordered by kind, namespace and name. It encodes one
// object at a time. Read restores equal Objects.
func Write(w io.Writer, o *Objects, f Format) error {
	out := bufio.NewWriter(w)
	var err error
	switch f {
	case JSON:
		err = writeJSON(out, o)
	case YAML:
		err = writeYAML(out, o)
	default:
		err = fmt.Errorf("unknown format %q (want json or yaml)", f)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing the snapshot: %w", err)
	}
	return nil
}

// all iterates over everything that Write writes. Usage and PlannerState come last.
func (o *Objects) all() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, k := range kinds {
			for x := range k.all(o) {
				if !yield(x) {
					return
				}
			}
		}
		if o.Usage != nil && !yield(o.Usage) {
			return
		}
		if len(o.PlannerState) > 0 {
			yield(json.RawMessage(o.PlannerState))
		}
	}
}

func writeJSON(w *bufio.Writer, o *Objects) error {
	meta, err := json.Marshal(o.listAnnotations())
	if err != nil {
		return err
	}
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"List","metadata":{"annotations":%s},"items":[`, meta)
	separator := "\n"
	for x := range o.all() {
		b, err := json.Marshal(x)
		if err != nil {
			return err
		}
		w.WriteString(separator)
		w.Write(b)
		separator = ",\n"
	}
	w.WriteString("\n]}\n")
	return nil
}

func writeYAML(w *bufio.Writer, o *Objects) error {
	meta, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "List",
		"metadata": map[string]any{"annotations": o.listAnnotations()}})
	if err != nil {
		return err
	}
	w.Write(meta)
	w.WriteString("items:\n")
	for x := range o.all() {
		b, err := yaml.Marshal([]any{x})
		if err != nil {
			return err
		}
		w.Write(b)
	}
	return nil
}
