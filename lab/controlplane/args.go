package controlplane

import (
	"fmt"
	"path/filepath"
	"strings"
)

// componentLayout holds the files, the ports and the settings of a control plane from which its
// components' flags are derived.
type componentLayout struct {
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

// defaultControllers are the controllers that manage pods, accounts, namespaces and quotas, and the one that attaches
// volumes to nodes with the annotation for it. The node lifecycle controller is missing, because fake nodes send no
// heartbeats.
var defaultControllers = []string{
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "disruption-controller", "namespace-controller",
	"garbage-collector-controller", "pod-garbage-collector-controller", "serviceaccount-controller",
	"serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
	"resourcequota-controller", "persistentvolume-attach-detach-controller",
}

// etcdArgs are the flags of a single member. It does not sync to disk, because the data is disposable.
func (l *componentLayout) etcdArgs() []string {
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", l.ports.etcd), fmt.Sprintf("http://127.0.0.1:%d", l.ports.etcdPeer)
	return []string{
		"--data-dir=" + l.filePath("etcd"), "--log-outputs=" + l.filePath("etcd.log"), "--log-level=error",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client, "--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer, "--name=default", "--initial-cluster=default=" + peer,
		"--unsafe-no-fsync", fmt.Sprintf("--quota-backend-bytes=%d", 8<<30),
		"--auto-compaction-mode=periodic", "--auto-compaction-retention=5m",
	}
}

func (l *componentLayout) apiServerArgs() []string {
	return append([]string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", l.ports.etcd),
		fmt.Sprintf("--secure-port=%d", l.ports.apiServer), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--cert-dir=" + l.filePath("certs"), "--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=Node,RBAC", "--token-auth-file=" + l.filePath("tokens.csv"), "--anonymous-auth=false",
		"--service-account-issuer=https://lab.evenkeel.io", "--service-account-key-file=" + l.filePath("sa.key"),
		"--service-account-signing-key-file=" + l.filePath("sa.key"),
		"--enable-admission-plugins=NodeRestriction", // as kubeadm does
		// TaintNodesByCondition would taint new nodes, and only a node lifecycle controller removes the taint.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--endpoint-reconciler-type=none", "--allow-privileged=true",
		"--audit-policy-file=" + l.filePath("audit-policy.yaml"), "--audit-log-path=" + l.filePath("audit.log"), "--audit-log-maxsize=10000",
	}, l.aggregationArgs()...)
}

func (l *componentLayout) schedulerArgs() []string {
	return []string{
		"--config=" + l.filePath("scheduler.yaml"), fmt.Sprintf("--secure-port=%d", l.ports.scheduler), "--bind-address=127.0.0.1",
		"--cert-dir=" + l.filePath("scheduler-certs"),
		"--authentication-skip-lookup=true", "--authentication-kubeconfig=" + l.Kubeconfig, "--authorization-kubeconfig=" + l.Kubeconfig,
	}
}

func (l *componentLayout) controllerManagerArgs() []string {
	return append([]string{
		"--kubeconfig=" + l.Kubeconfig, fmt.Sprintf("--secure-port=%d", l.ports.controllerManager), "--bind-address=127.0.0.1",
		"--cert-dir=" + l.filePath("controller-manager-certs"), "--leader-elect=false", "--use-service-account-credentials=false",
		"--service-account-private-key-file=" + l.filePath("sa.key"), "--root-ca-file=" + l.filePath("certs/apiserver.crt"),
		"--controllers=" + strings.Join(l.controllers, ","), "--kube-api-qps=1000", "--kube-api-burst=1000",
		"--authentication-skip-lookup=true", "--authentication-kubeconfig=" + l.Kubeconfig, "--authorization-kubeconfig=" + l.Kubeconfig,
	}, l.managerArgs...)
}

// proxyName is the client name that the API server uses for requests to aggregated API servers.
const proxyName = "front-proxy-client"

// aggregationArgs returns the API server flags that enable the aggregation layer.
func (l *componentLayout) aggregationArgs() []string {
	if !l.aggregation {
		return nil
	}
	return []string{
		"--client-ca-file=" + l.filePath("client-ca.crt"),
		"--requestheader-client-ca-file=" + l.filePath("proxy-ca.crt"), "--requestheader-allowed-names=" + proxyName,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + l.filePath("proxy.crt"), "--proxy-client-key-file=" + l.filePath("proxy.key"),
	}
}

func (l *componentLayout) filePath(name string) string { return filepath.Join(l.dir, name) }
