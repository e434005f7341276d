// Package schema contains the JSON Schema (draft 2020-12) of the documents that Evenkeel writes.
//
// The schemas state the fields of a Plan, a RunReport and a Comparison for the programs that read these documents. A
// test compares the schemas with the Go types. The package never validates documents.
package schema

import _ "embed"

// Plan is the JSON Schema of a plan document.
//
//go:embed plan.json
var Plan []byte

// RunReport is the JSON Schema of a run report document. It refers to the schema of Plan by $id, so a validator needs
// both.
//
//go:embed runreport.json
var RunReport []byte

// Comparison is the JSON Schema of a comparison document. It refers to the schema of Plan by $id.
//
//go:embed comparison.json
var Comparison []byte

// PlanID, RunReportID and ComparisonID are the $id of the schemas. No web server answers at these addresses.
const (
	PlanID       = "https://evenkeel.io/schema/v1alpha1/plan.json"
	RunReportID  = "https://evenkeel.io/schema/v1alpha1/runreport.json"
	ComparisonID = "https://evenkeel.io/schema/v1alpha1/comparison.json"
)
