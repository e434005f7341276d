package descheduler

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/config/convert"
)

// chartKeys are keys by which the values of the descheduler's chart are recognized.
var chartKeys = []string{"deschedulerPolicy", "deschedulingInterval", "deschedulerPolicyAPIVersion", "cronJobApiVersion"}

// isChartValues reports whether the document contains values of the descheduler's chart.
func isChartValues(root *yaml.Node) bool {
	return slices.ContainsFunc(chartKeys, func(key string) bool { _, ok := child(root, key); return ok })
}

// readValues decodes the values of the chart, and the policy in them.
func (doc *document) readValues(root *yaml.Node) error {
	doc.values = map[string]json.RawMessage{}
	doc.d.Decode(root, &doc.values)
	doc.policyPath = "deschedulerPolicy."
	n, ok := child(root, "deschedulerPolicy")
	_, hasProfiles := child(n, "profiles")
	_, hasStrategies := child(n, "strategies")
	if !ok || !hasProfiles && !hasStrategies {
		return fmt.Errorf("%s: deschedulerPolicy.profiles is missing, so the default of the chart counts; "+
			"write all values to the file: helm get values RELEASE --all -o yaml", doc.name)
	}
	version := textAt(root, "deschedulerPolicyAPIVersion")
	if err := doc.setVersion(version, n); err != nil {
		return err
	}
	if doc.old != nil {
		doc.d.DecodeAt("deschedulerPolicy", doc.old)
	} else {
		doc.d.DecodeAt("deschedulerPolicy", doc.policy)
	}
	return nil
}

// valuesText returns values of Evenkeel's chart, and the comments about values of the descheduler's chart in them.
func valuesText(c *conversion) (text string, notes []Note) {
	config, w := &writer{c: c}, &writer{c: c}
	config.writeConfig()
	w.printf(header, baseName(c.doc.name))
	if c.doc.values != nil {
		w.writeChartValues()
	}
	w.writeTokenVolume()
	return w.out.String() + convert.ChartValues(config.out.String()), w.chartNotes
}

// writeTokenVolume mounts the secret with the token for Prometheus.
func (w *writer) writeTokenVolume() {
	if s := w.c.load.server; s != nil && s.AuthToken != nil {
		w.printf("extraVolumes:\n- name: prometheus-token\n  secret: {secretName: %s}\n", quote(s.AuthToken.SecretReference.Name))
		w.printf("extraVolumeMounts:\n- {name: prometheus-token, mountPath: %s, readOnly: true}\n", tokenDirectory)
	}
}
