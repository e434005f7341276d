// Package schema holds the JSON Schema (draft 2020-12) of the documents that
// Evenkeel writes.
//
// It decides nothing: it states which fields a Plan and a RunReport have, so
// that programs which read them can rely on it. A test holds the schemas to the
// Go types. It never validates by itself.
package schema

import _ "embed"

// Plan is the JSON Schema of a plan document.
//
//go:embed plan.json
var Plan []byte

// RunReport is the JSON Schema of a run report document. It refers to the
// schema of Plan by its $id: give a validator both.
//
//go:embed runreport.json
var RunReport []byte

// The $id of the two schemas. They name the schemas; nothing is served there.
const (
	PlanID      = "https://evenkeel.io/schema/v1alpha1/plan.json"
	RunReportID = "https://evenkeel.io/schema/v1alpha1/runreport.json"
)
