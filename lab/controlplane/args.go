package controlplane

import (
	"fmt"
	"strings"
)

// defaultControllers manage pods, accounts and namespaces. The node lifecycle controller is left out, because fake
// nodes send no heartbeats.
var defaultControllers = []string{
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "disruption-controller", "namespace-controller",
	"garbage-collector-controller", "pod-garbage-collector-controller", "serviceaccount-controller",
	"serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
}

func (c *Cluster) etcdArgs() []string {
	return []string{
		"--data-dir=" + c.path("etcd"), "--log-output=" + c.path("etcd.log"),
		fmt.Sprintf("--client-port=%d", c.ports.etcd), fmt.Sprintf("--peer-port=%d", c.ports.etcdPeer),
	}
}

func (c *Cluster) apiServerArgs() []string {
	return append([]string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", c.ports.etcd),
		fmt.Sprintf("--secure-port=%d", c.ports.apiServer), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--cert-dir=" + c.path("certs"), "--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=Node,RBAC", "--token-auth-file=" + c.path("tokens.csv"), "--anonymous-auth=false",
		"--service-account-issuer=https://lab.evenkeel.io", "--service-account-key-file=" + c.path("sa.key"),
		"--service-account-signing-key-file=" + c.path("sa.key"),
		// The plugin would taint new nodes, and only a node lifecycle controller removes the taint.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--endpoint-reconciler-type=none", "--allow-privileged=true",
		"--audit-policy-file=" + c.path("audit-policy.yaml"), "--audit-log-path=" + c.path("audit.log"),
	}, c.aggregationArgs()...)
}

func (c *Cluster) schedulerArgs() []string {
	return []string{
		"--config=" + c.path("scheduler.yaml"), fmt.Sprintf("--secure-port=%d", c.ports.scheduler), "--bind-address=127.0.0.1",
		"--cert-dir=" + c.path("scheduler-certs"),
		"--authentication-skip-lookup=true", "--authentication-kubeconfig=" + c.Kubeconfig, "--authorization-kubeconfig=" + c.Kubeconfig,
	}
}

func (c *Cluster) controllerManagerArgs() []string {
	return append([]string{
		"--kubeconfig=" + c.Kubeconfig, fmt.Sprintf("--secure-port=%d", c.ports.controllerManager), "--bind-address=127.0.0.1",
		"--cert-dir=" + c.path("controller-manager-certs"), "--leader-elect=false", "--use-service-account-credentials=false",
		"--service-account-private-key-file=" + c.path("sa.key"), "--root-ca-file=" + c.path("certs/apiserver.crt"),
		"--controllers=" + strings.Join(c.controllers, ","), "--kube-api-qps=1000", "--kube-api-burst=1000",
		"--authentication-skip-lookup=true", "--authentication-kubeconfig=" + c.Kubeconfig, "--authorization-kubeconfig=" + c.Kubeconfig,
	}, c.managerArgs...)
}
