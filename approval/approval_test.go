package approval

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/plan"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func request(id string, moves int) Request {
	r := Request{By: "alice", At: at, Plan: plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", ID: id}}
	for i := range moves {
		r.Plan.Moves = append(r.Plan.Moves, plan.Move{Step: i + 1, Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprint("d-", i), UID: fmt.Sprint(i * 7919)}})
	}
	return r
}

func TestARequestIsTakenAndAnswered(t *testing.T) {
	ctx := t.Context()
	b := New(fake.NewClientset(), "evenkeel")
	want := request("a1", 3)
	if err := b.Submit(ctx, want); err != nil {
		t.Fatal(err)
	}
	if err := b.Submit(ctx, want); err == nil || !strings.Contains(err.Error(), "handed over before") {
		t.Errorf("handed over twice: %v", err)
	}
	if r, err := b.Fetch(ctx, "a1"); r != nil || err != nil {
		t.Errorf("a report before there is one: %v, %v", r, err)
	}
	list, err := b.Pending(ctx)
	if err != nil || len(list) != 1 || list[0].By != "alice" || !list[0].At.Equal(at) || !reflect.DeepEqual(list[0].Plan, want.Plan) {
		t.Fatalf("%v, %+v", err, list)
	}
	if err := b.Take(ctx, &list[0]); err != nil {
		t.Fatal(err)
	}
	if again, err := b.Pending(ctx); err != nil || len(again) != 0 {
		t.Errorf("still there: %v, %+v", err, again)
	}
	if err := b.Answer(ctx, list[0], plan.RunReport{RunID: "r1"}); err != nil {
		t.Fatal(err)
	}
	r, err := b.Fetch(ctx, "a1")
	if err != nil || r == nil || r.RunID != "r1" {
		t.Errorf("%v, %+v", err, r)
	}
	if _, err := b.Fetch(ctx, "a1"); !apierrors.IsNotFound(err) {
		t.Errorf("still there: %v", err)
	}
}

func TestWhatCannotBeReadIsAnswered(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 70 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	for name, content := range map[string][]byte{"nothing": nil, "not packed": []byte("{}"), "too large": bomb.Bytes()} {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: prefix + "b", Labels: map[string]string{label: pending}},
			BinaryData: map[string][]byte{keyPlan: content}}
		if content == nil {
			o.BinaryData = nil
		}
		c := fake.NewClientset(o)
		b := New(c, "evenkeel")
		if list, err := b.Pending(t.Context()); err == nil || len(list) != 0 {
			t.Errorf("%s: read as %+v", name, list)
		}
		if r, err := b.Fetch(t.Context(), "b"); err != nil || r == nil || r.Stopped.Code != plan.PlanRefused {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}

func TestPlansTooLargeAreRefused(t *testing.T) {
	r := request("c", 0)
	seed := uint64(1)
	for i := range 60000 { // what hardly packs
		seed = seed*6364136223846793005 + 1442695040888963407
		r.Plan.Moves = append(r.Plan.Moves, plan.Move{Step: i, Pod: plan.PodRef{UID: fmt.Sprintf("%x%x", seed, seed*seed)}})
	}
	if err := New(fake.NewClientset(), "evenkeel").Submit(t.Context(), r); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}

func TestAnswersAreSweptAfterAnHour(t *testing.T) {
	ctx := context.Background()
	c := fake.NewClientset()
	for name, made := range map[string]time.Time{"old": at.Add(-2 * time.Hour), "new": at} {
		if _, err := c.CoreV1().ConfigMaps("evenkeel").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: prefix + name, Labels: map[string]string{label: answered}, CreationTimestamp: metav1.Time{Time: made}}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := New(c, "evenkeel").Sweep(ctx, at); err != nil {
		t.Fatal(err)
	}
	list, err := c.CoreV1().ConfigMaps("evenkeel").List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != prefix+"new" {
		t.Errorf("%v, %+v", err, list.Items)
	}
}
