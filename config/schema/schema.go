// Package schema contains the JSON Schema (draft 7) of config.yaml.
//
// Editors and the chart's values.schema.json use the schema. Tests derive its keys, types and defaults from Go types,
// and its descriptions from docs/reference, and compare its enums and ranges with the loader. The package never
// validates a configuration: package config does, and also checks what a schema cannot express.
package schema

import _ "embed"

// Config is the JSON Schema of config.yaml. It contains no references, so that another schema can include it.
//
//go:embed config.json
var Config []byte

// ConfigID is the $id of the schema. No web server answers at this address.
const ConfigID = "https://evenkeel.io/schema/v1alpha1/config.json"
