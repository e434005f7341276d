package main

import (
	"cmp"
	"testing"
)

const aboutKubeconfig = `Commands for a live cluster find it in the same way as kubectl. Each row passes its file with
` + "`--kubeconfig`" + ` to ` + "`evenkeel plan`" + `, unless it names another command.
`

// kubeconfig returns a kubeconfig with the given fields in its cluster entry and in its user entry.
func kubeconfig(cluster, user string) string {
	return "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
		"clusters: [{name: a, cluster: {" + cluster + "}}]\nusers: [{name: a, user: {" + user + "}}]\n"
}

// closedPort is an address without a listener: only privileged programs can listen on port 1.
const closedPort = `server: "https://127.0.0.1:1"`

func kubeconfigRows(*testing.T) []badInput {
	rows := []badInput{
		{input: "an empty file", text: "", want: "evenkeel: finding the cluster: kubeconfig.yaml selects no cluster; check its current-context, contexts and clusters; or set -f FILE to read a snapshot"},
		{input: "broken YAML", text: "a: [", want: `evenkeel: finding the cluster: error loading config file "kubeconfig.yaml": yaml: line 1: did not find expected node content; check --kubeconfig and --context; or set -f FILE to read a snapshot`},
		{input: "not YAML", text: "hello", want: "evenkeel: finding the cluster: kubeconfig.yaml is not a kubeconfig (want kind: Config); check --kubeconfig and --context; or set -f FILE to read a snapshot"},
		{input: "another kind of file", text: "kind: RebalanceConfig", want: "evenkeel: finding the cluster: kubeconfig.yaml is not a kubeconfig (want kind: Config); check --kubeconfig and --context; or set -f FILE to read a snapshot"},
		{input: "a current context that is not in the file", text: "current-context: a", want: `evenkeel: finding the cluster: the kubeconfig has no context "a"; check --kubeconfig and --context; or set -f FILE to read a snapshot`},
		{input: "no current context", text: "contexts: [{name: a, context: {cluster: b}}]", want: "evenkeel: finding the cluster: kubeconfig.yaml selects no cluster; check its current-context, contexts and clusters; or set -f FILE to read a snapshot"},
		{input: "a context whose cluster is not in the file", text: "{current-context: a, contexts: [{name: a, context: {cluster: b}}]}", want: "evenkeel: finding the cluster: kubeconfig.yaml selects no cluster; check its current-context, contexts and clusters; or set -f FILE to read a snapshot"},
		{input: "a server that is not a URL", text: kubeconfig(`server: "::"`, ""), want: `evenkeel: connecting to the API server: parse "http://::": invalid port "::" after host; check the kubeconfig; or set -f FILE to read a snapshot`},
		{input: "a server of an unknown scheme", text: kubeconfig(`server: "ftp://127.0.0.1:1"`, ""), want: `evenkeel: reading the cluster at ftp://127.0.0.1:1: reading the server version: unsupported protocol scheme "ftp"; is this the address of an API server?`},
		{input: "no server", text: kubeconfig(``, ""), want: `evenkeel: finding the cluster: cluster "a" of the kubeconfig has no server; check --kubeconfig and --context; or set -f FILE to read a snapshot`},
		{input: "a certificate authority that does not exist", text: kubeconfig(closedPort+`, certificate-authority: nowhere.crt`, ""), want: "evenkeel: finding the cluster: invalid configuration: unable to read certificate-authority nowhere.crt for a due to open nowhere.crt: no such file or directory; check --kubeconfig and --context; or set -f FILE to read a snapshot"},
		{input: "a certificate authority that is not base64", text: kubeconfig(closedPort+`, certificate-authority-data: "***"`, ""), want: `evenkeel: finding the cluster: error loading config file "kubeconfig.yaml": illegal base64 data at input byte 0; check --kubeconfig and --context; or set -f FILE to read a snapshot`},
		{input: "a certificate authority that is not a certificate", text: kubeconfig(closedPort+`, certificate-authority-data: aGVsbG8=`, ""), want: "evenkeel: connecting to https://127.0.0.1:1: unable to load root certificates: unable to parse bytes as PEM block; check the kubeconfig; or set -f FILE to read a snapshot"},
		{input: "a certificate authority with insecure-skip-tls-verify", text: kubeconfig(closedPort+`, insecure-skip-tls-verify: true, certificate-authority-data: aGVsbG8=`, ""), want: "evenkeel: connecting to https://127.0.0.1:1: specifying a root certificates file with the insecure flag is not allowed; check the kubeconfig; or set -f FILE to read a snapshot"},
		{input: "a client certificate that does not exist", text: kubeconfig(closedPort, `client-certificate: nowhere.crt, client-key: nowhere.key`), want: "evenkeel: finding the cluster: invalid configuration: [unable to read client-cert nowhere.crt for a due to open nowhere.crt: no such file or directory, unable to read client-key nowhere.key for a due to open nowhere.key: no such file or directory]; check --kubeconfig and --context; or set -f FILE to read a snapshot"},
		{input: "an invalid client certificate", text: kubeconfig(closedPort, `client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8=`), want: "evenkeel: connecting to https://127.0.0.1:1: tls: failed to find any PEM data in certificate input; check the kubeconfig; or set -f FILE to read a snapshot"},
		{input: "a token file that does not exist", text: kubeconfig(closedPort, `tokenFile: nowhere`), want: "evenkeel: finding the cluster: a file that the kubeconfig names cannot be read: open nowhere: no such file or directory; check --kubeconfig and --context; or set -f FILE to read a snapshot"},
		{input: "a credential plugin that does not exist", text: kubeconfig(closedPort, `exec: {apiVersion: client.authentication.k8s.io/v1, command: evenkeel-no-such-plugin, interactiveMode: Never}`), want: "evenkeel: reading the cluster at https://127.0.0.1:1: reading the server version: getting credentials: exec: executable evenkeel-no-such-plugin not found; check the user's exec section in the kubeconfig"},
		{input: "a credential plugin that fails", text: kubeconfig(closedPort, `exec: {apiVersion: client.authentication.k8s.io/v1, command: "false", interactiveMode: Never}`), want: "evenkeel: reading the cluster at https://127.0.0.1:1: reading the server version: getting credentials: exec: executable false failed with exit code 1; check the user's exec section in the kubeconfig"},
		{input: "a credential plugin without a version", text: kubeconfig(closedPort, `exec: {command: "true"}`), want: "evenkeel: finding the cluster: invalid configuration: [apiVersion must be specified for a to use exec authentication plugin, interactiveMode must be specified for a to use exec authentication plugin]; check --kubeconfig and --context; or set -f FILE to read a snapshot"},
		{input: "an authentication provider that was removed", text: kubeconfig(closedPort, `auth-provider: {name: gcp}`), want: `evenkeel: connecting to https://127.0.0.1:1: no Auth Provider found for name "gcp"; check the kubeconfig; or set -f FILE to read a snapshot`},
		{input: "a proxy that is not a URL", text: kubeconfig(closedPort+`, proxy-url: "::"`, ""), want: `evenkeel: finding the cluster: invalid configuration: invalid 'proxy-url' "::" for cluster "a": could not parse: ::; check --kubeconfig and --context; or set -f FILE to read a snapshot`},
		{input: "a port where no program listens", text: kubeconfig(closedPort, ""), want: "evenkeel: reading the cluster at https://127.0.0.1:1: reading the server version: dial tcp 127.0.0.1:1: connect: connection refused; is the API server running at this address?"},
	}
	for _, c := range [...][2]string{{"approve x", "nothing was approved"}, {"pause", "evictions are not paused"}, {"trigger zones", "nothing was triggered"}} {
		rows = append(rows, badInput{input: "a port where no program listens, " + c[0], text: kubeconfig(closedPort, ""), args: c[0],
			want: "evenkeel: " + c[1] + ": looking for the release of Evenkeel: dial tcp 127.0.0.1:1: connect: connection refused; is the API server running at this address?"})
	}
	for i := range rows {
		rows[i].files = map[string]string{"kubeconfig.yaml": rows[i].text}
		if len(rows[i].text) > 80 || rows[i].text == "" {
			rows[i].text = ""
		}
		rows[i].args, rows[i].exit = cmp.Or(rows[i].args, "plan")+" --kubeconfig kubeconfig.yaml", 1
	}
	return append(rows, badInput{input: "an unknown context", args: "plan --kubeconfig kubeconfig.yaml --context b",
		files: map[string]string{"kubeconfig.yaml": kubeconfig(closedPort, "")}, want: `evenkeel: finding the cluster: context "b" does not exist; check --kubeconfig and --context; or set -f FILE to read a snapshot`, exit: 1})
}
