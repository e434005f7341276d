package main

const (
	noPlan = "is no plan (want what `evenkeel plan -o json` prints: apiVersion evenkeel.io/v1alpha1, kind Plan)"
	// somePlan is enough of one to be looked at further.
	somePlan = `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "Plan"}`
)

// applyRows are what is wrong with a command line of apply, or with its file. What
// may be wrong with a plan as such is found out at the cluster.
func applyRows() []badInput {
	given := func(name, text string) map[string]string { return map[string]string{name: text} }
	return []badInput{
		{input: "apply without a plan", args: "apply", want: "evenkeel: which plan? want one file, got 0; make one with `evenkeel plan -o json > plan.json`", exit: 1},
		{input: "apply with two plans", args: "apply a.json b.json", want: "evenkeel: which plan? want one file, got 2; make one with `evenkeel plan -o json > plan.json`", exit: 1},
		{input: "a plan that is not there", args: "apply nowhere.json", want: "evenkeel: reading the plan: open nowhere.json: no such file or directory", exit: 1},
		{input: "an empty name of a plan", args: "apply ''", want: "evenkeel: reading the plan: the name of the file is empty (-: standard input)", exit: 1},
		{input: "a directory for a plan", args: "apply .", want: "evenkeel: reading .: is a directory", exit: 1},
		{input: "a plan without an end", args: "apply /dev/zero", want: "evenkeel: reading /dev/zero: it is larger than 64 MiB, and no plan", exit: 1},
		{input: "an empty plan", args: "apply plan.json", files: given("plan.json", ""), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "a plan that is cut off", args: "apply plan.json", files: given("plan.json", somePlan[:30]), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "a snapshot for a plan", args: "apply three-zones.yaml", want: "evenkeel: three-zones.yaml " + noPlan, exit: 1},
		{input: "a plan as a table", args: "apply plan.txt", files: given("plan.txt", "Plan: 2 evictions meet 1 of 1 goals"), want: "evenkeel: plan.txt " + noPlan, exit: 1},
		{input: "a report for a plan", args: "apply report.json", files: given("report.json", `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RunReport"}`), want: "evenkeel: report.json " + noPlan, exit: 1},
		{input: "a plan of another version", args: "apply plan.json", files: given("plan.json", `{"apiVersion": "evenkeel.io/v9", "kind": "Plan"}`), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "nothing on standard input for a plan", args: "apply -", want: "evenkeel: standard input " + noPlan, exit: 1},
		{input: "an unknown output format of apply", args: "apply plan.json -o html", want: `evenkeel: --output: "html" is not an output format (want one of table, wide, json, yaml)`, exit: 1},
		{input: "apply waits no time for a report", args: "apply plan.json --wait 0s", want: "evenkeel: --lease-timeout and --wait: want more than 0s", exit: 1},
		{input: "apply waits a negative time for the Lease", args: "apply plan.json --lease-timeout -1s", want: "evenkeel: --lease-timeout and --wait: want more than 0s", exit: 1},
		{input: "apply in a namespace that cannot be one", args: "apply plan.json --lease-namespace My_Space", want: `evenkeel: --lease-namespace: "My_Space" is not a namespace (want lower case letters, digits and dashes)`, exit: 1},
		{input: "apply with a configuration that is not there", args: "apply plan.json --config nowhere.yaml", files: given("plan.json", somePlan), want: "evenkeel: reading the configuration: open nowhere.yaml: no such file or directory", exit: 1},
		{input: "apply without a cluster", args: "apply plan.json", files: given("plan.json", somePlan), want: "evenkeel: finding the cluster: no kubeconfig says where it is, and this is not a pod; give --kubeconfig, or set KUBECONFIG", exit: 1},
	}
}
