package observe

import (
	"errors"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// insisting bounds insist: four tries within a second and a half.
var insisting = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Steps: 4}

// insist asks again where a moment's trouble of the server was the answer, or
// the connection broke: one such answer must not cost a CronJob its pass.
// Informers do so by themselves.
func insist(ask func() error) error { return retry.OnError(insisting, momentary, ask) }

func momentary(err error) bool {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		code := status.Status().Code
		return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
	}
	return net.IsProbableEOF(err) || net.IsHTTP2ConnectionLost(err) || errors.Is(err, io.ErrUnexpectedEOF)
}
