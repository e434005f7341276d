package config

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Text returns the keys that the file sets as YAML, without comments and without the URLs of notify, which may be
// secrets. It returns "" for a configuration that no file contains.
func (c *Config) Text() string { return c.text }

// textOf writes a document without comments and secrets. It does not change root.
func textOf(root *yaml.Node) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(withoutSecrets(root, false)); err != nil {
		return ""
	}
	return b.String()
}

// withoutSecrets returns a copy of a node without comments. Below notify, it replaces URLs.
func withoutSecrets(n *yaml.Node, notify bool) *yaml.Node {
	out := *n
	out.HeadComment, out.LineComment, out.FootComment, out.Content = "", "", "", nil
	key := ""
	for i, child := range n.Content {
		if n.Kind != yaml.MappingNode {
			out.Content = append(out.Content, withoutSecrets(child, notify))
			continue
		}
		if i%2 == 0 {
			key = child.Value
		}
		c := withoutSecrets(child, notify || key == "notify")
		if i%2 == 1 && notify && key == "url" {
			c.Value = "(left out)"
		}
		out.Content = append(out.Content, c)
	}
	return &out
}
