package descheduler

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// document is a decoded file. Paths in errors are those of the file.
type document struct {
	name string
	kind string // of the whole file, as it is written
	d    *strict.Decoder
	// policyPath is the path of the policy in the file, with a dot at the end, or empty.
	policyPath string
	policy     *policy
	old        *oldPolicy                 // instead of policy: the format v1alpha1
	values     map[string]json.RawMessage // of the chart, or nil
}

const (
	groupPrefix = "descheduler/"
	newVersion  = groupPrefix + "v1alpha2"
	oldVersion  = groupPrefix + "v1alpha1"
)

// readDocument decodes a policy, a ConfigMap with a policy, or values of the chart.
func readDocument(data []byte, o Options) (*document, error) {
	doc := &document{name: cmp.Or(o.File, "policy.yaml")}
	root, err := parse(doc.name, data)
	if errors.Is(err, strict.ErrEmpty) {
		return nil, fmt.Errorf("%w; want a DeschedulerPolicy, or the values of the descheduler's chart", err)
	}
	if err != nil {
		return nil, err
	}
	if values := nestedValues(root); values != nil {
		root = values
	}
	doc.d = strict.New(doc.name, strict.Options{Float: "a percentage", Percentages: true})
	version := textAt(root, "apiVersion")
	doc.kind = textAt(root, "kind")
	switch kind := doc.kind; {
	case version == "v1" && kind == "ConfigMap":
		return readConfigMap(root, doc.name, o)
	case strings.HasPrefix(version, groupPrefix) && kind != "" && kind != "DeschedulerPolicy":
		err = fmt.Errorf("%s: a %s of %s cannot be converted (want a DeschedulerPolicy)", doc.name, kind, version)
	case kind == "KubeDescheduler":
		err = fmt.Errorf("%s: this is a %s of OpenShift's operator, which makes the policy; convert its ConfigMap: "+
			"oc get configmap cluster -n openshift-kube-descheduler-operator -o yaml", doc.name, kind)
	case strings.HasPrefix(version, groupPrefix) || kind == "DeschedulerPolicy":
		err = doc.readPolicy(root, version)
	case isChartValues(root):
		err = doc.readValues(root)
	default:
		err = fmt.Errorf("%s: neither a DeschedulerPolicy nor the values of the descheduler's chart (want apiVersion: %s, or the key deschedulerPolicy)",
			doc.name, newVersion)
	}
	return doc, err
}

// Is reports whether data looks like a file that Convert reads.
func Is(data []byte) bool {
	root, err := parse("", data)
	if err != nil {
		return false
	}
	if nestedValues(root) != nil || textAt(root, "kind") == "KubeDescheduler" {
		return true
	}
	if textAt(root, "apiVersion") == "v1" && textAt(root, "kind") == "ConfigMap" {
		_, text := policyInConfigMap(root)
		return text != ""
	}
	return strings.HasPrefix(textAt(root, "apiVersion"), groupPrefix) || textAt(root, "kind") == "DeschedulerPolicy" || isChartValues(root)
}

// readPolicy decodes a file that is a policy.
func (doc *document) readPolicy(root *yaml.Node, version string) error {
	if err := doc.setVersion(version, root); err != nil {
		return err
	}
	if doc.old != nil {
		doc.d.Decode(root, doc.old)
	} else {
		doc.d.Decode(root, doc.policy)
	}
	return nil
}

// setVersion chooses the format of the policy at n.
func (doc *document) setVersion(version string, n *yaml.Node) error {
	_, hasStrategies := child(n, "strategies")
	switch {
	case version == oldVersion, version == "" && hasStrategies:
		doc.old = &oldPolicy{}
	case version == newVersion, version == "":
		doc.policy = &policy{}
	default:
		return fmt.Errorf("%s: apiVersion %s of a DeschedulerPolicy is unknown (want %s or %s)", doc.name, version, newVersion, oldVersion)
	}
	return nil
}

// readConfigMap decodes the policy in a ConfigMap.
func readConfigMap(root *yaml.Node, name string, o Options) (*document, error) {
	key, text := policyInConfigMap(root)
	if text == "" {
		return nil, fmt.Errorf("%s: the ConfigMap has no key policy.yaml in data", name)
	}
	o.File = name + " (data of " + key + ")"
	return readDocument([]byte(text), o)
}

// policyInConfigMap returns the first value in data that is a policy, with its key, or "".
func policyInConfigMap(root *yaml.Node) (key, text string) {
	data, ok := child(root, "data")
	if !ok || data.Kind != yaml.MappingNode {
		return "", ""
	}
	for i := 1; i < len(data.Content); i += 2 {
		if text := data.Content[i].Value; strings.Contains(text, groupPrefix) || strings.Contains(text, "DeschedulerPolicy") {
			return data.Content[i-1].Value, text
		}
	}
	return "", ""
}

// parse parses the document of a file. Of several documents, it takes the only one that contains values of the chart,
// as in a file with a HelmRelease and its source.
func parse(name string, data []byte) (*yaml.Node, error) {
	root, err := strict.Parse(name, data)
	if !errors.Is(err, strict.ErrSeveral) {
		return root, err
	}
	var found []*yaml.Node
	for d, line := yaml.NewDecoder(bytes.NewReader(data)), new(yaml.Node); d.Decode(line) == nil; line = new(yaml.Node) {
		if len(line.Content) > 0 && nestedValues(line.Content[0]) != nil {
			found = append(found, line.Content[0])
		}
	}
	if len(found) != 1 {
		return nil, err
	}
	return found[0], nil
}

// nestedValues returns the values of the chart inside another object: spec.values of a HelmRelease, the values of an
// Argo CD Application, as keys or as text, or the values of a chart that depends on the descheduler's. It returns nil
// if there are none, or if n itself contains them.
func nestedValues(n *yaml.Node) *yaml.Node {
	if _, ok := child(n, "deschedulerPolicy"); ok {
		return nil
	}
	for _, c := range n.Content {
		if c.Kind == yaml.ScalarNode && strings.Contains(c.Value, "deschedulerPolicy:") {
			if text, err := strict.Parse("", []byte(c.Value)); err == nil {
				c = text
			}
		}
		if _, ok := child(c, "deschedulerPolicy"); ok {
			return c
		}
		if below := nestedValues(c); below != nil {
			return below
		}
	}
	return nil
}

// child returns the value of a key of a mapping.
func child(n *yaml.Node, key string) (*yaml.Node, bool) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1], true
		}
	}
	return nil, false
}

// textAt returns the text of a key of a mapping, or "".
func textAt(n *yaml.Node, key string) string {
	if v, ok := child(n, key); ok && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}
