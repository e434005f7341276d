package charttest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

const (
	// formerHolder is the process of the former program that holds the Lease.
	formerHolder = "keel-evenkeel-former"
	// shopState is the ConfigMap with the state of namespace shop: the hash of the name selects one of 16.
	shopState, stateKey = "evenkeel-state-09", "state.json.gz"
)

// formerFields are the fields of the state that the former program knows. It drops others when it writes.
var formerFields = []string{"apiVersion", "kind", "spentBudgets", "evictions", "backoffs", "background", "runs", "pause", "breaker",
	"unreadyNodes", "schedulers", "announced", "strategyRuns", "discarded"}

// writeFormerState writes what the program of the former chart left: it evicted two pods, was paused, and was killed
// while it held the Lease.
func (r release) writeFormerState(ctx context.Context, t *testing.T) {
	t.Helper()
	now := metav1.NowMicro()
	evictions := fmt.Sprintf(`{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState","evictions":[{"workload":{"apiVersion":"apps/v1",`+
		`"kind":"Deployment","namespace":"shop","name":"former"},"minute":%q,"count":2,"strategy":"zones"}]}`,
		now.UTC().Truncate(time.Minute).Format(time.RFC3339))
	labels := map[string]string{"app.kubernetes.io/managed-by": "evenkeel"}
	part := maps.Clone(labels)
	part["evenkeel.io/state"] = "part"
	for _, cm := range []*corev1.ConfigMap{
		{ObjectMeta: metav1.ObjectMeta{Name: shopState, Labels: part}, BinaryData: map[string][]byte{stateKey: compress(t, evictions)}},
		{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel-pause", Labels: labels},
			Data: map[string]string{"by": "jo", "reason": "upgrade", "since": now.UTC().Format(time.RFC3339)}},
	} {
		must.Get(r.client.CoreV1().ConfigMaps(r.namespace).Create(ctx, cm, metav1.CreateOptions{}))(t)
	}
	holder, seconds := formerHolder, int32(15)
	must.Get(r.client.CoordinationV1().Leases(r.namespace).Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}},
		metav1.CreateOptions{}))(t)
}

// formerEvictions returns the number of evictions in namespace shop as the former program reads it.
func (r release) formerEvictions(ctx context.Context, t *testing.T) (n int) {
	t.Helper()
	var state struct {
		APIVersion, Kind string
		Evictions        []struct {
			Workload struct{ Namespace, Name string }
			Minute   time.Time
			Count    int
		}
	}
	cm := must.Get(r.client.CoreV1().ConfigMaps(r.namespace).Get(ctx, shopState, metav1.GetOptions{}))(t)
	must.Succeed(t, json.Unmarshal(decompress(t, cm.BinaryData[stateKey]), &state))
	if state.APIVersion != "evenkeel.io/v1alpha1" || state.Kind != "PlannerState" {
		t.Errorf("the state is a %s of %s, which the former program cannot read", state.Kind, state.APIVersion)
	}
	for _, e := range state.Evictions {
		if e.Workload.Namespace == "shop" && time.Since(e.Minute) < time.Hour {
			n += e.Count
		}
	}
	return n
}

// dropUnknownFields writes the state again without the fields that the former program does not know.
func (r release) dropUnknownFields(ctx context.Context, t *testing.T) {
	t.Helper()
	list := must.Get(r.client.CoreV1().ConfigMaps(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: "evenkeel.io/state=part"}))(t)
	var dropped []string
	for _, cm := range list.Items {
		if len(cm.BinaryData[stateKey]) == 0 {
			continue
		}
		var state map[string]json.RawMessage
		must.Succeed(t, json.Unmarshal(decompress(t, cm.BinaryData[stateKey]), &state))
		for name := range state {
			if !slices.Contains(formerFields, name) {
				dropped = append(dropped, name)
				delete(state, name)
			}
		}
		cm.BinaryData[stateKey] = compress(t, string(must.Get(json.Marshal(state))(t)))
		must.Get(r.client.CoreV1().ConfigMaps(r.namespace).Update(ctx, &cm, metav1.UpdateOptions{}))(t)
	}
	t.Logf("the former program dropped %q from %d ConfigMaps", dropped, len(list.Items))
	if len(dropped) == 0 {
		t.Error("the state has no field that the former program does not know")
	}
}

func compress(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	must.Get(z.Write([]byte(text)))(t)
	must.Succeed(t, z.Close())
	return packed.Bytes()
}

func decompress(t *testing.T, packed []byte) []byte {
	t.Helper()
	return must.Get(io.ReadAll(must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)))(t)
}

// apiPath returns the path of a resource of evenkeel.io in the namespace of the release.
func (r release) apiPath(resource string) string {
	return "/apis/evenkeel.io/v1alpha1/namespaces/" + r.namespace + "/" + resource
}

// stateObjects returns the ConfigMaps of the release's state and former pause with their identity.
func (r release) stateObjects(ctx context.Context, t *testing.T) map[string]types.UID {
	t.Helper()
	list := must.Get(r.client.CoreV1().ConfigMaps(r.namespace).List(ctx, metav1.ListOptions{}))(t)
	out := map[string]types.UID{}
	for _, cm := range list.Items {
		if strings.HasPrefix(cm.Name, "evenkeel-state-") || cm.Name == "evenkeel-pause" {
			out[cm.Name] = cm.UID
		}
	}
	return out
}

// storedObjects returns the identities of the objects that hold the state, the pause, the Lease, the requests and the
// records of the release.
func (r release) storedObjects(ctx context.Context, t *testing.T) map[string]types.UID {
	t.Helper()
	out := r.stateObjects(ctx, t)
	leases := must.Get(r.client.CoordinationV1().Leases(r.namespace).List(ctx, metav1.ListOptions{}))(t)
	for _, l := range leases.Items {
		out["Lease "+l.Name] = l.UID
	}
	for _, resource := range []string{"rebalanceplans", "rebalancers", "rebalanceruns", "rebalancehistories"} {
		text, err := r.client.CoreV1().RESTClient().Get().AbsPath(r.apiPath(resource)).DoRaw(ctx)
		if apierrors.IsNotFound(err) {
			continue // the former chart has no CustomResourceDefinitions
		}
		must.Succeed(t, err)
		var list metav1.PartialObjectMetadataList
		must.Succeed(t, json.Unmarshal(text, &list))
		for _, o := range list.Items {
			out[resource+" "+o.Name] = o.UID
		}
	}
	return out
}

// checkKept checks that the objects from before still exist. There may be more.
func (r release) checkKept(ctx context.Context, t *testing.T, before map[string]types.UID) {
	t.Helper()
	after := r.storedObjects(ctx, t)
	for name, uid := range before {
		if after[name] != uid {
			t.Errorf("%s has the UID %q, want %s", name, after[name], uid)
		}
	}
	if len(before) < 3 {
		t.Errorf("before there were only %v", before)
	}
}

// waitForPause waits until the Rebalancer has a pause with a reason.
func (r release) waitForPause(ctx context.Context, t *testing.T, reason string) {
	t.Helper()
	eventually(ctx, t, "the pause", func() (bool, string) {
		var o struct {
			Spec struct{ Pause struct{ Reason string } }
		}
		text, err := r.client.CoreV1().RESTClient().Get().AbsPath(r.apiPath("rebalancers/evenkeel")).DoRaw(ctx)
		if err != nil {
			return false, err.Error()
		}
		return json.Unmarshal(text, &o) == nil && o.Spec.Pause.Reason == reason, string(text)
	})
}

// requestRun creates a RebalanceRun for strategy zones, and returns its name.
func (r release) requestRun(ctx context.Context, t *testing.T) string {
	t.Helper()
	const name = "between"
	text := `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RebalanceRun", "metadata": {"name": "` + name + `"}, "spec": {"strategies": ["zones"], "by": "admin"}}`
	must.Succeed(t, r.client.CoreV1().RESTClient().Post().AbsPath(r.apiPath("rebalanceruns")).
		SetHeader("Content-Type", "application/json").Body([]byte(text)).Do(ctx).Error())
	return name
}

// phaseOfRun returns the phase of a RebalanceRun.
func (r release) phaseOfRun(ctx context.Context, t *testing.T, name string) string {
	t.Helper()
	var run struct {
		Status struct{ Phase, Message string }
	}
	text := must.Get(r.client.CoreV1().RESTClient().Get().AbsPath(r.apiPath("rebalanceruns/" + name)).DoRaw(ctx))(t)
	must.Succeed(t, json.Unmarshal(text, &run))
	t.Logf("RebalanceRun %s: %+v", name, run.Status)
	return run.Status.Phase
}
