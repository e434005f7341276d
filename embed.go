// Package evenkeel embeds the default configuration file, the presets, the page about reason codes, and the definitions
// of the Kubernetes objects of evenkeel.io. Package config parses the file.
package evenkeel

import (
	"bytes"
	"embed"
)

// DefaultConfig is the text of config.yaml, with its comments.
//
//go:embed config.yaml
var DefaultConfig []byte

// Presets is the text of the presets: strategies by the name of the preset and their own.
//
//go:embed charts/evenkeel/files/presets.yaml
var Presets []byte

// ReasonsPage is the text of docs/reference/reasons.md, which explains every reason code.
//
//go:embed docs/reference/reasons.md
var ReasonsPage string

//go:embed charts/evenkeel/files/crds/*.yaml
var crdFiles embed.FS

// CustomResourceDefinitions returns the CustomResourceDefinitions of package api/v1alpha1 as YAML documents, which
// `make crds` writes.
func CustomResourceDefinitions() []byte {
	const dir = "charts/evenkeel/files/crds"
	var all bytes.Buffer
	entries, err := crdFiles.ReadDir(dir)
	for _, e := range entries {
		var text []byte
		if text, err = crdFiles.ReadFile(dir + "/" + e.Name()); err != nil {
			break
		}
		all.Write(text)
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all.Bytes()
}
