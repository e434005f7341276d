// Package evenkeel holds the configuration that ships with the program. It
// decides nothing; package config reads it.
package evenkeel

import _ "embed"

// DefaultConfig is config.yaml, comments included.
//
//go:embed config.yaml
var DefaultConfig []byte
