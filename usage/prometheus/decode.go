package prometheus

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// sample is one value in a query response.
type sample struct {
	// labels holds the values of the requested labels. A missing label is empty.
	labels [3]string
	at     time.Time
	v      float64
	// histogram means that the sample is a histogram and has no number.
	histogram bool
}

// answer is a decoded answer of the API. The client library's types are not used, because they allocate a map of
// labels per value. For 150,000 pods, these maps alone exceed the CPU budget of a sample.
type answer struct {
	status, errorType, message string
	warnings                   []string
	resultType                 string
	// samples keeps the order of the answer. The samples of a range are consecutive.
	samples []sample
}

// answerReader decodes one answer and keeps only the given labels.
type answerReader struct {
	jsonScanner
	labels []string
	answer answer
}

// decodeAnswer decodes the answer to an instant query (a vector) or to a range query (a matrix).
func decodeAnswer(body []byte, labels []string) (answer, error) {
	r := answerReader{jsonScanner: jsonScanner{text: string(body)}, labels: labels}
	// A pod takes about 100 bytes of an answer. A preallocated slice need not be copied as it grows.
	r.answer.samples = make([]sample, 0, len(body)/100)
	if c := r.peek(); c != '{' {
		return answer{}, errors.New(describeNonObject(c))
	}
	r.readObject(r.readField)
	if r.peek(); r.err == nil && r.pos < len(r.text) {
		r.fail("more than one value")
	}
	if r.err != nil {
		return answer{}, fmt.Errorf("the answer is not what the Prometheus API sends: %w", r.err)
	}
	return r.answer, nil
}

// describeNonObject describes an answer that starts with c instead of an object.
func describeNonObject(c byte) string {
	switch c {
	case 0:
		return "the answer is empty"
	case '<':
		return "the answer is a web page; is this the address of a Prometheus?"
	}
	return "the answer is not a JSON object"
}

func (r *answerReader) readField(key string) {
	switch key {
	case "status":
		r.answer.status = r.readString()
	case "errorType":
		r.answer.errorType = r.readString()
	case "error":
		r.answer.message = r.readString()
	case "warnings":
		r.readArray(func() { r.answer.warnings = append(r.answer.warnings, r.readString()) })
	case "data":
		if r.peek() != '{' {
			r.skipValue(0)
			return
		}
		r.readObject(r.readData)
	default: // such as infos, which do not affect the result
		r.skipValue(0)
	}
}

func (r *answerReader) readData(key string) {
	switch key {
	case "resultType":
		r.answer.resultType = r.readString()
	case "result":
		// A scalar or a string is an array of two elements. The caller checks the type.
		if t := r.answer.resultType; t == "scalar" || t == "string" {
			r.skipValue(0)
			return
		}
		r.readArray(r.readSeries)
	default:
		r.skipValue(0)
	}
}

func (r *answerReader) readSeries() {
	first := len(r.answer.samples)
	var labels [3]string
	r.readObject(func(key string) {
		switch key {
		case "metric":
			r.readObject(func(name string) { r.readLabel(&labels, name) })
		case "value":
			r.readPoint()
		case "values":
			r.readArray(r.readPoint)
		case "histogram", "histograms":
			r.skipValue(0)
			r.answer.samples = append(r.answer.samples, sample{histogram: true})
		default:
			r.skipValue(0)
		}
	})
	for i := range r.answer.samples[first:] {
		r.answer.samples[first+i].labels = labels
	}
}

func (r *answerReader) readLabel(labels *[3]string, name string) {
	for i, l := range r.labels {
		if name == l {
			labels[i] = r.readString()
			return
		}
	}
	r.skipValue(0)
}

// maxUnixSeconds is a time in the year 2200. Times up to then fit 63 bits in nanoseconds.
const maxUnixSeconds = 7.26e9

// readPoint reads [seconds, "number"].
func (r *answerReader) readPoint() {
	var p sample
	n := 0
	r.readArray(func() {
		switch n++; n {
		case 1:
			seconds := r.readNumber()
			if !(seconds >= 0 && seconds <= maxUnixSeconds) {
				r.fail("%g is not a time", seconds)
				return
			}
			p.at = time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
		case 2:
			text := r.readString()
			v, err := strconv.ParseFloat(text, 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				r.fail("%q is not a number", strings.ToValidUTF8(text[:min(len(text), 40)], "?"))
				return
			}
			p.v = v
		default:
			r.fail("more than two elements (want a time and a number)")
			r.skipValue(0)
		}
	})
	if n < 2 {
		r.fail("fewer than two elements (want a time and a number)")
	}
	r.answer.samples = append(r.answer.samples, p)
}
