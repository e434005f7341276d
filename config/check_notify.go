package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// maxReceivers limits notify. Each receiver has a queue, and its name is a label of a metric.
const maxReceivers = 10

func checkNotify(c *Config, d *strict.Decoder) {
	if n := len(c.Notify); n > maxReceivers {
		d.Errorf("notify", "%d receivers are too many (want at most %d)", n, maxReceivers)
	}
	names := map[string]int{}
	for i, r := range c.Notify {
		path := fmt.Sprintf("notify[%d]", i)
		if len(validation.IsDNS1123Label(r.Name)) > 0 {
			d.Errorf(path+".name", "%q is not a valid name of a receiver (want lower case letters, digits and dashes)", r.Name)
		} else if first, twice := names[r.Name]; twice {
			d.Errorf(path+".name", "notify[%d] already has the name %s", first, r.Name)
		} else {
			names[r.Name] = i
		}
		d.CheckOneOf(path+".format", "format", r.Format, toStrings(message.Formats()))
		checkReceiverAddress(d, path, r)
		for j, e := range r.Events {
			at := fmt.Sprintf("%s.events[%d]", path, j)
			if d.CheckOneOf(at, "event", e, toStrings(message.Events())) && slices.Index(r.Events, e) < j {
				d.Errorf(at, "%s is listed twice", e)
			}
		}
	}
	recordNotifyFiles(c, d)
}

// checkReceiverAddress checks where the URL of a receiver comes from. The URLs of Slack and Teams are secrets, because
// whoever knows one may post. Errors never contain the URL.
func checkReceiverAddress(d *strict.Decoder, path string, r NotifyReceiver) {
	secret := r.Format == string(message.Slack) || r.Format == string(message.Teams)
	switch {
	case r.URL != "" && r.URLFile != "":
		d.Errorf(path, "has both url and urlFile (want one of them)")
	case r.URL != "" && secret:
		d.Errorf(path+".url", "the URL of a %s webhook is a secret, which every reader of the configuration would see "+
			"(put it into a file, and set urlFile)", r.Format)
	case r.URL == "" && r.URLFile == "":
		d.Errorf(path, "has no address (want url, or urlFile if the URL is a secret)")
	case r.URL != "":
		checkAddress(d, path+".url", r.URL, true, "https://alerts.example.com/evenkeel")
	}
	switch {
	case r.TokenFile != "" && secret:
		d.Errorf(path+".tokenFile", "a %s webhook takes no token: its URL is the secret", r.Format)
	case strings.Contains(filepath.Clean(r.TokenFile), "/secrets/kubernetes.io/serviceaccount/"):
		d.Errorf(path+".tokenFile", "is the token of Evenkeel's service account: with it, the receiver could evict pods "+
			"(want a token of the receiver)")
	}
}

// recordNotifyFiles adds the files of the receivers to c.secretFiles.
func recordNotifyFiles(c *Config, d *strict.Decoder) {
	for i, r := range c.Notify {
		for _, x := range []struct{ field, file string }{
			{"urlFile", r.URLFile}, {"tokenFile", r.TokenFile}, {"caFile", r.CAFile},
		} {
			if x.file != "" {
				field := fmt.Sprintf("notify[%d].%s", i, x.field)
				position := fmt.Sprintf("%s:%d: %s", d.File(), d.Line(field), field)
				c.secretFiles = append(c.secretFiles, secretFile{"the receiver", position, x.file})
			}
		}
	}
}

// notifyWarnings report tokens that Evenkeel sends to a receiver over an unencrypted connection.
func notifyWarnings(c *Config) []string {
	var out []string
	for i, r := range c.Notify {
		if u, err := url.Parse(r.URL); err == nil && r.TokenFile != "" && u.Scheme == "http" && !isLoopback(u.Hostname()) {
			out = append(out, fmt.Sprintf("notify[%d].tokenFile: Evenkeel sends the token to an http:// address, unencrypted; "+
				"use https:// (with caFile for a private certificate authority)", i))
		}
	}
	return out
}

// NotifyReceivers returns the receivers of notifications.
func (c *Config) NotifyReceivers() []notify.Receiver {
	var out []notify.Receiver
	for _, r := range c.Notify {
		to := notify.Receiver{Name: r.Name, Format: message.Format(r.Format), URL: r.URL, URLFile: r.URLFile,
			TokenFile: r.TokenFile, CAFile: r.CAFile, Timeout: notify.RequestTimeout}
		for _, e := range r.Events {
			to.Events = append(to.Events, message.Event(e))
		}
		out = append(out, to)
	}
	return out
}
