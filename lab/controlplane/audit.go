package controlplane

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	authv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Audit returns the audit events so far. With the default policy, these are every eviction, every binding of
// a pod to a node, and every request of a ServiceAccount.
func (c *Cluster) Audit() ([]auditv1.Event, error) { return c.AuditSince(new(int64)) }

// AuditSince returns the audit events after a byte offset of the log, and advances the offset. It
// reads whole lines only.
func (c *Cluster) AuditSince(offset *int64) ([]auditv1.Event, error) {
	f, err := os.Open(c.filePath("audit.log"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the API server creates the file with the first event
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() < *offset {
		return nil, fmt.Errorf("reading the audit log: it is shorter than the %d bytes read before (%w)", *offset, cmp.Or(err, io.ErrUnexpectedEOF))
	}
	data, err := io.ReadAll(io.NewSectionReader(f, *offset, math.MaxInt64-*offset))
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	var events []auditv1.Event
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the API server is still writing this line
		}
		var e auditv1.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		events = append(events, e)
		*offset += int64(len(line))
	}
	return events, nil
}

// Evictions returns the audit events of all eviction requests in a namespace.
func (c *Cluster) Evictions(namespace string) ([]auditv1.Event, error) {
	all, err := c.Audit()
	var out []auditv1.Event
	for _, e := range all {
		if e.Verb == "create" && e.ObjectRef != nil && e.ObjectRef.Subresource == "eviction" && e.ObjectRef.Namespace == namespace {
			out = append(out, e)
		}
	}
	return out, err
}

// ServiceAccountKubeconfig writes a kubeconfig with a token of the ServiceAccount and returns its path.
func (c *Cluster) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	hour := int64(3600)
	request := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &hour}}
	t, err := c.Client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token for %s/%s: %w", namespace, name, err)
	}
	path := filepath.Join(c.dir, fmt.Sprintf("kubeconfig-%s-%s", namespace, name))
	return path, c.writeKubeconfigFor(path, t.Status.Token, namespace)
}

// UserKubeconfig writes a kubeconfig for one of Options.Users and returns its path.
func (c *Cluster) UserKubeconfig(u User) (string, error) {
	path := c.filePath("kubeconfig-user-" + u.Name)
	return path, c.writeKubeconfigFor(path, u.Token, "")
}
