package message

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Format is the shape of the body that a receiver expects.
type Format string

const (
	JSON  Format = "json"
	Slack Format = "slack" // incoming webhooks
	Teams Format = "teams" // webhooks of Workflows, which accept Adaptive Cards
)

// Formats returns every format.
func Formats() []Format { return []Format{JSON, Slack, Teams} }

// Body returns the body of the request in a format. The content type of each format is application/json.
func (m Message) Body(f Format) []byte {
	switch f {
	case Slack:
		return encode(m.slack())
	case Teams:
		return encode(m.teams())
	}
	return encode(jsonBody{APIVersion: plan.APIVersion, Kind: "Notification", Event: m.Event, At: m.At, RunID: m.RunID,
		Mode: m.Mode, Cluster: m.ClusterUID, Title: m.Title, Text: m.Text, Plan: m.Plan})
}

func encode(body any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(body); err != nil {
		panic("message: " + err.Error()) // cannot happen: the bodies contain only data
	}
	return b.Bytes()
}

type jsonBody struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Event      Event        `json:"event"`
	At         time.Time    `json:"at"`
	RunID      string       `json:"runID"`
	Mode       plan.Mode    `json:"mode"`
	Cluster    string       `json:"cluster"`
	Title      string       `json:"title"`
	Text       string       `json:"text"`
	Plan       *WaitingPlan `json:"plan,omitempty"`
}

// origin says which cluster and which pass the message is about.
func (m Message) origin() string {
	cluster := m.ClusterUID
	if cluster == "" {
		cluster = "unknown"
	}
	return "event " + string(m.Event) + ", mode " + string(m.Mode) + ", run " + m.RunID + ", cluster " + cluster
}

type slackBody struct {
	Text string `json:"text"`
}

// slackEscapes are the three characters with which Slack marks mentions and links.
var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (m Message) slack() slackBody {
	return slackBody{slackEscapes.Replace("Evenkeel: " + m.Title + "\n" + m.Text + "\n" + m.origin())}
}

type teamsBody struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	ContentURL  *string   `json:"contentUrl"` // null
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string       `json:"$schema"`
	Type    string       `json:"type"`
	Version string       `json:"version"`
	Body    []teamsBlock `json:"body"`
}

type teamsBlock struct {
	Type    string     `json:"type"`
	Inlines []teamsRun `json:"inlines"`
}

// teamsRun is a TextRun. Unlike a TextBlock, it interprets no Markdown, so a text can contain no link.
type teamsRun struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Weight   string `json:"weight,omitempty"`
	IsSubtle bool   `json:"isSubtle,omitempty"`
}

func (m Message) teams() teamsBody {
	paragraph := func(r teamsRun) teamsBlock {
		r.Type = "TextRun"
		return teamsBlock{"RichTextBlock", []teamsRun{r}}
	}
	card := teamsCard{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.2",
		Body: []teamsBlock{
			paragraph(teamsRun{Text: "Evenkeel: " + m.Title, Weight: "Bolder"}),
			paragraph(teamsRun{Text: m.Text}),
			paragraph(teamsRun{Text: m.origin(), IsSubtle: true}),
		}}
	return teamsBody{"message", []teamsAttachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: card}}}
}
