package prometheus

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// sample is one number that an answer gives.
type sample struct {
	// labels are the values of those that were asked for; empty where there is none.
	labels [3]string
	at     time.Time
	v      float64
	// histogram says that there is no number.
	histogram bool
}

// answer is what the API sends. It is read without the client library's types,
// which take a map of labels for every value: about 150,000 pods that alone costs
// more CPU than a whole sample may.
type answer struct {
	status, errorType, message string
	warnings                   []string
	resultType                 string
	// samples are in the order of the answer; those of a range follow one another.
	samples []sample
}

// reader reads one answer. labels are those to keep.
type reader struct {
	scanner
	labels []string
	answer answer
}

// decode reads the body of an answer to a query, which gives a vector, or over a
// range, which gives a matrix.
func decode(body []byte, labels []string) (answer, error) {
	r := reader{scanner: scanner{text: string(body)}, labels: labels}
	// A pod is about 100 bytes: growing step by step would copy most of them.
	r.answer.samples = make([]sample, 0, len(body)/100)
	if c := r.peek(); c != '{' {
		return answer{}, errors.New(noObject(c))
	}
	r.object(r.field)
	if r.peek(); r.err == nil && r.pos < len(r.text) {
		r.fail("more than one value")
	}
	if r.err != nil {
		return answer{}, fmt.Errorf("the answer is not what the Prometheus API sends: %w", r.err)
	}
	return r.answer, nil
}

// noObject says what an answer is that begins with c.
func noObject(c byte) string {
	switch c {
	case 0:
		return "the answer is empty"
	case '<':
		return "the answer is a web page; is this the address of a Prometheus?"
	}
	return "the answer is no JSON object"
}

func (r *reader) field(key string) {
	switch key {
	case "status":
		r.answer.status = r.str()
	case "errorType":
		r.answer.errorType = r.str()
	case "error":
		r.answer.message = r.str()
	case "warnings":
		r.array(func() { r.answer.warnings = append(r.answer.warnings, r.str()) })
	case "data":
		if r.peek() != '{' {
			r.skip(0)
			return
		}
		r.object(r.data)
	default: // infos among them, which take nothing from a result
		r.skip(0)
	}
}

func (r *reader) data(key string) {
	switch key {
	case "resultType":
		r.answer.resultType = r.str()
	case "result":
		// A scalar or a string is an array of two; its type tells whoever asked.
		if t := r.answer.resultType; t == "scalar" || t == "string" {
			r.skip(0)
			return
		}
		r.array(r.series)
	default:
		r.skip(0)
	}
}

func (r *reader) series() {
	first := len(r.answer.samples)
	var labels [3]string
	r.object(func(key string) {
		switch key {
		case "metric":
			r.object(func(name string) { r.label(&labels, name) })
		case "value":
			r.point()
		case "values":
			r.array(r.point)
		case "histogram", "histograms":
			r.skip(0)
			r.answer.samples = append(r.answer.samples, sample{histogram: true})
		default:
			r.skip(0)
		}
	})
	for i := range r.answer.samples[first:] {
		r.answer.samples[first+i].labels = labels
	}
}

func (r *reader) label(labels *[3]string, name string) {
	for i, l := range r.labels {
		if name == l {
			labels[i] = r.str()
			return
		}
	}
	r.skip(0)
}

// farthest is a time, in Unix seconds, that still fits milliseconds and nanoseconds:
// the year 2200.
const farthest = 7.26e9

// point is [seconds, "number"].
func (r *reader) point() {
	var p sample
	n := 0
	r.array(func() {
		switch n++; n {
		case 1:
			seconds := r.number()
			if !(seconds >= 0 && seconds <= farthest) {
				r.fail("%g is no time", seconds)
				return
			}
			p.at = time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
		case 2:
			text := r.str()
			v, err := strconv.ParseFloat(text, 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				r.fail("%q is no number", strings.ToValidUTF8(text[:min(len(text), 40)], "?"))
				return
			}
			p.v = v
		default:
			r.fail("more than a time and a number")
			r.skip(0)
		}
	})
	if n < 2 {
		r.fail("less than a time and a number")
	}
	r.answer.samples = append(r.answer.samples, p)
}
