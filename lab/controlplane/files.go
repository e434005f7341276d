package controlplane

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
)

// freePorts finds ports that are not in use.
func freePorts() (ports, error) {
	var p ports
	for _, into := range []*int{&p.etcd, &p.etcdPeer, &p.apiServer, &p.scheduler, &p.controllerManager, &p.kwok} {
		l, err := freeport.Listen()
		if err != nil {
			return p, err
		}
		defer l.Close() // keep every listener open until all ports are found, so they differ
		*into = l.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  resources: [{group: "", resources: [pods/eviction, pods/binding]}]
- level: Request
  userGroups: [system:serviceaccounts]
  verbs: [create, update, delete]
  resources: [{group: "", resources: [pods]}, {group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
  userGroups: [system:serviceaccounts]
- level: Metadata
  verbs: [create, update, patch, delete]
  resources: [{group: evenkeel.io}]
- level: None
`

func (l *componentLayout) writeFiles(o Options) error {
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	scheduler, err := l.schedulerConfig(o.SchedulerConfig)
	if err != nil {
		return err
	}
	policy := []byte(auditPolicy)
	if len(o.AuditPolicy) > 0 {
		policy = o.AuditPolicy
	}
	tokens := l.ensureAdminToken() + ",admin,admin,system:masters\n"
	for _, u := range o.Users {
		tokens += fmt.Sprintf("%s,%s,%s,%s\n", u.Token, u.Name, u.Name, u.Group)
	}
	files := map[string][]byte{
		"sa.key":            key,
		"tokens.csv":        []byte(tokens),
		"audit-policy.yaml": policy,
		"scheduler.yaml":    scheduler,
		"stages.yaml":       stages,
	}
	if o.LocalPods {
		if files["stages.yaml"], err = leaveLocalPods(stages); err != nil {
			return err
		}
	}
	if o.Usage {
		files["stages.yaml"] = append(append(slices.Clone(files["stages.yaml"]), "\n---\n"...), usage...)
	}
	if o.Aggregation {
		if err := addAggregationFiles(files); err != nil {
			return fmt.Errorf("creating certificates for the aggregation layer: %w", err)
		}
	}
	var errs []error
	for name, data := range files {
		errs = append(errs, os.WriteFile(l.filePath(name), data, 0o600))
	}
	return errors.Join(errs...)
}

// ensureAdminToken returns the administrator's token, which is random for each lab.
func (l *componentLayout) ensureAdminToken() string {
	if l.adminToken == "" {
		l.adminToken = rand.Text()
	}
	return l.adminToken
}

// writeKubeconfig returns an error until the API server has written its certificate.
func (l *componentLayout) writeKubeconfig() error {
	return l.writeKubeconfigFor(l.Kubeconfig, l.ensureAdminToken(), "")
}

func (l *componentLayout) writeKubeconfigFor(path, token, namespace string) error {
	ca, err := os.ReadFile(l.filePath("certs/apiserver.crt"))
	if err != nil {
		return err
	}
	return WriteKubeconfig(path, fmt.Sprintf("https://127.0.0.1:%d", l.ports.apiServer), ca, token, namespace)
}

// WriteKubeconfig writes a kubeconfig for one server, which a token authenticates to.
func WriteKubeconfig(path, server string, ca []byte, token, namespace string) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["lab"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	k.AuthInfos["lab"] = &clientcmdapi.AuthInfo{Token: token}
	k.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab", Namespace: namespace}
	k.CurrentContext = "lab"
	return clientcmd.WriteToFile(*k, path)
}

// redirectLogs redirects the components' log to a file. The components write to os.Stderr.
func (l *componentLayout) redirectLogs() error {
	f, err := os.Create(l.filePath("components.log"))
	if err != nil {
		return err
	}
	os.Stderr = f
	klog.LogToStderr(false)
	klog.SetOutput(f)
	return nil
}

// logTail returns the last lines of the components' log for error messages.
func (l *componentLayout) logTail() string {
	b, err := os.ReadFile(l.filePath("components.log"))
	if err != nil {
		return ""
	}
	return string(b[max(0, len(b)-2000):])
}

// checkHealth checks the health endpoint of a component on this machine. The check accepts the component's self-signed
// certificate.
func checkHealth(port int) error { return checkURL(fmt.Sprintf("https://127.0.0.1:%d/healthz", port)) }

func checkURL(url string) error {
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client := http.Client{Timeout: 2 * time.Second, Transport: transport}
	r, err := client.Get(url)
	if err != nil {
		return err
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("health check answers %s", r.Status)
	}
	return nil
}

// schedulerConfig adds the connection settings to a scheduler configuration. Leader election is disabled, because
// losing the Lease would end the whole process.
func (l *componentLayout) schedulerConfig(config []byte) ([]byte, error) {
	x := map[string]any{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
	if len(config) > 0 {
		if err := yaml.UnmarshalStrict(config, &x); err != nil {
			return nil, fmt.Errorf("reading the scheduler's configuration: %w", err)
		}
	}
	x["leaderElection"] = map[string]any{"leaderElect": false}
	x["clientConnection"] = map[string]any{"kubeconfig": l.Kubeconfig, "qps": 1000, "burst": 1000}
	return yaml.Marshal(x)
}
