package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// Format is the format in which a snapshot is written.
type Format string

const (
	JSON Format = "json"
	YAML Format = "yaml"
)

// Write writes all objects as one v1 List, ordered by kind, namespace and name. It encodes one
// object at a time. Read returns equal Objects.
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
	if err != nil {
		return fmt.Errorf("writing the snapshot: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the snapshot: %w", err)
	}
	return nil
}

// forEach calls f for everything that is written. Usage and PlannerState come last.
func (o *Objects) forEach(f func(any) error) error {
	for _, k := range kinds {
		if err := k.forEach(o, func(x object) error { return f(x) }); err != nil {
			return err
		}
	}
	if o.Usage != nil {
		if err := f(o.Usage); err != nil {
			return err
		}
	}
	if len(o.PlannerState) > 0 {
		return f(json.RawMessage(o.PlannerState))
	}
	return nil
}

func writeJSON(w *bufio.Writer, o *Objects) error {
	meta, err := json.Marshal(o.listAnnotations())
	if err != nil {
		return err
	}
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"List","metadata":{"annotations":%s},"items":[`, meta)
	sep := "\n"
	err = o.forEach(func(x any) error {
		b, err := json.Marshal(x)
		if err != nil {
			return err
		}
		w.WriteString(sep)
		w.Write(b)
		sep = ",\n"
		return nil
	})
	w.WriteString("\n]}\n")
	return err
}

func writeYAML(w *bufio.Writer, o *Objects) error {
	meta, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "List",
		"metadata": map[string]any{"annotations": o.listAnnotations()}})
	if err != nil {
		return err
	}
	w.Write(meta)
	w.WriteString("items:\n")
	return o.forEach(func(x any) error {
		b, err := yaml.Marshal([]any{x})
		if err != nil {
			return err
		}
		w.Write(b)
		return nil
	})
}
