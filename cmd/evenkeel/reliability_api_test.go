package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const aboutAPI = `An API server, or a program in its place, may give any answer. Each row runs ` + "`evenkeel run --once`" + ` with a
configuration that evicts, against a cluster where it would evict pods if all answers were valid. The
server receives no eviction. Errors that may be temporary are retried for up to 30 seconds.
`

const (
	onePass = "run --once --config evict.yaml --kubeconfig kubeconfig.yaml --lease-timeout 10s"
	noLease = "run --once --config evict.yaml --kubeconfig kubeconfig.yaml --lease-timeout 3s"
)

// faultAtPath returns a server fault: h answers the requests for path. If path ends in a slash, h also answers
// requests for all paths below.
func faultAtPath(path string, h http.HandlerFunc) *serverFault {
	return &serverFault{paths: map[string]http.HandlerFunc{path: h}}
}

const (
	pods       = "/api/v1/pods"
	nodes      = "/api/v1/nodes"
	budgets    = "/apis/policy/v1/poddisruptionbudgets"
	priorities = "/apis/scheduling.k8s.io/v1/priorityclasses"
	kubeSystem = "/api/v1/namespaces/kube-system"
	leases     = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	loginPage  = "<!DOCTYPE html><html><body>Please log in</body></html>"
)

func apiRows(*testing.T) []badInput {
	rows := append(versionRows(), listRows()...)
	rows = append(rows, leaseRows()...)
	rows = append(rows, connectionRows()...)
	rows = append(rows, otherCommandRows()...)
	rows = append(rows, pauseRows()...)
	for i := range rows {
		rows[i].exit = 1
		if rows[i].args == "" {
			rows[i].args = onePass
		}
	}
	return rows
}

// versionRows are faults of the first request, which reads the server version.
func versionRows() []badInput {
	const path = "/version"
	return []badInput{
		{input: "version: 401", server: faultAtPath(path, respondStatus(401, "Unauthorized", "Unauthorized")), want: "evenkeel: reading the cluster at http://SERVER: the API server rejects the credentials (401 to get /version); is the token or certificate still valid?"},
		{input: "version: 403", server: faultAtPath(path, respondStatus(403, "Forbidden", "forbidden: User \"a\" cannot get path \"/version\"")), want: "evenkeel: reading the cluster at http://SERVER: permission to get /version is missing; grant it to this account: the server gives no reason"},
		{input: "version: 404, as a web server sends", server: faultAtPath(path, respondText(404, "text/html", "<h1>Not Found</h1>")), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is 404: <h1>Not Found</h1>"},
		{input: "version: 500", server: faultAtPath(path, respondStatus(500, "InternalError", "etcd is down")), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is 500: InternalError"},
		{input: "version: 503 from a proxy", server: faultAtPath(path, respondText(503, "text/plain", "no healthy upstream")), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is 503: no healthy upstream"},
		{input: "version: a login page", server: faultAtPath(path, respondText(200, "text/html", loginPage)), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is not a version: invalid character '<' looking for beginning of value; is this the address of an API server?"},
		{input: "version: an empty answer", server: faultAtPath(path, respondText(200, "application/json", "")), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is not a version: unexpected end of JSON input; is this the address of an API server?"},
		{input: "version: truncated JSON", server: faultAtPath(path, respondText(200, "application/json", `{"major": "1", "mi`)), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is not a version: unexpected end of JSON input; is this the address of an API server?"},
		{input: "version: JSON with a list", server: faultAtPath(path, respondText(200, "application/json", `["1", "37"]`)), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is not a version; is this the address of an API server?"},
		{input: "version: numbers instead of strings", server: faultAtPath(path, respondText(200, "application/json", `{"major": 1, "minor": 37}`)), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is not a version; is this the address of an API server?"},
		{input: "version: neither major nor minor", server: faultAtPath(path, respondText(200, "application/json", `{}`)), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: major or minor is missing in the answer; is this the address of an API server?"},
		{input: "version: not a number", server: faultAtPath(path, respondText(200, "application/json", `{"major": "one", "minor": "latest"}`)), want: `evenkeel: nothing was evicted: indexing the cluster: server version "one.latest" is not major.minor, such as 1.37`},
		{input: "version: a redirect to itself", server: faultAtPath(path, http.RedirectHandler(path, http.StatusFound).ServeHTTP), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: stopped after 10 redirects; is this the address of an API server?"},
		{input: "version: no answer", server: faultAtPath(path, neverAnswer), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: no answer in time; is the API server overloaded, or the network interrupted?"},
		{input: "version: the connection is closed", server: faultAtPath(path, closeConnection), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: no answer in time; is the API server overloaded, or the network interrupted?"},
		{input: "version: half an answer", server: faultAtPath(path, sendHalfAnswer), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is truncated; did a proxy or the network close the connection?"},
		{input: "all requests: 401", server: faultAtPath("/", respondStatus(401, "Unauthorized", "Unauthorized")), want: "evenkeel: reading the cluster at http://SERVER: the API server rejects the credentials (401 to get /version); is the token or certificate still valid?"},
		{input: "all requests: a login page", server: faultAtPath("/", respondText(200, "text/html", loginPage)), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is not a version: invalid character '<' looking for beginning of value; is this the address of an API server?"},
		{input: "namespace kube-system: 403", server: faultAtPath(kubeSystem, respondStatus(403, "Forbidden", "namespaces \"kube-system\" is forbidden")), want: `evenkeel: reading the cluster at http://SERVER: permission to get namespaces is missing; grant it to this account: namespaces "kube-system" is forbidden`},
		{input: "namespace kube-system: 404", server: faultAtPath(kubeSystem, respondStatus(404, "NotFound", "namespaces \"kube-system\" not found")), want: `evenkeel: reading the cluster at http://SERVER: asking for namespaces: the answer is 404: namespaces "kube-system" not found`},
		{input: "namespace kube-system: a login page", server: faultAtPath(kubeSystem, respondText(200, "text/html", loginPage)), want: "evenkeel: reading the cluster at http://SERVER: asking for namespaces: the answer is text/html, a format that no API server sends; does a proxy or another server answer instead of the API server?"},
		{input: "namespace kube-system: no answer", server: faultAtPath(kubeSystem, neverAnswer), want: "evenkeel: reading the cluster at http://SERVER: asking for namespaces: no answer in time; is the API server overloaded, or the network interrupted?"},
	}
}

// listRows are faults while the program reads the cluster.
func listRows() []badInput {
	return []badInput{
		{input: "pods: 401", server: faultAtPath(pods, respondStatus(401, "Unauthorized", "Unauthorized")), want: "evenkeel: reading the cluster at http://SERVER: the API server rejects the credentials (401 to list and watch pods); is the token or certificate still valid?"},
		{input: "pods: 403", server: faultAtPath(pods, respondStatus(403, "Forbidden", "pods is forbidden: User \"a\" cannot list resource \"pods\"")), want: `evenkeel: reading the cluster at http://SERVER: permission to list and watch pods is missing; grant it to this account: pods is forbidden: User "a" cannot list resource "pods"`},
		{input: "nodes: 403", server: faultAtPath(nodes, respondStatus(403, "Forbidden", "nodes is forbidden: User \"a\" cannot list resource \"nodes\"")), want: `evenkeel: reading the cluster at http://SERVER: permission to list and watch nodes is missing; grant it to this account: nodes is forbidden: User "a" cannot list resource "nodes"`},
		{input: "disruption budgets: 403", server: faultAtPath(budgets, respondStatus(403, "Forbidden", "poddisruptionbudgets.policy is forbidden")), want: "evenkeel: reading the cluster at http://SERVER: permission to list and watch poddisruptionbudgets is missing; grant it to this account: poddisruptionbudgets.policy is forbidden"},
		{input: "priority classes: 403", server: faultAtPath(priorities, respondStatus(403, "Forbidden", "priorityclasses is forbidden")), want: "evenkeel: reading the cluster at http://SERVER: permission to list and watch priorityclasses is missing; grant it to this account: priorityclasses is forbidden"},
		{input: "disruption budgets: 404, as an old server sends", server: faultAtPath(budgets, respondStatus(404, "NotFound", "the server could not find the requested resource")), want: "evenkeel: reading the cluster at http://SERVER: listing poddisruptionbudgets: the answer is 404: the server could not find the requested resource"},
		{input: "pods: 410, expired", server: faultAtPath(pods, respondStatus(410, "Expired", "too old resource version")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is 410: too old resource version"},
		{input: "pods: 429", server: faultAtPath(pods, respondStatus(429, "TooManyRequests", "too many requests")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is 429: too many requests"},
		{input: "pods: 500", server: faultAtPath(pods, respondStatus(500, "InternalError", "etcd is down")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is 500: etcd is down"},
		{input: "pods: 503 from a proxy", server: faultAtPath(pods, respondText(503, "text/plain", "no healthy upstream")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is 503: no healthy upstream"},
		{input: "pods: 504", server: faultAtPath(pods, respondStatus(504, "Timeout", "the request timed out")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is 504: the request timed out"},
		{input: "pods: a login page", server: faultAtPath(pods, respondText(200, "text/html", loginPage)), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is text/html, a format that no API server sends; does a proxy or another server answer instead of the API server?"},
		{input: "pods: a login page called JSON", server: faultAtPath(pods, respondText(200, "application/json", loginPage)), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is not an object: invalid character '<' looking for beginning of value; does a proxy or another server answer instead of the API server?"},
		{input: "pods: truncated JSON", server: faultAtPath(pods, respondText(200, "application/json", `{"apiVersion":"v1","kind":"PodList","items":[{"metadata"`)), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is not an object: unexpected end of JSON input; does a proxy or another server answer instead of the API server?"},
		{input: "pods: an empty answer", server: faultAtPath(pods, respondText(200, "application/json", "")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is empty; does a proxy or another server answer instead of the API server?"},
		{input: "pods: null", server: faultAtPath(pods, respondText(200, "application/json", "null")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is not a list of this kind; does a proxy or another server answer instead of the API server?"},
		{input: "pods: bytes that are not protobuf", server: faultAtPath(pods, respondText(200, "application/vnd.kubernetes.protobuf", "k8s\x00\xff\xff\xff")), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is truncated; did a proxy or the network close the connection?"},
		{input: "pods: a list of nodes", server: faultAtPath(pods, respondText(200, "application/json", `{"apiVersion":"v1","kind":"NodeList","items":[]}`)), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is not a list of this kind; does a proxy or another server answer instead of the API server?"},
		{input: "pods: a Secret", server: faultAtPath(pods, respondText(200, "application/json", `{"apiVersion":"v1","kind":"Secret"}`)), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is not a list of this kind; does a proxy or another server answer instead of the API server?"},
		{input: "pods: an unknown kind", server: faultAtPath(pods, respondText(200, "application/json", `{"apiVersion":"example.com/v1","kind":"Pods"}`)), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer has an unknown kind: example.com/v1 Pods; does a proxy or another server answer instead of the API server?"},
		{input: "pods: a word instead of a number", server: faultAtPath(pods, respondText(200, "application/json", `{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","generation":"one"}}]}`)), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer cannot be read: items.metadata.generation: a string is the wrong type for this field; does a proxy or another server answer instead of the API server?"},
		{input: "pods: a redirect to another path", server: faultAtPath(pods, http.RedirectHandler("/login", http.StatusFound).ServeHTTP), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is 404: not found"},
		{input: "pods: a redirect to itself", server: faultAtPath(pods, http.RedirectHandler(pods, http.StatusFound).ServeHTTP), want: "evenkeel: reading the cluster at http://SERVER: listing pods: stopped after 10 redirects; is this the address of an API server?"},
		{input: "pods: no answer", server: faultAtPath(pods, neverAnswer), want: "evenkeel: reading the cluster at http://SERVER: listing pods: no usable answer in time; is the API server overloaded, or the network interrupted?"},
		{input: "pods: the connection is closed", server: faultAtPath(pods, closeConnection), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the server closed the connection without an answer; is this the address of an API server?"},
		{input: "pods: half an answer", server: faultAtPath(pods, sendHalfAnswer), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is truncated; did a proxy or the network close the connection?"},
		{input: "disruption budgets: a Status with Success", server: faultAtPath(budgets, respondText(200, "application/json", `{"apiVersion":"v1","kind":"Status","status":"Success"}`)), want: "evenkeel: reading the cluster at http://SERVER: listing poddisruptionbudgets: the answer is not a list of this kind; does a proxy or another server answer instead of the API server?"},
		{input: "nodes: an empty list", server: faultAtPath(nodes, respondText(200, "application/json", `{"apiVersion":"v1","kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[]}`)), want: "evenkeel: nothing was evicted: indexing the cluster: the snapshot has no Node; include nodes, as in: kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
	}
}

// leaseRows are faults while a pass acquires the Lease.
func leaseRows() []badInput {
	held := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"evenkeel","namespace":"default","resourceVersion":"1"},` +
		`"spec":{"holderIdentity":"another","leaseDurationSeconds":15,"acquireTime":"2999-01-01T00:00:00.000000Z","renewTime":"2999-01-01T00:00:00.000000Z"}}`
	return []badInput{
		{input: "Lease: 403", args: noLease, server: faultAtPath(leases+"/", respondStatus(403, "Forbidden", "leases is forbidden")), want: "evenkeel: taking the Lease default/evenkeel: permission to get leases.coordination.k8s.io is missing in namespace default; grant it to this account: leases is forbidden"},
		{input: "Lease: 403 on creating it", args: noLease, server: faultAtPath(leases, respondStatus(403, "Forbidden", "leases is forbidden")), want: "evenkeel: taking the Lease default/evenkeel: permission to create leases.coordination.k8s.io is missing in namespace default; grant it to this account: leases is forbidden"},
		{input: "Lease: its namespace does not exist", args: noLease, server: faultAtPath(leases, noNamespace), want: `evenkeel: taking the Lease default/evenkeel: namespace default does not exist; create it, or give the namespace of Evenkeel with --lease-namespace: namespaces "default" not found`},
		{input: "Lease: 500", args: noLease, server: faultAtPath(leases+"/", respondStatus(500, "InternalError", "etcd is down")), want: "evenkeel: could not take the Lease default/evenkeel within 3s: reading it: etcd is down"},
		{input: "Lease: a login page", args: noLease, server: faultAtPath(leases+"/", respondText(200, "text/html", loginPage)), want: "evenkeel: could not take the Lease default/evenkeel within 3s: reading it: serializer for text/html doesn't exist"},
		{input: "Lease: no answer", args: noLease, server: faultAtPath(leases+"/", neverAnswer), want: `evenkeel: could not take the Lease default/evenkeel within 3s: reading it: Get "http://SERVER/apis/coordination.k8s.io/v1/namespaces/default/leases/evenkeel": context deadline exceeded`},
		{input: "Lease: held by another", args: noLease, server: faultAtPath(leases+"/", respondText(200, "application/json", held)), want: "evenkeel: the Lease default/evenkeel is held by another and did not become free within 3s"},
	}
}

// noNamespace is the answer of an API server that rejects an object because its namespace does not exist.
func noNamespace(w http.ResponseWriter, _ *http.Request) {
	err := apierrors.NewNotFound(corev1.Resource("namespaces"), "default")
	err.ErrStatus.APIVersion, err.ErrStatus.Kind = "v1", "Status"
	writeJSON(w, http.StatusNotFound, err.ErrStatus)
}

// connectionRows are faults before the server answers any request.
func connectionRows() []badInput {
	with := func(start func(*testing.T, http.Handler) (*httptest.Server, string)) *serverFault {
		return &serverFault{start: start}
	}
	return []badInput{
		{input: "a certificate of an unknown authority", server: with(startUnknownAuthorityServer), want: "evenkeel: reading the cluster at https://SERVER: reading the server version: the server certificate is not trusted: x509: certificate signed by unknown authority; check server and certificate-authority in the kubeconfig, and the clock"},
		{input: "a certificate of another host", server: with(startOtherHostServer), want: "evenkeel: reading the cluster at https://SERVER: reading the server version: the server certificate is not trusted: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs; check server and certificate-authority in the kubeconfig, and the clock"},
		{input: "a certificate that has expired", server: with(startExpiredServer), want: "evenkeel: reading the cluster at https://SERVER: reading the server version: the server certificate is not trusted: x509: certificate has expired or is not yet valid: current time NOW is after THEN; check server and certificate-authority in the kubeconfig, and the clock"},
		{input: "HTTP where HTTPS is expected", server: with(startPlainServerForHTTPSClient), want: "evenkeel: reading the cluster at https://SERVER: reading the server version: the server answers HTTP, not HTTPS; should the kubeconfig say http instead of https?"},
		{input: "HTTPS where HTTP is expected", server: with(startTLSServerForHTTPClient), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is 400: Client sent an HTTP request to an HTTPS server."},
		{input: "another protocol", server: with(startSMTPServer), want: "evenkeel: reading the cluster at https://SERVER: reading the server version: the server does not answer HTTPS; is this the address of an API server?"},
		{input: "a server that is down", server: with(unreachableServer), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: dial tcp SERVER: connect: connection refused; is the API server running at this address?"},
		{input: "a proxy that is down", server: with(unreachableProxy), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused; check proxy-url in the kubeconfig and HTTPS_PROXY"},
	}
}

// withLease adds the Lease of a leader in the namespace default to the answers of a server.
func withLease(f *serverFault) *serverFault {
	f.paths[leases+"/evenkeel"] = respondText(200, "application/json", leaseJSON("me", time.Now()))
	return f
}

// otherCommandRows have the same faults with other commands.
func otherCommandRows() []badInput {
	forbidden := respondStatus(403, "Forbidden", "pods is forbidden: User \"a\" cannot list resource \"pods\"")
	const livePlan, capture, run = "plan --config builtin --lease-namespace default --kubeconfig kubeconfig.yaml", "capture --config builtin --kubeconfig kubeconfig.yaml", "run --config evict.yaml --kubeconfig kubeconfig.yaml --bind-address "
	return []badInput{
		{input: "evenkeel plan: pods: 403", args: livePlan, server: faultAtPath(pods, forbidden), want: `evenkeel: reading the cluster at http://SERVER: permission to list and watch pods is missing; grant it to this account: pods is forbidden: User "a" cannot list resource "pods"`},
		{input: "evenkeel plan: pods: half an answer", args: livePlan, server: faultAtPath(pods, sendHalfAnswer), want: "evenkeel: reading the cluster at http://SERVER: listing pods: the answer is truncated; did a proxy or the network close the connection?"},
		{input: "evenkeel plan: nodes: an empty list", args: livePlan, server: withLease(faultAtPath(nodes, respondText(200, "application/json", `{"apiVersion":"v1","kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[]}`))), want: "evenkeel: the cluster: the snapshot has no Node; include nodes, as in: kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "evenkeel plan: version: not a number", args: livePlan, server: withLease(faultAtPath("/version", respondText(200, "application/json", `{"major": "one", "minor": "latest"}`))), want: `evenkeel: the cluster: server version "one.latest" is not major.minor, such as 1.37`},
		{input: "evenkeel apply: Lease: 403", args: "apply - --kubeconfig kubeconfig.yaml --lease-namespace default", stdin: somePlan, server: faultAtPath(leases+"/", respondStatus(403, "Forbidden", "leases is forbidden")), want: "evenkeel: reading the Lease default/evenkeel: permission to get leases.coordination.k8s.io is missing in namespace default; grant it to this account: leases is forbidden"},
		{input: "evenkeel capture: pods: 403", args: capture, server: faultAtPath(pods, forbidden), want: `evenkeel: reading the cluster at http://SERVER: permission to list and watch pods is missing; grant it to this account: pods is forbidden: User "a" cannot list resource "pods"`},
		{input: "evenkeel capture: version: a login page", args: capture, server: faultAtPath("/version", respondText(200, "text/html", loginPage)), want: "evenkeel: reading the cluster at http://SERVER: reading the server version: the answer is not a version: invalid character '<' looking for beginning of value; is this the address of an API server?"},
		{input: "evenkeel run: version: 401", args: run + "127.0.0.1:0", server: faultAtPath("/version", respondStatus(401, "Unauthorized", "Unauthorized")), want: "evenkeel: reading the cluster: the API server rejects the credentials (401 to get /version); is the token or certificate still valid?"},
		{input: "evenkeel run: pods: 403", args: run + "127.0.0.1:0", server: faultAtPath(pods, forbidden), want: `evenkeel: reading the cluster: permission to list and watch pods is missing; grant it to this account: pods is forbidden: User "a" cannot list resource "pods"`},
	}
}

// pauseRows are faults of `pause` and `resume`. The message says that the pause is unchanged.
func pauseRows() []badInput {
	const pause, resume = "pause --kubeconfig kubeconfig.yaml --lease-namespace default", "resume --kubeconfig kubeconfig.yaml --lease-namespace default"
	denied := respondStatus(403, "Forbidden", `rebalancers is forbidden: User "a" cannot do that`)
	const one = rebalancerPath
	return []badInput{
		{input: "evenkeel pause: reading it: 403", args: pause, server: faultAtPath(one, denied), want: `evenkeel: evictions are not paused: permission to get Rebalancer evenkeel in namespace default is missing; grant get on rebalancers.evenkeel.io there to this account: rebalancers is forbidden: User "a" cannot do that`},
		{input: "evenkeel pause: creating it: 403", args: pause, server: faultAtPath(rebalancersPath, denied), want: `evenkeel: evictions are not paused: permission to create Rebalancer evenkeel in namespace default is missing; grant create on rebalancers.evenkeel.io there to this account: rebalancers is forbidden: User "a" cannot do that`},
		{input: "evenkeel pause: 401", args: pause, server: faultAtPath(one, respondStatus(401, "Unauthorized", "Unauthorized")), want: "evenkeel: evictions are not paused: the API server does not accept the credentials (get Rebalancer default/evenkeel); is the token still valid?: Unauthorized"},
		{input: "evenkeel pause: 500", args: pause, server: faultAtPath(one, respondStatus(500, "InternalError", "etcd is down")), want: "evenkeel: evictions are not paused: reading Rebalancer default/evenkeel: etcd is down"},
		{input: "evenkeel pause: 404, as a web server sends", args: pause, server: faultAtPath(one, respondText(404, "text/html", "<h1>Not Found</h1>")), want: "evenkeel: evictions are not paused: reading Rebalancer default/evenkeel: the cluster does not know this kind: the server could not find the requested resource (get rebalancers.evenkeel.io evenkeel); install the CustomResourceDefinitions of this version (evenkeel crds | kubectl apply --server-side -f -)"},
		{input: "evenkeel pause: no answer", args: pause, server: faultAtPath(one, neverAnswer), want: `evenkeel: evictions are not paused: reading Rebalancer default/evenkeel: Get "http://SERVER/apis/evenkeel.io/v1alpha1/namespaces/default/rebalancers/evenkeel": context deadline exceeded`},
		{input: "evenkeel resume: 403", args: resume, server: faultAtPath(one, denied), want: `evenkeel: the pause is unchanged: permission to get Rebalancer evenkeel in namespace default is missing; grant get on rebalancers.evenkeel.io there to this account: rebalancers is forbidden: User "a" cannot do that`},
		{input: "evenkeel resume: half an answer", args: resume, server: faultAtPath(one, sendHalfAnswer), want: "evenkeel: the pause is unchanged: reading Rebalancer default/evenkeel: unexpected error when reading response body. Please retry. Original error: unexpected EOF"},
	}
}
