package observe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"testing/iotest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// fill sets fields of a value at random. Half of the pointers, lists and maps stay empty.
func fill(r *rand.Rand, v reflect.Value) {
	words := []string{"True", "False", "Ready", "Initialized", "ContainersReady", "PodScheduled", "Failed", "Running", "evenkeel.io/a", "a", "", "b"}
	switch v.Interface().(type) {
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.Unix(r.Int64N(1e9), 0)))
		return
	case resource.Quantity:
		v.Set(reflect.ValueOf(*resource.NewMilliQuantity(r.Int64N(1e4), resource.DecimalSI)))
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromInt32(r.Int32N(9))))
		return
	case metav1.TypeMeta:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(words[r.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(1e9))
	case reflect.Uint8:
		v.SetUint(r.Uint64N(256))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i))
			}
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(4) - 1; n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i))
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key)
			fill(r, value)
			v.SetMapIndex(key, value)
		}
	}
}

// TestDecodedPods checks that a podDecoder returns what stripAndIntern leaves of a pod, for pods of Deployments and for
// pods with random fields. Some of these share a template.
func TestDecodedPods(t *testing.T) {
	messages, _ := encodedCluster(t)
	messages = messages[:400]
	r := rand.New(rand.NewPCG(3, 3))
	last := corev1.Pod{}
	for range 2000 {
		p := corev1.Pod{}
		fill(r, reflect.ValueOf(&p).Elem())
		if r.IntN(3) == 0 {
			p.Spec, p.Labels, p.OwnerReferences, p.Status.ContainerStatuses = last.Spec, last.Labels, last.OwnerReferences, last.Status.ContainerStatuses
		}
		messages, last = append(messages, must.Get(p.Marshal())(t)), p
	}
	keep := newInternCache()
	d := newPodDecoder(keep)
	var got []*corev1.Pod
	for _, m := range messages {
		p := must.Get(d.decode(m))(t)
		must.Get(keep.stripAndIntern(p))(t)
		got = append(got, p)
	}
	for i, want := range decodeAndStrip[corev1.Pod](t, messages, newInternCache().stripAndIntern) {
		if !equality.Semantic.DeepEqual(want, got[i]) {
			t.Fatalf("pod %d: %s", i, cmp.Diff(want, got[i]))
		}
	}
}

// TestDecodedPodsShare checks that a pod shares with others of its controller as soon as it is decoded, before its list
// ends, in any order of the pods.
func TestDecodedPodsShare(t *testing.T) {
	messages, _ := encodedCluster(t)
	d, lists, owners := newPodDecoder(newInternCache()), map[any]bool{}, map[string]bool{}
	d.metas.size, d.specs.size, d.statuses.size = 1, 1, 1
	var pods []*corev1.Pod
	for _, m := range messages[:1000] {
		p := must.Get(d.decode(m))(t)
		pods = append(pods, p)
		owners[p.OwnerReferences[0].Name] = true
		lists[&p.Spec.Containers[0]], lists[&p.Status.ContainerStatuses[0]], lists[&p.OwnerReferences[0]] = true, true, true
	}
	if most := 3*len(owners) + 10; len(lists) > most {
		t.Errorf("%d pods have %d lists, want at most %d", len(pods), len(lists), most)
	}
}

// TestMalformedPods checks that no end of a message, and no changed byte, makes a podDecoder panic.
func TestMalformedPods(t *testing.T) {
	messages, _ := encodedCluster(t)
	r := rand.New(rand.NewPCG(4, 4))
	d := newPodDecoder(newInternCache())
	for _, m := range messages[:50] {
		for range 50 {
			wrong := bytes.Clone(m[:r.IntN(len(m))])
			for range r.IntN(3) {
				if len(wrong) > 0 {
					wrong[r.IntN(len(wrong))] = byte(r.UintN(256))
				}
			}
			_, _ = d.decode(wrong)
		}
		if _, err := d.decode(m[:len(m)-1]); err == nil {
			t.Fatal("an incomplete pod has no error")
		}
	}
}

// encodeObject encodes an object as an API server does.
func encodeObject(t *testing.T, mediaType string, x k8sruntime.Object) []byte {
	t.Helper()
	info, _ := k8sruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	return must.Get(k8sruntime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), x))(t)
}

func somePods(n int) *corev1.PodList {
	out := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}}
	for i := range n {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: string(rune('a' + i)), ResourceVersion: "5"}}
		p.Spec.NodeName, p.Status.PodIP = "n", "1.2.3.4"
		out.Items = append(out.Items, p)
	}
	return out
}

// TestReadList checks that a list of pods is read in pieces of any size, and that an incomplete list is an error.
func TestReadList(t *testing.T) {
	encoded := encodeObject(t, k8sruntime.ContentTypeProtobuf, somePods(3))
	for _, from := range []io.Reader{bytes.NewReader(encoded), iotest.OneByteReader(bytes.NewReader(encoded))} {
		list := must.Get(newPodDecoder(newInternCache()).readList(from))(t)
		m := must.Get(meta.ListAccessor(list))(t)
		pods := must.Get(meta.ExtractList(list))(t)
		if len(pods) != 3 || m.GetResourceVersion() != "7" || m.GetContinue() != "more" || pods[2].(*corev1.Pod).Name != "c" ||
			pods[2].(*corev1.Pod).Spec.NodeName != "n" {
			t.Errorf("read %d pods, version %s: %+v", len(pods), m.GetResourceVersion(), pods)
		}
	}
	for n := range len(encoded) - 8 { // the last fields may be missing
		if list, err := newPodDecoder(newInternCache()).readList(bytes.NewReader(encoded[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are a list: %+v", n, len(encoded), list)
		}
	}
	nodes := encodeObject(t, k8sruntime.ContentTypeProtobuf, &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}})
	if _, err := newPodDecoder(newInternCache()).readList(bytes.NewReader(nodes)); !errors.Is(err, errNotPods) {
		t.Errorf("a list of nodes: %v", err)
	}
	if _, err := newPodDecoder(newInternCache()).readList(iotest.ErrReader(errors.New("reset"))); err == nil || errors.Is(err, errNotProtobuf) {
		t.Errorf("error %v", err)
	}
}

func hasError(_ k8sruntime.Object, err error) bool { return err != nil }

// TestInterruptedList checks that pods are listed without pages, and with pages after an interrupted list. It also
// checks the events of a watch, the path of a server behind a proxy, a list in JSON, and the error of a refused list.
func TestInterruptedList(t *testing.T) {
	var limits []string
	var other []byte
	expired := false
	broken, status, mediaType := true, 200, k8sruntime.ContentTypeProtobuf
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/proxy/api/v1/pods" {
			t.Errorf("requested %s", q.URL)
		}
		if q.URL.Query().Get("watch") != "" {
			ctx, cancel := context.WithTimeout(q.Context(), 100*time.Millisecond)
			defer cancel()
			q = q.WithContext(ctx)
			q.URL.Path = "/api/v1/pods"
			streamInitialEvents(w, q, []k8sruntime.Object{&somePods(1).Items[0]})
			return
		}
		asked := q.URL.Query()
		limits = append(limits, asked.Get("limit"))
		if asked.Get("limit") != "" && asked.Get("resourceVersion") != "" {
			t.Errorf("requested %s: pages would have exactly this version", q.URL)
		}
		page := somePods(2)
		if page.Continue = ""; asked.Get("limit") == "500" && asked.Get("continue") == "" {
			page.Continue = "more"
		} else if asked.Get("continue") != "" && expired {
			mediaType, status = k8sruntime.ContentTypeJSON, 410
			other = encodeObject(t, mediaType, &apierrors.NewResourceExpired("too old").ErrStatus)
		}
		encoded := encodeObject(t, mediaType, page)
		if other != nil {
			encoded = other
		}
		if broken {
			encoded = encoded[:len(encoded)/2]
		}
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		_, _ = w.Write(encoded)
	}))
	t.Cleanup(server.Close)
	client := must.Get(kubernetes.NewForConfig(&rest.Config{Host: server.URL + "/proxy", QPS: -1}))(t)
	pods := podsOf(withPodDecoder(client, newPodDecoder(newInternCache())))
	list := func() (k8sruntime.Object, error) { return pods.List(t.Context(), metav1.ListOptions{Limit: 500}) }
	if _, err := list(); err == nil {
		t.Error("half a list is complete")
	}
	broken = false
	if got := must.Get(meta.ExtractList(must.Get(list())(t)))(t); len(got) != 4 {
		t.Errorf("%d pods", len(got))
	}
	if expired = true; !hasError(list()) {
		t.Error("a list whose second page has expired is complete")
	}
	if pods.(podLister).client.(podClient).pods.interrupted.Swap(true) {
		t.Error("pages are tried again, although the last ones took too long")
	}
	expired, other, status, mediaType, limits = false, nil, 200, k8sruntime.ContentTypeProtobuf, limits[:3]
	if want := []string{"", "500", "500"}; !reflect.DeepEqual(limits, want) {
		t.Errorf("the limits were %q, want %q", limits, want)
	}
	mediaType, limits = k8sruntime.ContentTypeJSON, nil
	if got := must.Get(meta.ExtractList(must.Get(list())(t)))(t); len(got) != 2 || !reflect.DeepEqual(limits, []string{"500", "500"}) { // the caller lists further pages
		t.Errorf("%d pods in JSON with limits %q", len(got), limits)
	}
	failed := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure}
	for _, answer := range []string{string(encodeObject(t, mediaType, failed)), "{}", `{"apiVersion":"v1","kind":"PodList"}`} {
		if other = []byte(answer); !hasError(list()) {
			t.Errorf("%s is a list of pods", answer)
		}
	}
	other = nil
	for code, want := range map[int]string{403: "", 429: "", 413: "500", 504: "500"} {
		pods.(podLister).client.(podClient).pods.interrupted.Store(false)
		if status = code; !hasError(list()) {
			t.Errorf("a list with code %d has no error", code)
		}
		limits = nil
		_, _ = pods.List(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
		if len(limits) == 0 || limits[0] != want {
			t.Errorf("after code %d, the limits were %q, want %q", code, limits, want)
		}
	}
	w := must.Get(pods.Watch(t.Context(), metav1.ListOptions{Watch: true}))(t)
	defer w.Stop()
	added, end := <-w.ResultChan(), <-w.ResultChan()
	if p, ok := added.Object.(*corev1.Pod); !ok || p.Name != "a" || p.Status.PodIP != "" || p.Spec.NodeName != "n" {
		t.Errorf("the first event has %+v", added.Object)
	}
	if !endsInitialEvents(end.Object) {
		t.Errorf("the bookmark is %+v", end.Object)
	}
}
