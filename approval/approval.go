// Package approval hands a plan that somebody approved to the process that may
// evict, and brings its report back.
//
// A request is a ConfigMap beside the Lease: who may create ConfigMaps there may
// have plans carried out, within all limits. It never decides whether a plan
// still holds, and never evicts.
package approval

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	label     = "evenkeel.io/approval"
	pending   = "pending"
	answered  = "answered"
	prefix    = "evenkeel-approval-"
	keyPlan   = "plan.json.gz"
	keyReport = "report.json.gz"
	keyBy     = "approvedBy"
	keyAt     = "approvedAt"

	// callTime bounds each call.
	callTime = 4 * time.Second
	// most bounds what is read of one document, unpacked.
	most = 64 << 20
	// mostPacked keeps a ConfigMap below the API server's limit of 1 MiB.
	mostPacked = 900 << 10
	// kept is how long an answer is kept for somebody to fetch.
	kept = time.Hour
)

// Request is a plan that somebody wants carried out.
type Request struct {
	Plan plan.Plan
	By   string
	At   time.Time

	object *corev1.ConfigMap
}

// Box is where requests and answers lie.
type Box struct {
	maps corev1client.ConfigMapInterface
}

// New returns the box of a namespace.
func New(client kubernetes.Interface, namespace string) *Box {
	return &Box{client.CoreV1().ConfigMaps(namespace)}
}

// Submit puts a request into the box. The same plan lies there once.
func (b *Box) Submit(ctx context.Context, r Request) error {
	packed, err := pack(r.Plan)
	if err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err = b.maps.Create(call, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: prefix + r.Plan.ID, Labels: map[string]string{label: pending, "app.kubernetes.io/managed-by": "evenkeel"}},
		Data:       map[string]string{keyBy: r.By, keyAt: r.At.UTC().Format(time.RFC3339)},
		BinaryData: map[string][]byte{keyPlan: packed},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("plan %s was handed over before; make a new plan, or wait for its report", r.Plan.ID)
	}
	return err
}

// Pending lists the requests that wait, the oldest first. Those that cannot be
// read are answered, and left out.
func (b *Box) Pending(ctx context.Context) ([]Request, error) {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	list, err := b.maps.List(call, metav1.ListOptions{LabelSelector: label + "=" + pending, Limit: 20})
	if err != nil {
		return nil, fmt.Errorf("looking for approved plans: %w", err)
	}
	var out []Request
	for i := range list.Items {
		o := &list.Items[i]
		r := Request{By: o.Data[keyBy], object: o}
		r.At, _ = time.Parse(time.RFC3339, o.Data[keyAt]) // only told
		if err := unpack(o.BinaryData[keyPlan], &r.Plan); err != nil {
			err = errors.Join(err, b.Answer(ctx, r, plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", Stopped: &plan.Reason{
				Code: plan.PlanRefused, Message: "the plan cannot be read: " + err.Error()}}))
			return nil, fmt.Errorf("reading ConfigMap %s: %w", o.Name, err)
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Request) int {
		return cmp.Or(a.object.CreationTimestamp.Compare(b.object.CreationTimestamp.Time), cmp.Compare(a.object.Name, b.object.Name))
	})
	return out, nil
}

// Take notes that a request is being carried out by this process, so that no
// other carries it out again, whatever happens to this one.
func (b *Box) Take(ctx context.Context, r *Request) error {
	o := r.object.DeepCopy()
	o.Labels[label] = answered
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := b.maps.Update(call, o, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("taking ConfigMap %s: %w", r.object.Name, err)
	}
	r.object = o
	return nil
}

// Answer lays the report of a request beside it. Too large a report loses its
// plan, which who asked has already.
func (b *Box) Answer(ctx context.Context, r Request, report plan.RunReport) error {
	packed, err := pack(report)
	if err != nil {
		report.Plan = plan.Plan{ID: report.Plan.ID}
		if packed, err = pack(report); err != nil {
			return err
		}
	}
	o := r.object.DeepCopy()
	o.Labels[label] = answered
	if o.BinaryData == nil {
		o.BinaryData = map[string][]byte{}
	}
	o.BinaryData[keyReport] = packed
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	_, err = b.maps.Update(call, o, metav1.UpdateOptions{})
	return err
}

// Fetch returns the report of a plan that was submitted, nil while there is none,
// and takes it out of the box.
func (b *Box) Fetch(ctx context.Context, id string) (*plan.RunReport, error) {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := b.maps.Get(call, prefix+id, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if len(o.BinaryData[keyReport]) == 0 {
		return nil, nil
	}
	var r plan.RunReport
	if err := unpack(o.BinaryData[keyReport], &r); err != nil {
		return nil, fmt.Errorf("reading the report in ConfigMap %s: %w", o.Name, err)
	}
	return &r, b.maps.Delete(call, o.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &o.UID}})
}

// Sweep removes answers that nobody fetched.
func (b *Box) Sweep(ctx context.Context, now time.Time) error {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	list, err := b.maps.List(call, metav1.ListOptions{LabelSelector: label + "=" + answered, Limit: 20})
	if err != nil {
		return err
	}
	for _, o := range list.Items {
		if now.Sub(o.CreationTimestamp.Time) > kept {
			err = errors.Join(err, b.maps.Delete(call, o.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &o.UID}}))
		}
	}
	return err
}

func pack(doc any) ([]byte, error) {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if err := json.NewEncoder(z).Encode(doc); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if buf.Len() > mostPacked {
		return nil, fmt.Errorf("it is too large to be handed over (%d KiB packed, at most %d); make a plan with fewer moves (limits.perPass)", buf.Len()>>10, mostPacked>>10)
	}
	return buf.Bytes(), nil
}

func unpack(packed []byte, doc any) error {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(z, most+1))
	if err != nil {
		return err
	}
	if len(data) > most {
		return fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return json.Unmarshal(data, doc)
}
