package observe

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/watchlist"
)

// podPageSize is the number of pods that one request lists after a list without pages has failed.
const podPageSize = 500

// podClient is a client that decodes pods with a podDecoder.
type podClient struct {
	kubernetes.Interface
	rest *rest.RESTClient
	pods *podDecoder
}

// withPodDecoder returns a client with the same connections that decodes pods with the podDecoder. If the client has
// no connections, withPodDecoder returns the client itself.
func withPodDecoder(c kubernetes.Interface, d *podDecoder) kubernetes.Interface {
	usual, ok := c.CoreV1().RESTClient().(*rest.RESTClient)
	if !ok || usual == nil {
		return c
	}
	gv := corev1.SchemeGroupVersion
	fast, err := rest.NewRESTClient(usual.Get().URL(), "", rest.ClientContentConfig{GroupVersion: gv,
		ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
		Negotiator: runtime.NewClientNegotiator(podCodecs{scheme.Codecs.WithoutConversion(), d}, gv)}, usual.GetRateLimiter(), usual.Client)
	if err != nil {
		return c
	}
	return podClient{c, fast, d}
}

// podLister lists and watches pods.
type podLister struct {
	client
	typed corev1client.PodInterface
}

func podsOf(c client) typedClient[runtime.Object] {
	if p, ok := c.(podClient); ok {
		return podLister{c, corev1client.New(p.rest).Pods("")}
	}
	return podLister{c, c.CoreV1().Pods("")}
}

// IsWatchListSemanticsUnSupported tells informers whether they must list pods, because a watch cannot send them.
func (l podLister) IsWatchListSemanticsUnSupported() bool {
	_, lists := l.client.(podClient)
	return lists || watchlist.DoesClientNotSupportWatchListSemantics(l.client)
}

func (l podLister) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return l.typed.Watch(ctx, opts)
}

// List lists all pods. With a podClient, it decodes each pod when it arrives, so that the API server encodes pods at
// the same time, and a list takes little memory. Without pages, this takes the API server, and this program, less CPU
// time than a watch with initial events or than pages. An API server ends a request after a minute, and a proxy may
// limit answers. So if a list fails for such a reason, the next lists consist of pages, of the latest version.
func (l podLister) List(ctx context.Context, asked metav1.ListOptions) (runtime.Object, error) {
	c, ok := l.client.(podClient)
	if !ok {
		return l.typed.List(ctx, asked)
	}
	opts, all := asked, &internalversion.List{}
	if opts.Limit = 0; c.pods.interrupted.Load() {
		opts.Limit, opts.ResourceVersion, opts.ResourceVersionMatch = podPageSize, "", ""
	}
	for {
		page, err := c.listPage(ctx, opts)
		if errors.Is(err, errNotProtobuf) {
			return completed(l.typed.List(ctx, asked)) // it reads other encodings, and says what is wrong
		}
		if err != nil {
			return nil, err
		}
		all.ListMeta, all.Items = page.ListMeta, append(all.Items, page.Items...)
		if opts.Continue = page.Continue; opts.Continue == "" {
			return completed(all, nil)
		}
	}
}

// completed returns an error for a list without a version, because no API server sends one.
func completed(list runtime.Object, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	if m, err := meta.ListAccessor(list); err != nil || m.GetResourceVersion() == "" {
		return nil, errNotPods
	}
	return list, nil
}

func (c podClient) listPage(ctx context.Context, opts metav1.ListOptions) (*internalversion.List, error) {
	body, err := c.rest.Get().Resource("pods").VersionedParams(&opts, scheme.ParameterCodec).Stream(ctx)
	if err != nil {
		if status, answered := errors.AsType[*apierrors.StatusError](err); !answered || status.ErrStatus.Code >= 500 || status.ErrStatus.Code == http.StatusRequestEntityTooLarge {
			c.pods.interrupted.Store(true)
		} else if apierrors.IsResourceExpired(err) {
			c.pods.interrupted.Store(false) // pages took too long
		}
		return nil, err
	}
	defer body.Close()
	page, err := c.pods.readList(body)
	if err == nil || errors.Is(err, errNotProtobuf) || errors.Is(err, errNotPods) {
		return page, err
	}
	c.pods.interrupted.Store(true)
	return nil, fmt.Errorf("reading a list of pods: %w", err)
}

var (
	errNotProtobuf = errors.New("the list is not encoded with protobuf")
	errNotPods     = errors.New("the answer is not a list of this kind" + proxyHint)
)

// readList reads a list of pods that is encoded with protobuf.
func (d *podDecoder) readList(from io.Reader) (*internalversion.List, error) {
	in := &wireReader{Reader: bufio.NewReaderSize(from, 1<<16)}
	if start, err := in.Peek(len(protobufPrefix)); errors.Is(err, io.EOF) || err == nil && string(start) != string(protobufPrefix) {
		return nil, errNotProtobuf
	} else if err != nil {
		return nil, err
	}
	_, _ = in.Discard(len(protobufPrefix)) // Peek has read it
	var out *internalversion.List
	for {
		number, length, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && out != nil:
			return out, nil
		case err != nil:
			return nil, noEOF(err)
		case number == 2:
			out = &internalversion.List{}
			err = d.readItems(&io.LimitedReader{R: in, N: length}, out)
		default:
			var value []byte
			if value, err = in.read(length); err == nil && number == 1 && string(fieldOf(value, 2)) != "PodList" {
				return nil, errNotPods
			}
		}
		if err != nil {
			return nil, noEOF(err)
		}
	}
}

// readItems reads the fields of a PodList up to the limit.
func (d *podDecoder) readItems(from *io.LimitedReader, to *internalversion.List) error {
	in := &wireReader{Reader: bufio.NewReaderSize(from, 1<<16)}
	for {
		number, length, err := in.next()
		if errors.Is(err, io.EOF) && from.N == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		value, err := in.read(length)
		if err != nil {
			return err
		}
		switch number {
		case 1:
			err = to.ListMeta.Unmarshal(value)
		case 2:
			var p *corev1.Pod
			p, err = d.decode(value)
			to.Items = append(to.Items, p)
		}
		if err != nil {
			return err
		}
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// wireReader reads a protobuf message whose fields all have a length.
type wireReader struct {
	*bufio.Reader
	buffer []byte
}

// next returns the number and the length of the next field. At the end of the message, it returns io.EOF.
func (r *wireReader) next() (number uint64, length int64, err error) {
	tag, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, 0, err
	}
	if tag&7 != 2 {
		return 0, 0, errWire
	}
	n, err := binary.ReadUvarint(r)
	if err == nil && n > 1<<40 {
		err = errWire
	}
	return tag >> 3, int64(n), noEOF(err)
}

// read returns the next bytes. They are valid until the next call.
func (r *wireReader) read(length int64) ([]byte, error) {
	if length > maxPodBytes {
		return nil, errWire
	}
	if int(length) > cap(r.buffer) {
		r.buffer = make([]byte, length, 2*length)
	}
	_, err := io.ReadFull(r, r.buffer[:length])
	return r.buffer[:length], noEOF(err)
}

// maxPodBytes limits the size of a pod. An API server accepts requests up to 3 MB.
const maxPodBytes = 64 << 20
