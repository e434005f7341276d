package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Print returns the whole configuration as a config.yaml without presets: Strategies has their strategies.
func (c *Config) Print() ([]byte, error) {
	whole := *c
	whole.Preset = Presets{}
	text, err := json.Marshal(&whole)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	var doc yaml.Node // JSON is YAML; a node keeps the order of the keys
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	plainStyle(&doc)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err = e.Encode(&doc)
	return out.Bytes(), err
}

// plainStyle removes the brackets and quotes of JSON below n.
func plainStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		plainStyle(child)
	}
}
