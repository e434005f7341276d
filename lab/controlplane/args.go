package controlplane

import (
	"fmt"
	"path/filepath"
	"strings"
)

// layout holds the files, the ports and the settings of a control plane from which its components' flags are derived.
type layout struct {
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string

	dir         string
	adminToken  string
	controllers []string
	managerArgs []string
	aggregation bool
	ports       ports
}

type ports struct{ etcd, etcdPeer, apiServer, scheduler, controllerManager, kwok int }

// defaultControllers are the controllers that manage pods, accounts and namespaces. The node lifecycle controller is
// missing, because fake nodes send no heartbeats.
var defaultControllers = []string{
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "disruption-controller", "namespace-controller",
	"garbage-collector-controller", "pod-garbage-collector-controller", "serviceaccount-controller",
	"serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
}

func (l *layout) etcdArgs() []string {
	return []string{
		"--data-dir=" + l.path("etcd"), "--log-output=" + l.path("etcd.log"),
		fmt.Sprintf("--client-port=%d", l.ports.etcd), fmt.Sprintf("--peer-port=%d", l.ports.etcdPeer),
	}
}

func (l *layout) apiServerArgs() []string {
	return append([]string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", l.ports.etcd),
		fmt.Sprintf("--secure-port=%d", l.ports.apiServer), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--cert-dir=" + l.path("certs"), "--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=Node,RBAC", "--token-auth-file=" + l.path("tokens.csv"), "--anonymous-auth=false",
		"--service-account-issuer=https://lab.evenkeel.io", "--service-account-key-file=" + l.path("sa.key"),
		"--service-account-signing-key-file=" + l.path("sa.key"),
		// TaintNodesByCondition would taint new nodes, and only a node lifecycle controller removes the taint.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--endpoint-reconciler-type=none", "--allow-privileged=true",
		"--audit-policy-file=" + l.path("audit-policy.yaml"), "--audit-log-path=" + l.path("audit.log"),
	}, l.aggregationArgs()...)
}

func (l *layout) schedulerArgs() []string {
	return []string{
		"--config=" + l.path("scheduler.yaml"), fmt.Sprintf("--secure-port=%d", l.ports.scheduler), "--bind-address=127.0.0.1",
		"--cert-dir=" + l.path("scheduler-certs"),
		"--authentication-skip-lookup=true", "--authentication-kubeconfig=" + l.Kubeconfig, "--authorization-kubeconfig=" + l.Kubeconfig,
	}
}

func (l *layout) controllerManagerArgs() []string {
	return append([]string{
		"--kubeconfig=" + l.Kubeconfig, fmt.Sprintf("--secure-port=%d", l.ports.controllerManager), "--bind-address=127.0.0.1",
		"--cert-dir=" + l.path("controller-manager-certs"), "--leader-elect=false", "--use-service-account-credentials=false",
		"--service-account-private-key-file=" + l.path("sa.key"), "--root-ca-file=" + l.path("certs/apiserver.crt"),
		"--controllers=" + strings.Join(l.controllers, ","), "--kube-api-qps=1000", "--kube-api-burst=1000",
		"--authentication-skip-lookup=true", "--authentication-kubeconfig=" + l.Kubeconfig, "--authorization-kubeconfig=" + l.Kubeconfig,
	}, l.managerArgs...)
}

// proxyName is the client name that the API server uses for requests to aggregated API servers.
const proxyName = "front-proxy-client"

// aggregationArgs returns the API server flags that enable the aggregation layer.
func (l *layout) aggregationArgs() []string {
	if !l.aggregation {
		return nil
	}
	return []string{
		"--client-ca-file=" + l.path("client-ca.crt"),
		"--requestheader-client-ca-file=" + l.path("proxy-ca.crt"), "--requestheader-allowed-names=" + proxyName,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + l.path("proxy.crt"), "--proxy-client-key-file=" + l.path("proxy.key"),
	}
}

func (l *layout) path(name string) string { return filepath.Join(l.dir, name) }
