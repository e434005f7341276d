package main

import "testing"

const aboutFlags = `A command line that makes no sense is refused before anything is read.
`

func flagRows(*testing.T) []badInput {
	return []badInput{
		{input: "an unknown command", args: "rebalance", want: `evenkeel: unknown command "evenkeel rebalance"; see evenkeel --help`, exit: 1},
		{input: "a misspelled command", args: "plna", want: `evenkeel: unknown command "evenkeel plna" (did you mean plan?); see evenkeel --help`, exit: 1},
		{input: "an unknown flag", args: "plan --dry-run", want: "evenkeel: unknown flag: --dry-run; see evenkeel plan --help", exit: 1},
		{input: "an unknown short flag", args: "plan -q", want: "evenkeel: unknown shorthand flag: 'q' in -q; see evenkeel plan --help", exit: 1},
		{input: "a flag without its value", args: "plan -f", want: "evenkeel: flag needs an argument: 'f' in -f; see evenkeel plan --help", exit: 1},
		{input: "a value where none belongs", args: "plan -f three-zones.yaml extra", want: `evenkeel: "extra" is one word too many: evenkeel plan takes flags only; see evenkeel plan --help`, exit: 1},
		{input: "an unknown output format", args: "plan -f three-zones.yaml -o html", want: `evenkeel: --output: "html" is not an output format (want one of table, wide, json, yaml)`, exit: 1},
		{input: "an empty output format", args: "plan -f three-zones.yaml -o ''", want: `evenkeel: --output: "" is not an output format (want one of table, wide, json, yaml)`, exit: 1},
		{input: "an unknown strategy", args: "plan -f three-zones.yaml --strategy spread", want: `evenkeel: --strategy "spread": the configuration has no strategy of that name (it has: zones, hot-nodes)`, exit: 1},
		{input: "an empty strategy", args: "plan -f three-zones.yaml --strategy ,", want: `evenkeel: --strategy "": the configuration has no strategy of that name (it has: zones, hot-nodes)`, exit: 1},
		{input: "a switch that is neither on nor off", args: "plan -f three-zones.yaml --detailed-exitcode=3", want: `evenkeel: invalid argument "3" for "--detailed-exitcode" flag: want true or false; see evenkeel plan --help`, exit: 1},
		{input: "a configuration that is not there", args: "plan -f three-zones.yaml --config nowhere.yaml", want: "evenkeel: reading the configuration: open nowhere.yaml: no such file or directory", exit: 1},
		{input: "a directory as configuration", args: "plan -f three-zones.yaml --config .", want: "evenkeel: reading the configuration: read .: is a directory", exit: 1},
		{input: "a snapshot that is not there", args: "plan -f nowhere.yaml", want: "evenkeel: reading the snapshot: stat nowhere.yaml: no such file or directory", exit: 1},
		{input: "an empty name of a snapshot", args: "plan -f ''", want: "evenkeel: reading the snapshot: the name of the file is empty (-: standard input)", exit: 1},
		{input: "the second of two snapshots is not there", args: "plan -f three-zones.yaml -f nowhere.yaml", want: "evenkeel: reading the snapshot: stat nowhere.yaml: no such file or directory", exit: 1},
		{input: "a snapshot below a file", args: "plan -f three-zones.yaml/pods", want: "evenkeel: reading the snapshot: stat three-zones.yaml/pods: not a directory", exit: 1},
		{input: "the input is to be saved where no directory is", args: "plan -f three-zones.yaml --save-input nowhere/saved.json", want: "evenkeel: writing nowhere/saved.json: no such file or directory", exit: 1},
		{input: "the input is to be saved over a directory", args: "plan -f three-zones.yaml --save-input directory", files: map[string]string{"directory/file": ""}, want: "evenkeel: writing directory: file exists", exit: 1},
		{input: "no cluster and no snapshot", args: "plan", want: "evenkeel: finding the cluster: no kubeconfig says where it is, and this is not a pod; give --kubeconfig, or -f FILE to plan on a snapshot", exit: 1},
		{input: "a value for run", args: "run zones", want: `evenkeel: "zones" is one word too many: evenkeel run takes flags only; see evenkeel run --help`, exit: 1},
		{input: "--strategy without --once", args: "run --strategy zones", want: "evenkeel: --strategy goes with --once; without it every strategy runs on its schedule", exit: 1},
		{input: "an unknown strategy for one pass", args: "run --once --strategy spread", want: `evenkeel: --strategy "spread": the configuration has no strategy of that name (it has: zones, hot-nodes)`, exit: 1},
		{input: "an unknown output format for a pass", args: "run --once -o markdown", want: `evenkeel: --output: "markdown" is not an output format (want one of table, wide, json, yaml)`, exit: 1},
		{input: "a time without a unit", args: "run --once --lease-timeout 5", want: `evenkeel: invalid argument "5" for "--lease-timeout" flag: time: missing unit in duration "5"; see evenkeel run --help`, exit: 1},
		{input: "a time that is none", args: "run --once --lease-timeout soon", want: `evenkeel: invalid argument "soon" for "--lease-timeout" flag: time: invalid duration "soon"; see evenkeel run --help`, exit: 1},
		{input: "a negative time", args: "run --once --lease-timeout -5s", want: "evenkeel: --lease-timeout: -5s is no time to wait (want more than 0s)", exit: 1},
		{input: "a namespace that cannot be one", args: "run --once --lease-namespace My_Space", want: `evenkeel: --lease-namespace: "My_Space" is not a namespace: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`, exit: 1},
		{input: "one pass without a cluster", args: "run --once", want: "evenkeel: finding the cluster: no kubeconfig says where it is, and this is not a pod; give --kubeconfig, or -f FILE to plan on a snapshot", exit: 1},
		{input: "an address without a port", args: "run --bind-address nowhere", want: "evenkeel: finding the cluster: no kubeconfig says where it is, and this is not a pod; give --kubeconfig, or -f FILE to plan on a snapshot", exit: 1},
		{input: "a capture without a cluster", args: "capture", want: "evenkeel: finding the cluster: no kubeconfig says where it is, and this is not a pod; give --kubeconfig, or -f FILE to plan on a snapshot", exit: 1},
		{input: "a value for capture", args: "capture snapshot.yaml", want: `evenkeel: "snapshot.yaml" is one word too many: evenkeel capture takes flags only; see evenkeel capture --help`, exit: 1},
		{input: "an unknown flag of capture", args: "capture --confidential", want: "evenkeel: unknown flag: --confidential; see evenkeel capture --help", exit: 1},
		{input: "config check without a file", args: "config check", want: "evenkeel: evenkeel config check reads one file, not 0: evenkeel config check FILE [flags]", exit: 1},
		{input: "config check with two files", args: "config check a.yaml b.yaml", want: "evenkeel: evenkeel config check reads one file, not 2: evenkeel config check FILE [flags]", exit: 1},
		{input: "config check of a file that is not there", args: "config check nowhere.yaml", want: "evenkeel: reading the configuration: open nowhere.yaml: no such file or directory", exit: 1},
		{input: "config check of a directory", args: "config check .", want: "evenkeel: reading the configuration: read .: is a directory", exit: 1},
		{input: "an unknown command of config", args: "config chekc", want: `evenkeel: unknown command "evenkeel config chekc" (did you mean check?); see evenkeel config --help`, exit: 1},
		{input: "a value for config default", args: "config default zones", want: `evenkeel: "zones" is one word too many: evenkeel config default takes flags only; see evenkeel config default --help`, exit: 1},
		{input: "a value for version", args: "version 1", want: `evenkeel: "1" is one word too many: evenkeel version takes flags only; see evenkeel version --help`, exit: 1},
		{input: "a kubeconfig that is not there", args: "plan --kubeconfig nowhere.yaml", want: "evenkeel: finding the cluster: stat nowhere.yaml: no such file or directory; check --kubeconfig and --context, or give -f FILE to plan on a snapshot", exit: 1},
		{input: "a kubeconfig that is a directory", args: "plan --kubeconfig .", want: `evenkeel: finding the cluster: error loading config file ".": read .: is a directory; check --kubeconfig and --context, or give -f FILE to plan on a snapshot`, exit: 1},
	}
}
