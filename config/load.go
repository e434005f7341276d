// Package config reads config.yaml: strictly, with every mistake at once, each
// with file, line, field and what to write instead.
//
// It decides what a valid configuration is and what applies where it is silent.
// What the values of a package mean is that package's own affair; config hands
// them over.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxBytes bounds the file.
const maxBytes = 1 << 20

// LoadFile reads a file; the error names every mistake in it.
func LoadFile(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	defer f.Close()
	return Read(path, f)
}

// Read reads r to its end; name is used in errors, and files that the configuration
// names are looked for beside it.
func Read(name string, r io.Reader) (*Config, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return Load(name, data)
}

// Load reads a configuration; name is used in errors.
func Load(name string, data []byte) (*Config, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxBytes)
	}
	root, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	c := Default()
	e := &decoder{file: name, nodes: map[string]*yaml.Node{}, hasTypeError: map[string]bool{}}
	e.decode(root, c)
	c.check(e)
	return c, e.err()
}

var errEmpty = errors.New("the file is empty")

func parse(name string, data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w; `evenkeel config default` prints a commented one", name, errEmpty)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", name, describeYAMLError(err))
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more than one document; want one", name)
	}
	root := doc.Content[0]
	if n := findAlias(root); n != nil {
		return nil, fmt.Errorf("%s:%d: aliases are not supported; write the value out", name, n.Line)
	}
	return root, nil
}

// describeYAMLError says what is wrong with YAML as a whole.
func describeYAMLError(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(text, "control characters") || strings.Contains(text, "UTF-8") {
		text += "; is this a text file?"
	}
	return "broken YAML: " + text
}

// findAlias finds the first alias. They are refused: a few lines of them can stand
// for gigabytes.
func findAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, c := range n.Content {
		if a := findAlias(c); a != nil {
			return a
		}
	}
	return nil
}

// decoder collects what is wrong, and where each field stands.
type decoder struct {
	file       string
	errors     []positionedError
	fileErrors []error // from the files that this one names
	nodes      map[string]*yaml.Node
	// hasTypeError are fields with a value of the wrong form: what was checked next is
	// their default, which nobody wrote.
	hasTypeError map[string]bool
}

type positionedError struct {
	line int
	text string
}

// addError records a mistake at a node.
func (e *decoder) addError(n *yaml.Node, path, format string, args ...any) {
	line := 1
	if n != nil {
		line = n.Line
	}
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	e.errors = append(e.errors, positionedError{line, text})
}

// typeError records a value of the wrong form.
func (e *decoder) typeError(n *yaml.Node, path, format string, args ...any) {
	e.addError(n, path, format, args...)
	e.hasTypeError[path] = true
}

// fieldError records a mistake about a field that could be read, or about the nearest
// field above it that is in the file.
func (e *decoder) fieldError(path, format string, args ...any) {
	if e.hasTypeError[path] {
		return
	}
	e.addError(e.nearestNode(path), path, format, args...)
}

func (e *decoder) nearestNode(path string) *yaml.Node {
	for {
		if n := e.nodes[path]; n != nil {
			return n
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return e.nodes[""]
		}
		path = path[:i]
	}
}

func (e *decoder) err() error {
	slices.SortFunc(e.errors, func(a, b positionedError) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
	})
	errs := make([]error, 0, len(e.errors))
	for _, m := range slices.Compact(e.errors) {
		errs = append(errs, fmt.Errorf("%s:%d: %s", e.file, m.line, m.text))
	}
	return errors.Join(append(errs, e.fileErrors...)...)
}
