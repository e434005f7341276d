package main

import (
	"strings"
)

const (
	noPlan = "is not one plan (want the output of `evenkeel plan -o yaml`: apiVersion evenkeel.io/v1alpha1, kind RebalancePlan, with a name; " +
		"a kind Plan is of an earlier version, so make a new plan; for a List, select strategies of one mode with --strategy)"
	// somePlan is the shortest text that apply accepts as a plan.
	somePlan = `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RebalancePlan", "metadata": {"name": "p"}}`
)

// applyRows are invalid command lines of apply, and invalid plan files. The test of the controller covers plans that do
// not match the cluster.
func applyRows() []badInput {
	given := func(name, text string) map[string]string { return map[string]string{name: text} }
	return []badInput{
		{input: "apply without a plan", args: "apply", want: "evenkeel: apply needs one plan file, got 0; make one with `evenkeel plan -o yaml > plan.yaml`", exit: 1},
		{input: "apply with two plans", args: "apply a.json b.json", want: "evenkeel: apply needs one plan file, got 2; make one with `evenkeel plan -o yaml > plan.yaml`", exit: 1},
		{input: "a plan file that does not exist", args: "apply nowhere.json", want: "evenkeel: reading the plan: open nowhere.json: no such file or directory", exit: 1},
		{input: "an empty file name of a plan", args: "apply ''", want: "evenkeel: reading the plan: the file name is empty (use - for standard input)", exit: 1},
		{input: "a directory instead of a plan", args: "apply .", want: "evenkeel: reading the plan: read .: is a directory", exit: 1},
		{input: "a plan file that never ends", args: "apply /dev/zero", want: "evenkeel: reading the plan: /dev/zero is larger than 4 MiB", exit: 1},
		{input: "an empty plan", args: "apply plan.json", files: given("plan.json", ""), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "a truncated plan", args: "apply plan.json", files: given("plan.json", somePlan[:30]), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "a snapshot instead of a plan", args: "apply three-zones.yaml", want: "evenkeel: three-zones.yaml " + noPlan, exit: 1},
		{input: "a plan in table format", args: "apply plan.txt", files: given("plan.txt", "Plan: 2 evictions meet 1 of 1 goals"), want: "evenkeel: plan.txt " + noPlan, exit: 1},
		{input: "a plan of an earlier version of the program", args: "apply plan.json", files: given("plan.json", `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "Plan", "moves": []}`), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "a list of plans", args: "apply plans.yaml", files: given("plans.yaml", "apiVersion: v1\nkind: List\nitems: ["+somePlan+"]\n"), want: "evenkeel: plans.yaml " + noPlan, exit: 1},
		{input: "a plan with an unknown field", args: "apply plan.json", files: given("plan.json", somePlan[:len(somePlan)-1]+`, "spec": {"step": 1}}`), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "a plan of another version", args: "apply plan.json", files: given("plan.json", `{"apiVersion": "evenkeel.io/v9", "kind": "RebalancePlan", "metadata": {"name": "p"}}`), want: "evenkeel: plan.json " + noPlan, exit: 1},
		{input: "a plan with millions of moves", args: "apply -", stdin: `{"spec": {"moves":[{}` + strings.Repeat(",{}", 2<<20) + "]}}", want: "evenkeel: reading the plan: standard input is larger than 4 MiB", exit: 1},
		{input: "a plan from empty standard input", args: "apply -", want: "evenkeel: standard input " + noPlan, exit: 1},
		{input: "an unknown output format of apply", args: "apply plan.json -o pdf", want: `evenkeel: --output: "pdf" is not an output format (want one of table, wide, json, yaml, html, markdown), or name, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE or jsonpath-file=FILE`, exit: 1},
		{input: "apply with a wait of 0s for the report", args: "apply plan.json --wait 0s", want: "evenkeel: --lease-timeout and --wait: want more than 0s", exit: 1},
		{input: "apply with a negative wait for the Lease", args: "apply plan.json --lease-timeout -1s", want: "evenkeel: --lease-timeout and --wait: want more than 0s", exit: 1},
		{input: "apply with an invalid namespace", args: "apply plan.json --lease-namespace My_Space", want: `evenkeel: --lease-namespace: "My_Space" is not a namespace (want lower case letters, digits and dashes)`, exit: 1},
		{input: "apply with a configuration that does not exist", args: "apply plan.json --config nowhere.yaml", files: given("plan.json", somePlan), want: "evenkeel: reading the configuration: open nowhere.yaml: no such file or directory", exit: 1},
		{input: "apply with approvals switched off", args: "apply plan.json --config off.yaml", files: map[string]string{"plan.json": somePlan, "off.yaml": configHead + "approvals: {enabled: false}\n"}, want: "evenkeel: nothing was evicted: approvals.enabled is false in the configuration, so no saved plan is executed", exit: 1},
		{input: "apply without a cluster", args: "apply plan.json", files: given("plan.json", somePlan), want: "evenkeel: finding the cluster: no kubeconfig was found, and this is not a pod; set --kubeconfig or KUBECONFIG", exit: 1},
	}
}
